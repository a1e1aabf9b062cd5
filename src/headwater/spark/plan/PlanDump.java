package headwater.plan;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.QueryExecution;
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
public class PlanDump extends Expressions {
    private final IdentityHashMap numbers = new IdentityHashMap();
    private final List plans = new ArrayList();
    private final TreeSet wanted = new TreeSet();

    /** Another one, for another plan: over Py4J much cheaper than a constructor. */
    public PlanDump fresh() { return new PlanDump(); }

    /** The dump of a plan by another one, of which nothing is kept. */
    public String dumpOnce(Object given, int mostCharacters, long milliseconds) {
        return fresh().dump(given, mostCharacters, milliseconds);
    }

    /** Where the session catalog puts a table that says nothing about it. */
    public String defaultPath(Object state, String table) throws Exception {
        org.apache.spark.sql.internal.SessionState session = (org.apache.spark.sql.internal.SessionState) state;
        return session.catalog().defaultTablePath(session.sqlParser().parseTableIdentifier(table)).toString();
    }

    /** The plan, or that of an execution. */
    public String dump(Object given, int mostCharacters, long milliseconds) {
        Object plan = given instanceof QueryExecution ? planOf((QueryExecution) given) : given;
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

    /**
     * The analyzed plan, its tables in the states that are read. From 4.2 on, Spark looks tables up again when a query
     * first runs, which may be long after its analysis. A command that has not been carried out yet must not be by this.
     */
    private static LogicalPlan planOf(QueryExecution execution) {
        LogicalPlan analyzed = execution.analyzed();
        boolean isSafe = !(analyzed instanceof Command) || !execution.mode().toString().equals("ALL");
        scala.collection.Iterator each = analyzed.children().iterator();
        while (each.hasNext()) isSafe &= !hasCommand((LogicalPlan) each.next());
        try {
            return isSafe ? (LogicalPlan) QueryExecution.class.getMethod("tableVersionsRefreshed").invoke(execution) : analyzed;
        } catch (ReflectiveOperationException older) { // or a table has changed so that the query fails
            return analyzed;
        }
    }

    private static boolean hasCommand(LogicalPlan plan) {
        boolean found = plan instanceof Command;
        scala.collection.Iterator each = plan.children().iterator();
        while (each.hasNext()) found |= hasCommand((LogicalPlan) each.next());
        return found;
    }

    /** A table of either generation; in full, so what comes back is not to be shown: addresses may carry passwords. */
    public String describe(Object table) {
        addresses = true;
        if (table instanceof RowLevelOperationTable) return describe(((RowLevelOperationTable) table).table());
        if (table instanceof V1Table) return describe(((V1Table) table).v1Table());
        if (table instanceof CatalogTable) table((CatalogTable) table);
        else table((Table) table);
        return out.toString();
    }

    /** The name of a field of a node. */
    public static String field(Product product, int at) { return fieldName(product, at); }

    /** The live plan behind a number. */
    public Object plan(int number) {
        return plans.get(number);
    }

    /** How many plans there are. */
    public int size() {
        return plans.size();
    }

    int number(LogicalPlan plan, boolean withOutput) {
        Integer known = (Integer) numbers.get(plan);
        if (known == null) {
            known = Integer.valueOf(plans.size());
            numbers.put(plan, known);
            plans.add(plan);
        }
        if (withOutput) wanted.add(known);
        return known.intValue();
    }

    private static final java.util.Set QUIET = new java.util.HashSet(java.util.Arrays.asList(new String[] {
        "Project", "Filter", "Sort", "GlobalLimit", "LocalLimit", "Offset", "Tail", "SubqueryAlias", "View", "Join",
        "Aggregate", "Window", "Generate", "Repartition", "RepartitionByExpression", "RebalancePartitions", "Sample",
        "ResolvedHint", "EventTimeWatermark", "CollectMetrics", "Expand", "LateralJoin", "AsOfJoin"
    }));

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
        if (!full() && !name.equals("CommandResult")) fields(plan, name); // what a command did is told where it ran
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
            text(fieldName(product, at));
            out.append(':');
            int begin = out.length();
            if (project && value instanceof scala.collection.Seq) computed((scala.collection.Seq) value);
            else value(value);
            if (out.length() == begin) out.setLength(mark);
            else comma = ",";
            if (fieldName(product, at).equals("condition")) condition(value);
            if (name.equals("MergeRows") && value instanceof scala.collection.Seq) places(fieldName(product, at), (scala.collection.Seq) value);
        }
    }

    /** Where the values of each instruction of a MERGE were written, as a field of its own. */
    private void places(String name, scala.collection.Seq instructions) {
        out.append(",\"places of ").append(name).append("\":[");
        scala.collection.Iterator each = instructions.iterator();
        String comma = "";
        while (each.hasNext()) {
            Object one = each.next();
            if (!(one instanceof Expression)) continue;
            out.append(comma).append('[');
            scala.collection.Iterator parts = ((Expression) one).children().iterator();
            String inner = "";
            while (parts.hasNext()) {
                out.append(inner);
                int mark = out.length();
                origin(source((Expression) parts.next(), 4), "");
                if (out.length() == mark) out.append("null");
                inner = ",";
            }
            out.append(']');
            comma = ",";
        }
        out.append(']');
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

    /** A field of a node; writes nothing for what has no use. */
    void value(Object value) {
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
            text(fieldName(product, at));
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
}
