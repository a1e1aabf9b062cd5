package headwater.plan;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.*;
import scala.Option;
import scala.Product;

/** Expressions: an array for a call, a number for a column, null for what is the same for all rows. */
abstract class Expressions extends Tables {
    /** The number of a plan in the dump; `withOutput` asks for its columns too. */
    abstract int number(LogicalPlan plan, boolean withOutput);

    /** A field of a node; writes nothing for what has no use. */
    abstract void value(Object value);

    void expression(Expression one) {
        if (full()) out.append("null");
        else if (one instanceof Literal) out.append("null");
        else if (one instanceof Alias) alias((Alias) one);
        else if (one instanceof Attribute || one instanceof NamedLambdaVariable) id((NamedExpression) one);
        else if (one instanceof OuterReference) expression((Expression) ((OuterReference) one).e());
        else if (one instanceof Cast && isImplicit((Cast) one)) expression(((Cast) one).child());
        else if (one instanceof InheritAnalysisRules && !(one instanceof NullIf)) expression(replaced(one));
        else if (one instanceof SubqueryExpression) subquery((SubqueryExpression) one);
        else if (one instanceof LambdaFunction) lambda((LambdaFunction) one);
        else call(one);
    }

    private void id(NamedExpression one) {
        try {
            out.append(one.exprId().id());
        } catch (Throwable unresolved) {
            out.append("null");
        }
    }

    private void alias(Alias alias) {
        out.append("[\"=\",").append(alias.exprId().id()).append(',');
        text(alias.name());
        out.append(',');
        expression(alias.child());
        origin(source(alias, 4), ",");
        out.append(']');
    }

    /** What a function is short for: `nvl2` is a choice. */
    private static Expression replaced(Expression one) {
        return ((RuntimeReplaceable) one).replacement();
    }

    private void subquery(SubqueryExpression one) {
        out.append("[\"?\",");
        text(name(one));
        out.append(',').append(number((LogicalPlan) one.plan(), true)).append(']');
    }

    private void lambda(LambdaFunction lambda) {
        out.append("[\"->\",");
        expression(lambda.function());
        scala.collection.Iterator each = lambda.arguments().iterator();
        while (each.hasNext()) {
            out.append(',');
            expression((Expression) each.next());
        }
        out.append(']');
    }

    private void call(Expression one) {
        String name = name(one);
        out.append('[');
        text(name);
        out.append(',');
        text(called(one));
        boolean names = NAMED.contains(name);
        Expression chain = one;
        List operands = new ArrayList();
        if (one instanceof BinaryOperator) {
            while (chain instanceof BinaryOperator && chain.getClass() == one.getClass()) {
                operands.add(0, ((BinaryOperator) chain).right());
                chain = (Expression) ((BinaryOperator) chain).left();
            }
            operands.add(0, chain);
        } else {
            scala.collection.Iterator each = one.children().iterator();
            while (each.hasNext()) operands.add(each.next());
        }
        for (int at = 0; at < operands.size(); at++) {
            out.append(',');
            Expression operand = (Expression) operands.get(at);
            if (names && operand instanceof Literal && operand.dataType() instanceof StringType) {
                out.append("{\"text\":");
                text(String.valueOf(((Literal) operand).value()));
                out.append('}');
            } else expression(operand);
        }
        more(one);
        out.append(']');
    }

    private static final java.util.Set NAMED = new java.util.HashSet(java.util.Arrays.asList(new String[] {
        "CreateNamedStruct", "GetMapValue", "ElementAt", "CreateMap", "JsonTuple", "GetJsonObject", "VariantGet"
    }));

    private static String called(Expression one) {
        if (one instanceof PythonFuncExpression) return ((PythonFuncExpression) one).name();
        if (one instanceof ScalaUDF) {
            Option given = ((ScalaUDF) one).udfName();
            return given.isDefined() ? (String) given.get() : "udf";
        }
        return one.prettyName();
    }

    /** What the children of an expression do not say. */
    private void more(Expression one) {
        if (one instanceof AggregateExpression) {
            AggregateExpression call = (AggregateExpression) one;
            out.append(",{\"distinct\":").append(call.isDistinct()).append(",\"filter\":");
            out.append(call.filter().isDefined()).append('}');
        } else if (one instanceof GetStructField) {
            GetStructField field = (GetStructField) one;
            field(((StructType) field.child().dataType()).fields()[field.ordinal()].name());
        } else if (one instanceof GetArrayStructFields) {
            field(((GetArrayStructFields) one).field().name());
        } else if (one instanceof UpdateFields) {
            updated((UpdateFields) one);
        } else if (one instanceof Inline) {
            out.append(",{\"fields\":");
            names((StructType) ((ArrayType) ((Inline) one).child().dataType()).elementType());
            out.append('}');
        } else if (one instanceof WindowSpecDefinition) {
            WindowSpecDefinition spec = (WindowSpecDefinition) one;
            out.append(",{\"keys\":").append(spec.partitionSpec().size() + spec.orderSpec().size()).append('}');
        } else if (one instanceof PythonFuncExpression || one instanceof ScalaUDF) {
            out.append(",{\"opaque\":true}");
        } else if (name(one).startsWith("CommonExpression")) {
            out.append(",{\"id\":").append(ask(ask(one, "id"), "id")).append('}');
        } else if (name(one).equals("DeltaMergeAction")) {
            out.append(",{\"path\":");
            value(((Product) one).productElement(0));
            out.append('}');
        } else if (one instanceof UserDefinedExpression) {
            out.append(",{\"opaque\":true}");
        }
    }

    private void field(String name) {
        out.append(",{\"field\":");
        text(name);
        out.append('}');
    }

    /** withField and dropFields: the fields of the result, and which of them are new. */
    private void updated(UpdateFields update) {
        out.append(",{\"new\":[");
        scala.collection.Iterator each = update.fieldOps().iterator();
        String comma = "";
        while (each.hasNext()) {
            Object operation = each.next();
            if (operation instanceof WithField) {
                out.append(comma);
                text(((WithField) operation).name());
                comma = ",";
            }
        }
        out.append("],\"fields\":");
        names((StructType) update.dataType());
        out.append('}');
    }

    private void names(StructType type) {
        StructField[] fields = type.fields();
        out.append('[');
        for (int at = 0; at < fields.length; at++) {
            if (at > 0) out.append(',');
            text(fields[at].name());
        }
        out.append(']');
    }
}
