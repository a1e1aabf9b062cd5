package headwater.plan;

import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.*;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Option;
import scala.runtime.AbstractPartialFunction;

/**
 * The query of a plan as SQL of Spark. Columns are called c and the number of their exprId, so that no two have one name.
 * What has no SQL is said in an IllegalArgumentException: user-defined functions, RDDs, local rows, chance.
 */
public class PlanSql {
    /** Another one: over Py4J much cheaper than a constructor. */
    public PlanSql fresh() { return new PlanSql(); }

    /** The query whose rows a command writes, with the columns in the order of the table; null for no such command. */
    public String written(Object command) {
        LogicalPlan plan = (LogicalPlan) command;
        String name = Writer.name(plan);
        if (!name.equals("AppendData") && !name.equals("OverwriteByExpression") && !name.equals("OverwritePartitionsDynamic")
            && !name.equals("CreateTableAsSelect") && !name.equals("ReplaceTableAsSelect")) return null;
        LogicalPlan query = (LogicalPlan) ((V2WriteOrCreate) new V2WriteOrCreate(plan)).query();
        StringBuilder out = new StringBuilder("SELECT ");
        scala.collection.Iterator each = query.output().iterator();
        String comma = "";
        while (each.hasNext()) {
            Attribute column = (Attribute) each.next();
            out.append(comma).append(named(column)).append(" AS ").append(quoted(column.name()));
            comma = ", ";
        }
        return out.append(" FROM (").append(query(query)).append(") q").toString();
    }

    private static final class V2WriteOrCreate {
        private final LogicalPlan plan;
        V2WriteOrCreate(LogicalPlan plan) { this.plan = plan; }
        Object query() {
            scala.Product product = (scala.Product) plan;
            for (int at = 0; at < product.productArity(); at++)
                if (product.productElementName(at).equals("query")) return product.productElement(at);
            throw new IllegalArgumentException("the command has no query");
        }
    }

    private String query(LogicalPlan plan) {
        String name = Writer.name(plan);
        if (plan instanceof Project) return select(((Project) plan).projectList()) + from(((Project) plan).child());
        if (plan instanceof Filter) return "SELECT *" + from(((Filter) plan).child()) + " WHERE " + text(((Filter) plan).condition());
        if (plan instanceof Aggregate) return aggregate((Aggregate) plan);
        if (plan instanceof Join) return join((Join) plan);
        if (plan instanceof Window) return "SELECT *, " + list(((Window) plan).windowExpressions()) + from(((Window) plan).child());
        if (plan instanceof Union) return union((Union) plan);
        if (plan instanceof Distinct) return "SELECT DISTINCT *" + from(((Distinct) plan).child());
        if (plan instanceof Deduplicate && ((Deduplicate) plan).keys().size() == ((Deduplicate) plan).child().output().size())
            return "SELECT DISTINCT *" + from(((Deduplicate) plan).child());
        if (plan instanceof GlobalLimit) return limit((GlobalLimit) plan);
        if (name.equals("SubqueryAlias") || name.equals("View") || name.equals("Sort") || name.equals("ResolvedHint")
            || name.equals("Repartition") || name.equals("RepartitionByExpression") || name.equals("RebalancePartitions")
            || name.equals("CollectMetrics") || name.equals("EventTimeWatermark")) return query((LogicalPlan) plan.children().head());
        if (plan instanceof DataSourceV2Relation) return table((DataSourceV2Relation) plan);
        if (plan instanceof LogicalRelation) return files((LogicalRelation) plan);
        throw new IllegalArgumentException(reason(name));
    }

    private static String reason(String name) {
        if (name.equals("LogicalRDD") || name.equals("ExternalRDD")) return "it reads an RDD";
        if (name.equals("LocalRelation")) return "it reads rows of the program";
        return "its plan has " + name + ", which is not written back as SQL";
    }

    private String from(LogicalPlan plan) { return " FROM (" + query(plan) + ")"; }

    private String select(scala.collection.Seq items) { return "SELECT " + list(items); }

    private String list(scala.collection.Seq items) {
        StringBuilder out = new StringBuilder();
        scala.collection.Iterator each = items.iterator();
        String comma = "";
        while (each.hasNext()) {
            NamedExpression one = (NamedExpression) each.next();
            out.append(comma);
            if (one instanceof Alias) out.append(text(((Alias) one).child())).append(" AS ").append(named(one));
            else out.append(named(one));
            comma = ", ";
        }
        return out.toString();
    }

    private String aggregate(Aggregate plan) {
        StringBuilder out = new StringBuilder(select(plan.aggregateExpressions())).append(from(plan.child()));
        scala.collection.Iterator each = plan.groupingExpressions().iterator();
        String comma = " GROUP BY ";
        while (each.hasNext()) {
            out.append(comma).append(text((Expression) each.next()));
            comma = ", ";
        }
        return out.toString();
    }

    private String join(Join plan) {
        String kind = plan.joinType().sql();
        String on = plan.condition().isDefined() ? " ON " + text((Expression) plan.condition().get()) : "";
        if (on.length() == 0 && kind.equals("INNER")) kind = "CROSS";
        return "SELECT * FROM (" + query(plan.left()) + ") l " + kind + " JOIN (" + query(plan.right()) + ") r" + on;
    }

    private String union(Union plan) {
        StringBuilder out = new StringBuilder();
        scala.collection.Iterator each = plan.children().iterator();
        while (each.hasNext()) {
            LogicalPlan one = (LogicalPlan) each.next();
            if (out.length() > 0) out.append(" UNION ALL ");
            out.append("SELECT ");
            scala.collection.Iterator columns = one.output().iterator(), names = plan.output().iterator();
            String comma = "";
            while (columns.hasNext()) {
                out.append(comma).append(named((Attribute) columns.next())).append(" AS ").append(named((Attribute) names.next()));
                comma = ", ";
            }
            out.append(from(one));
        }
        return out.toString();
    }

    private String limit(GlobalLimit plan) {
        LogicalPlan below = plan.child() instanceof LocalLimit ? ((LocalLimit) plan.child()).child() : plan.child();
        String order = "";
        if (below instanceof Sort) {
            scala.collection.Iterator each = ((Sort) below).order().iterator();
            while (each.hasNext()) order += (order.length() == 0 ? " ORDER BY " : ", ") + text((Expression) each.next());
        }
        return "SELECT *" + from(below) + order + " LIMIT " + text(plan.limitExpr());
    }

    private String table(DataSourceV2Relation plan) {
        if (!plan.identifier().isDefined()) throw new IllegalArgumentException("it reads a source that is no table");
        Identifier name = (Identifier) plan.identifier().get();
        StringBuilder from = new StringBuilder();
        String[] parts = name.namespace();
        for (int at = 0; at < parts.length; at++) from.append(quoted(parts[at])).append('.');
        return columns(plan.output(), false) + " FROM " + from.append(quoted(name.name()));
    }

    private String files(LogicalRelation plan) {
        if (!(plan.relation() instanceof HadoopFsRelation)) throw new IllegalArgumentException("it reads a source that is no file");
        HadoopFsRelation files = (HadoopFsRelation) plan.relation();
        String format = files.fileFormat().toString().toLowerCase();
        scala.collection.Iterator options = files.options().iterator();
        boolean header = false;
        while (options.hasNext()) {
            scala.Tuple2 option = (scala.Tuple2) options.next();
            String key = ((String) option._1()).toLowerCase(), value = (String) option._2();
            if (key.equals("header")) header = value.equalsIgnoreCase("true");
            else if (!key.equals("path") && !key.equals("inferschema")) throw new IllegalArgumentException("it reads files with the option " + key);
        }
        if (format.equals("csv") && !header) throw new IllegalArgumentException("it reads CSV files without a header");
        if (!format.equals("csv") && !format.equals("parquet")) throw new IllegalArgumentException("it reads files of the format " + format);
        scala.collection.Seq roots = files.location().rootPaths();
        if (roots.size() != 1) throw new IllegalArgumentException("it reads several paths at once");
        String path = roots.head().toString();
        if (!path.startsWith("file:")) throw new IllegalArgumentException("it reads files that are not local");
        return columns(plan.output(), format.equals("csv")) + " FROM " + format + "." + quoted(path.substring("file:".length()));
    }

    private String columns(scala.collection.Seq output, boolean cast) {
        StringBuilder out = new StringBuilder("SELECT ");
        scala.collection.Iterator each = output.iterator();
        String comma = "";
        while (each.hasNext()) {
            Attribute column = (Attribute) each.next();
            String name = quoted(column.name());
            if (cast && !column.dataType().sql().equals("STRING")) name = "CAST(" + name + " AS " + column.dataType().sql() + ")";
            out.append(comma).append(name).append(" AS ").append(named(column));
            comma = ", ";
        }
        return out.toString();
    }

    private static String named(NamedExpression one) { return "c" + one.exprId().id(); }

    private static String quoted(String name) { return "`" + name.replace("`", "``") + "`"; }

    /** An expression as SQL; checked for what cannot be run again. */
    private String text(Expression one) {
        check(one);
        Expression renamed = (Expression) one.transformUp(new AbstractPartialFunction() {
            public boolean isDefinedAt(Object node) {
                return node instanceof AttributeReference || Writer.name(node).equals("AssertNotNull");
            }
            public Object apply(Object node) {
                if (!(node instanceof AttributeReference)) return ((Expression) node).children().head();
                AttributeReference column = (AttributeReference) node;
                return column.withName("c" + column.exprId().id()).withQualifier(scala.collection.immutable.Nil$.MODULE$);
            }
            public Object applyOrElse(Object node, scala.Function1 other) {
                return isDefinedAt(node) ? apply(node) : other.apply(node);
            }
        });
        return renamed.sql();
    }

    private static void check(Expression one) {
        String name = Writer.name(one);
        if (name.indexOf("UDF") >= 0 || name.indexOf("UDAF") >= 0 || name.equals("ScalaAggregator"))
            throw new IllegalArgumentException("it calls a function of the program: " + one.prettyName());
        if (one instanceof SubqueryExpression) throw new IllegalArgumentException("it has a subquery in a DataFrame");
        scala.collection.Iterator each = one.children().iterator();
        while (each.hasNext()) check((Expression) each.next());
        if (!one.deterministic()) throw new IllegalArgumentException(one.prettyName() + "() is another each time");
    }
}
