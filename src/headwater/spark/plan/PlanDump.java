package headwater.plan;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.types.*;
import scala.Option;
import scala.Product;
import scala.Tuple2;

/**
 * A Catalyst plan as compact JSON: what lineage needs of it, and nothing of the data.
 *
 * Plans are numbered in the order in which they are met, and one that is met again is only referred to. Columns that a
 * Project merely passes on are left out, casts that the analyzer put in are left out, and so is every literal but the
 * names of fields. The text stops growing at `most` characters: expressions are then null and `truncated` is set.
 * The format is described in dump.py.
 */
public class PlanDump {
    private final StringBuilder out = new StringBuilder();
    private final IdentityHashMap numbers = new IdentityHashMap();
    private final List plans = new ArrayList();
    private final TreeSet wanted = new TreeSet();
    private final List texts = new ArrayList();
    private int most;
    private long end;
    private boolean truncated;
    private boolean addresses;

    /** Another one, for another plan: over Py4J much cheaper than a constructor. */
    public PlanDump fresh() { return new PlanDump(); }

    public String dump(Object plan, int mostCharacters, long milliseconds) {
        most = mostCharacters;
        end = System.currentTimeMillis() + milliseconds;
        number((LogicalPlan) plan, true);
        out.append("{\"nodes\":[");
        for (int at = 0; at < plans.size(); at++) {
            if (at > 0) out.append(',');
            node((LogicalPlan) plans.get(at));
        }
        out.append("],\"outputs\":{");
        java.util.Iterator each = wanted.iterator();
        String comma = "";
        while (each.hasNext()) {
            Integer at = (Integer) each.next();
            out.append(comma).append('"').append(at).append("\":");
            output((LogicalPlan) plans.get(at.intValue()));
            comma = ",";
        }
        out.append("},\"texts\":[");
        for (int at = 0; at < texts.size(); at++) {
            if (at > 0) out.append(',');
            text((String) texts.get(at));
        }
        return out.append("],\"truncated\":").append(truncated).append('}').toString();
    }

    /** The live plan behind a number. */
    public Object plan(int number) {
        return plans.get(number);
    }

    private int number(LogicalPlan plan, boolean withOutput) {
        Integer known = (Integer) numbers.get(plan);
        if (known == null) {
            known = Integer.valueOf(plans.size());
            numbers.put(plan, known);
            plans.add(plan);
        }
        if (withOutput) wanted.add(known);
        return known.intValue();
    }

    private boolean full() {
        if (!truncated && (out.length() > most || System.currentTimeMillis() > end)) truncated = true;
        return truncated;
    }

    // ------------------------------------------------------------------------------------------------- plans

    private static final java.util.Set QUIET = new java.util.HashSet(java.util.Arrays.asList(new String[] {
        "Project", "Filter", "Sort", "GlobalLimit", "LocalLimit", "Offset", "Tail", "SubqueryAlias", "View", "Join",
        "Aggregate", "Window", "Generate", "Repartition", "RepartitionByExpression", "RebalancePartitions", "Sample",
        "ResolvedHint", "EventTimeWatermark", "CollectMetrics", "Expand", "LateralJoin", "AsOfJoin"
    }));

    private static String name(Object object) {
        String name = object.getClass().getName();
        int dot = Math.max(name.lastIndexOf('.'), name.lastIndexOf('$', name.length() - 2));
        name = name.substring(dot + 1);
        return name.endsWith("$") ? name.substring(0, name.length() - 1) : name;
    }

    private void node(LogicalPlan plan) {
        String name = name(plan);
        boolean loud = !QUIET.contains(name);
        out.append("{\"class\":");
        text(name);
        out.append(",\"children\":[");
        scala.collection.Iterator children = plan.children().iterator();
        String comma = "";
        while (children.hasNext()) {
            out.append(comma).append(number((LogicalPlan) children.next(), loud));
            comma = ",";
        }
        out.append(']');
        if (loud || plan.children().isEmpty()) wanted.add(numbers.get(plan));
        origin(plan.origin(), ",\"origin\":");
        out.append(",\"fields\":{");
        if (!full()) fields(plan, name);
        out.append("}}");
    }

    private void fields(LogicalPlan plan, String name) {
        Product product = (Product) plan;
        boolean project = name.equals("Project");
        String comma = "";
        for (int at = 0; at < product.productArity(); at++) {
            Object value = product.productElement(at);
            if (value instanceof LogicalPlan && contains(plan.children(), value)) continue;
            int mark = out.length();
            out.append(comma);
            text(product.productElementName(at));
            out.append(':');
            int begin = out.length();
            if (project && value instanceof scala.collection.Seq) computed((scala.collection.Seq) value);
            else value(value);
            if (out.length() == begin) out.setLength(mark);
            else comma = ",";
            if (product.productElementName(at).equals("condition")) condition(value);
        }
    }

    /** Where a condition was written, as a field of its own. */
    private void condition(Object value) {
        if (value instanceof Option) value = ((Option) value).isDefined() ? ((Option) value).get() : null;
        if (value instanceof Expression) origin(source((Expression) value, 4), ",\"place\":");
    }

    private static boolean contains(scala.collection.Seq plans, Object plan) {
        scala.collection.Iterator each = plans.iterator();
        while (each.hasNext()) if (each.next() == plan) return true;
        return false;
    }

    /** The expressions of a Project but for the columns it passes on. */
    private void computed(scala.collection.Seq list) {
        out.append('[');
        String comma = "";
        scala.collection.Iterator each = list.iterator();
        while (each.hasNext()) {
            Object one = each.next();
            if (one instanceof AttributeReference) continue;
            out.append(comma);
            expression((Expression) one);
            comma = ",";
        }
        out.append(']');
    }

    private void output(LogicalPlan plan) {
        try {
            attributes(plan.output());
        } catch (Throwable unresolved) {
            out.append("[]");
        }
    }

    private void attributes(scala.collection.Seq attributes) {
        scala.collection.Iterator each = attributes.iterator();
        String comma = "";
        out.append('[');
        while (each.hasNext()) {
            NamedExpression one = (NamedExpression) each.next();
            out.append(comma).append('[').append(one.exprId().id()).append(',');
            text(one.name());
            out.append(',');
            text(((Expression) one).dataType().catalogString());
            out.append(']');
            comma = ",";
        }
        out.append(']');
    }

    // ------------------------------------------------------------------------------------------------ values

    /** A field of a node; writes nothing for what has no use. */
    private void value(Object value) {
        if (value instanceof Option) {
            Option option = (Option) value;
            value = option.isDefined() ? option.get() : null;
        }
        if (value == null) out.append("null");
        else if (value instanceof LogicalPlan) out.append("{\"plan\":").append(number((LogicalPlan) value, true)).append('}');
        else if (value instanceof Expression) expression((Expression) value);
        else if (value instanceof String) text((String) value);
        else if (value instanceof Boolean || value instanceof Number) out.append(value);
        else if (value instanceof TableIdentifier) identifier((TableIdentifier) value);
        else if (value instanceof CatalogTable) table((CatalogTable) value);
        else if (value instanceof HadoopFsRelation) files((HadoopFsRelation) value);
        else if (value instanceof StructType) schema((StructType) value);
        else if (value instanceof scala.collection.Seq) sequence((scala.collection.Seq) value);
        else if (value instanceof Tuple2) pair((Tuple2) value);
        else if (value instanceof scala.collection.Map) return;
        else if (value instanceof Enum) text(((Enum) value).name());
        else if (value instanceof org.apache.hadoop.fs.Path) text(value.toString());
        else if (value instanceof Identifier) identifier((Identifier) value);
        else if (value instanceof CatalogPlugin) text(((CatalogPlugin) value).name());
        else if (value instanceof ExprId) out.append(((ExprId) value).id());
        else if (isPart(value)) part(value);
        else kind(value);
    }

    private static boolean isPart(Object value) {
        String name = value.getClass().getName();
        return value instanceof Product && name.startsWith("org.apache.spark.sql.catalyst.plans")
            && ((Product) value).productArity() > 0;
    }

    private void part(Object value) {
        Product product = (Product) value;
        out.append("{\"kind\":");
        text(name(value));
        for (int at = 0; at < product.productArity(); at++) {
            int mark = out.length();
            out.append(',');
            text(product.productElementName(at));
            out.append(':');
            int begin = out.length();
            value(product.productElement(at));
            if (out.length() == begin) out.setLength(mark);
        }
        out.append('}');
    }

    private void kind(Object value) {
        out.append("{\"kind\":");
        text(name(value));
        out.append('}');
    }

    private void sequence(scala.collection.Seq list) {
        out.append('[');
        String comma = "";
        scala.collection.Iterator each = list.iterator();
        while (each.hasNext()) {
            int mark = out.length();
            out.append(comma);
            int begin = out.length();
            value(each.next());
            if (out.length() == begin) out.setLength(mark);
            else comma = ",";
        }
        out.append(']');
    }

    private void pair(Tuple2 pair) {
        out.append('[');
        valueOrNull(pair._1());
        out.append(',');
        valueOrNull(pair._2());
        out.append(']');
    }

    private void valueOrNull(Object value) {
        int begin = out.length();
        value(value);
        if (out.length() == begin) out.append("null");
    }

    private void identifier(TableIdentifier table) {
        out.append("{\"table\":[");
        if (table.catalog().isDefined()) {
            text((String) table.catalog().get());
            out.append(',');
        }
        if (table.database().isDefined()) {
            text((String) table.database().get());
            out.append(',');
        }
        text(table.table());
        out.append("]}");
    }

    private void identifier(Identifier table) {
        out.append("{\"table\":[");
        String[] namespace = table.namespace();
        for (int at = 0; at < namespace.length; at++) {
            text(namespace[at]);
            out.append(',');
        }
        text(table.name());
        out.append("]}");
    }

    // ------------------------------------------------------------------------------------------------ tables

    /** A table of either generation; in full, so what comes back is not to be shown: addresses may carry passwords. */
    public String describe(Object table) {
        addresses = true;
        if (table instanceof RowLevelOperationTable) return describe(((RowLevelOperationTable) table).table());
        if (table instanceof V1Table) return describe(((V1Table) table).v1Table());
        if (table instanceof CatalogTable) table((CatalogTable) table);
        else table((Table) table);
        return out.toString();
    }

    private void table(CatalogTable table) {
        identifier(table.identifier());
        out.setLength(out.length() - 1);
        optional("type", table.tableType().name());
        optional("provider", table.provider());
        optional("location", table.storage().locationUri());
        optional("input", table.storage().inputFormat());
        if (addresses) {
            optional("url", table.storage().properties().get("url"));
            optional("dbtable", table.storage().properties().get("dbtable"));
            optional("query", table.storage().properties().get("query"));
        }
        columns(table.schema());
        out.append('}');
    }

    private void table(Table table) {
        out.append("{\"class\":");
        text(name(table));
        optional("name", table.name());
        try {
            java.util.Iterator each = table.properties().entrySet().iterator();
            String comma = ",\"properties\":{";
            while (each.hasNext()) {
                java.util.Map.Entry one = (java.util.Map.Entry) each.next();
                out.append(comma);
                text((String) one.getKey());
                out.append(':');
                text(String.valueOf(one.getValue()));
                comma = ",";
            }
            if (comma.equals(",")) out.append('}');
        } catch (RuntimeException none) {
            // a table that cannot be asked has none
        }
        try {
            columns(table.schema());
        } catch (RuntimeException none) {
            // nor columns
        }
        out.append('}');
    }

    /** The files of a relation: where they are, their format, and who keeps the list of them. */
    private void files(HadoopFsRelation relation) {
        out.append("{\"kind\":\"HadoopFsRelation\",\"paths\":[");
        scala.collection.Iterator each = relation.location().rootPaths().iterator();
        String comma = "";
        while (each.hasNext() && !full()) {
            out.append(comma);
            text(each.next().toString());
            comma = ",";
        }
        out.append(']');
        optional("format", name(relation.fileFormat()));
        optional("index", name(relation.location()));
        out.append('}');
    }

    private void optional(String name, Object value) {
        if (value instanceof Option) value = ((Option) value).isDefined() ? ((Option) value).get() : null;
        if (value == null) return;
        out.append(",\"").append(name).append("\":");
        text(value.toString());
    }

    private void columns(StructType type) {
        int mark = out.length();
        schema(type);
        out.setCharAt(mark, ',');
        out.setLength(out.length() - 1);
    }

    private void schema(StructType type) {
        StructField[] fields = type.fields();
        out.append("{\"schema\":[");
        for (int at = 0; at < fields.length; at++) {
            out.append(at > 0 ? ",[" : "[");
            text(fields[at].name());
            out.append(',');
            text(fields[at].dataType().catalogString());
            out.append(']');
        }
        out.append("]}");
    }

    // ------------------------------------------------------------------------------------------- expressions

    private void expression(Expression one) {
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

    /** Whether the analyzer put this cast in, for types to fit; one that a person wrote carries a mark. */
    private static boolean isImplicit(Cast cast) {
        return !cast.getTagValue(Cast.USER_SPECIFIED_CAST()).isDefined()
            || cast.child().dataType().equals(cast.dataType());
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
        } else if (one instanceof CommonExpressionDef) {
            out.append(",{\"id\":").append(((CommonExpressionDef) one).id().id()).append('}');
        } else if (one instanceof CommonExpressionRef) {
            out.append(",{\"id\":").append(((CommonExpressionRef) one).id().id()).append('}');
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

    // ----------------------------------------------------------------------------------------------- origins

    /** Where an expression was written: its own origin, or that of the first part that has one. */
    private static Origin source(Expression one, int depth) {
        Origin origin = one.origin();
        if (origin.sqlText().isDefined() || origin.pysparkErrorContext().isDefined()) return origin;
        if (depth > 0) {
            scala.collection.Iterator each = one.children().iterator();
            while (each.hasNext()) {
                Origin found = source((Expression) each.next(), depth - 1);
                if (found != null) return found;
            }
        }
        return null;
    }

    private void origin(Origin origin, String before) {
        if (origin == null) return;
        if (origin.pysparkErrorContext().isDefined()) {
            Tuple2 context = (Tuple2) origin.pysparkErrorContext().get();
            out.append(before).append("{\"call\":");
            text((String) context._1());
            out.append(",\"at\":");
            text((String) context._2());
            out.append('}');
        } else if (origin.sqlText().isDefined() && origin.startIndex().isDefined() && origin.stopIndex().isDefined()) {
            String sql = (String) origin.sqlText().get();
            int at = texts.indexOf(sql);
            if (at < 0) {
                at = texts.size();
                texts.add(sql);
            }
            out.append(before).append("{\"text\":").append(at).append(",\"start\":").append(origin.startIndex().get());
            out.append(",\"end\":").append(((Integer) origin.stopIndex().get()).intValue() + 1).append('}');
        }
    }

    private void text(String text) {
        out.append('"');
        for (int at = 0; at < text.length(); at++) {
            char sign = text.charAt(at);
            if (sign == '"' || sign == '\\') out.append('\\').append(sign);
            else if (sign < ' ' || Character.isSurrogate(sign)) out.append(String.format("\\u%04x", new Object[] {Integer.valueOf(sign)}));
            else out.append(sign);
        }
        out.append('"');
    }
}
