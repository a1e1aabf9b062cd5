package headwater.agent;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import headwater.plan.PlanDump;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.catalog.*;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Product;

/**
 * Writes down what the visitors in Python ask of Spark's objects, for a Python that is somewhere else.
 *
 * An object is a JSON object whose fields are the answers of its methods, with `class` beside them; recorded.py lets
 * Python ask it as if it were there. What is not written down cannot be asked, and the event says so. Addresses are
 * written without what looks like a secret, and of options only those that name a dataset.
 */
public class Recorder {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Set FIELDS = new HashSet(java.util.Arrays.asList(new String[] {
        "relation", "catalogTable", "tableMeta", "table", "tableDesc", "catalog", "identifier", "options", "extraOptions",
        "dataSource", "sourceName", "source", "fileFormat", "logicalRelation", "storage", "tempViewName", "writeOptions",
        "sink"
    }));
    private static final Set OPTIONS = new HashSet(java.util.Arrays.asList(new String[] {
        "path", "url", "dbtable", "query", "topic", "subscribe", "subscribepattern", "assign", "kafka.bootstrap.servers",
        "warehouse", "table"
    }));
    private static final Pattern SECRET = Pattern.compile("(?i)(pass|pwd|secret|token|credential|key|user)");
    private static final Pattern PAIR = Pattern.compile("(?i)([?&;:,(]\\s*[\\w.-]*(?:pass|pwd|secret|token|credential|key|user)[\\w.-]*\\s*=)[^&;,)]*");

    private final QueryExecution execution;
    private final TreeSet tables = new TreeSet();

    public Recorder(QueryExecution execution) { this.execution = execution; }

    /** The plan of an execution, what can be asked of its nodes, and of its session. */
    public ObjectNode plan(PlanDump dumper, int mostCharacters, long milliseconds) throws Exception {
        ObjectNode out = JSON.createObjectNode();
        out.set("plan", JSON.readTree(dumper.dump(execution, mostCharacters, milliseconds)));
        answers(out, dumper);
        return out;
    }

    /** The answers anew, as they are after the fact. */
    public void answers(ObjectNode out, PlanDump dumper) {
        ObjectNode live = out.putObject("live");
        for (int at = 0; at < dumper.size(); at++) {
            ObjectNode found = node((LogicalPlan) dumper.plan(at));
            if (found.size() > 1) live.set(String.valueOf(at), found);
        }
        out.set("session", session());
    }

    private ObjectNode node(LogicalPlan plan) {
        ObjectNode out = of(plan);
        Product product = (Product) plan;
        Object identifier = null;
        for (int at = 0; at < product.productArity(); at++) {
            Object value = product.productElement(at);
            name(value);
            if (PlanDump.field(product, at).equals("identifier")) identifier = inner(value);
        }
        for (int at = 0; at < product.productArity(); at++) {
            String field = PlanDump.field(product, at);
            if (FIELDS.contains(field)) set(out, field, product.productElement(at), identifier);
        }
        String kind = plan.getClass().getSimpleName();
        if (kind.equals("ReplaceData") || kind.equals("WriteDelta")) {
            try {
                ObjectNode operation = out.putObject("operation");
                operation.putObject("command").put("toString", call(call(plan, "operation"), "command").toString());
            } catch (Exception elsewhere) {
                out.remove("operation");
            }
        }
        return out;
    }

    /** Remember the table that a command names. */
    private void name(Object value) {
        Object one = inner(value);
        if (one instanceof CatalogTable) one = ((CatalogTable) one).identifier();
        if (one instanceof TableIdentifier) {
            TableIdentifier table = (TableIdentifier) one;
            tables.add(new String(table.database().isDefined() ? (String) table.database().get() : "") + "\u0000" + table.table());
        } else if (one instanceof Identifier && ((Identifier) one).namespace().length < 2) {
            Identifier table = (Identifier) one;
            tables.add(new String(table.namespace().length == 1 ? table.namespace()[0] : "") + "\u0000" + table.name());
        }
    }

    private static Object inner(Object value) {
        return value instanceof Option ? (((Option) value).isDefined() ? ((Option) value).get() : null) : value;
    }

    private void set(ObjectNode out, String field, Object value, Object identifier) {
        try {
            Object known = record(value, identifier);
            if (known == null) out.putNull(field);
            else out.set(field, JSON.valueToTree(known));
        } catch (Throwable unknown) {
            // then it cannot be asked
        }
    }

    private static ObjectNode of(Object object) {
        ObjectNode out = JSON.createObjectNode();
        return out.put("class", object.getClass().getName());
    }

    private Object record(Object value, Object identifier) throws Exception {
        if (value == null || value instanceof Number || value instanceof Boolean) return value;
        if (value instanceof String) return masked((String) value);
        ObjectNode out = of(value);
        if (value instanceof Option) {
            Option option = (Option) value;
            out.put("class", option.isDefined() ? "scala.Some" : "scala.None$").put("isDefined", option.isDefined());
            if (option.isDefined()) set(out, "get", option.get(), identifier);
        } else if (value instanceof CatalogTable || value instanceof Table) {
            try {
                table(out, value);
            } catch (IllegalStateException isSink) { // a sink of the first generation is a table that cannot be asked
                parts(out, value);
            }
        }
        else if (value instanceof CatalogPlugin) catalog(out, (CatalogPlugin) value, identifier);
        else if (value instanceof Identifier) {
            set(out, "namespace", ((Identifier) value).namespace(), null);
            out.put("name", ((Identifier) value).name());
        } else if (value instanceof Map) options(out, ((Map) value).entrySet().iterator());
        else if (value instanceof scala.collection.Map) options(out, (scala.collection.Map) value);
        else if (value instanceof String[]) return value;
        else if (value instanceof scala.collection.Seq) items(out, (scala.collection.Seq) value);
        else if (value instanceof LogicalPlan) return node((LogicalPlan) value).setAll(schema((LogicalPlan) value));
        else if (value instanceof JDBCOptions) {
            JDBCOptions asked = (JDBCOptions) value;
            out.put("url", masked(asked.url())).put("tableOrQuery", asked.tableOrQuery()).put("prepareQuery", asked.prepareQuery());
        } else parts(out, value);
        return out;
    }

    private static ObjectNode schema(LogicalPlan plan) {
        ObjectNode out = JSON.createObjectNode();
        ArrayNode fields = out.putObject("schema").putArray("fields");
        String[] names = plan.schema().fieldNames();
        for (int at = 0; at < names.length; at++) fields.addObject().put("name", names[at]);
        return out;
    }

    /** Objects of which a few methods are asked: relations, indexes, sources, sinks, places. */
    private void parts(ObjectNode out, Object value) {
        out.put("toString", masked(String.valueOf(value)));
        String[] asked = new String[] {"jdbcOptions", "location", "getSnapshot", "version", "locationUri", "path", "options"};
        for (int at = 0; at < asked.length; at++) {
            try {
                set(out, asked[at], call(value, asked[at]), null);
            } catch (Throwable none) {
                // this object has no such thing
            }
        }
        Class above = value.getClass().getSuperclass();
        if (above != null) out.putObject("superclass").put("getSimpleName", above.getSimpleName());
    }

    private static Object call(Object value, String method) throws Exception {
        java.lang.reflect.Method found = value.getClass().getMethod(method, new Class[0]);
        found.setAccessible(true);
        return found.invoke(value, new Object[0]);
    }

    private void table(ObjectNode out, Object table) throws Exception {
        ObjectNode described = (ObjectNode) JSON.readTree(new PlanDump().describe(table));
        if (described.has("url")) described.put("url", masked(described.get("url").asText()));
        if (described.has("properties")) {
            ObjectNode properties = (ObjectNode) described.get("properties");
            Iterator each = properties.fieldNames();
            Set secrets = new HashSet();
            while (each.hasNext()) {
                String name = (String) each.next();
                if (SECRET.matcher(name).find() && !name.startsWith("headwater.")) secrets.add(name);
            }
            properties.remove(secrets);
        }
        out.set("described", described);
        String[] asked = new String[] {"jdbcOptions", "path", "initialSnapshot", "paths"};
        for (int at = 0; at < asked.length && table instanceof Table; at++) {
            try {
                set(out, asked[at], call(table, asked[at]), null);
            } catch (Throwable none) {
                // this table has no such thing
            }
        }
    }

    private void catalog(ObjectNode out, CatalogPlugin catalog, Object identifier) {
        out.put("name", catalog.name());
        if (!(catalog instanceof TableCatalog) || !(identifier instanceof Identifier)) return;
        try {
            set(out, "loadTable", ((TableCatalog) catalog).loadTable((Identifier) identifier), null);
        } catch (Throwable gone) {
            // before the fact, or after a drop
        }
    }

    private void options(ObjectNode out, Iterator each) {
        ObjectNode entries = out.putObject("entries");
        while (each.hasNext()) {
            Map.Entry one = (Map.Entry) each.next();
            option(entries, one.getKey(), one.getValue());
        }
    }

    private void options(ObjectNode out, scala.collection.Map map) {
        ObjectNode entries = out.putObject("entries");
        scala.collection.Iterator each = map.iterator();
        while (each.hasNext()) {
            scala.Tuple2 one = (scala.Tuple2) each.next();
            option(entries, one._1(), one._2());
        }
    }

    private static void option(ObjectNode entries, Object name, Object value) {
        if (OPTIONS.contains(String.valueOf(name).toLowerCase())) entries.put(String.valueOf(name), masked(String.valueOf(value)));
    }

    private void items(ObjectNode out, scala.collection.Seq list) throws Exception {
        ArrayNode items = out.putArray("items");
        scala.collection.Iterator each = list.iterator();
        while (each.hasNext()) items.add(JSON.valueToTree(record(each.next(), null)));
    }

    /** An address without what is named like a secret, and without user and password before the host. */
    static String masked(String text) {
        if (text.indexOf("://") < 0 && !text.startsWith("jdbc:")) return text;
        String bare = PAIR.matcher(text).replaceAll("$1***");
        return bare.startsWith("jdbc:") ? bare.replaceAll("(//|@//|:)[^/@:(]*:[^/@]*@", "$1") : bare;
    }

    // ------------------------------------------------------------------------------------------------- the session

    private ObjectNode session() {
        ObjectNode out = JSON.createObjectNode();
        Object session = execution.sparkSession();
        try {
            out.put("sessionUUID", String.valueOf(call(session, "sessionUUID")));
            org.apache.spark.SparkContext context = execution.sparkSession().sparkContext();
            String metastore = context.hadoopConfiguration().get("hive.metastore.uris");
            out.putObject("sparkContext").putObject("hadoopConfiguration").putObject("get").putObject("by")
                .put("hive.metastore.uris", metastore == null ? "" : metastore);
            org.apache.spark.sql.internal.SessionState state = execution.sparkSession().sessionState();
            ObjectNode said = out.putObject("sessionState");
            said.putObject("conf").put("warehousePath", state.conf().warehousePath());
            said.putObject("sqlParser").putObject("parseTableIdentifier").put("echo", true);
            String current = state.catalog().getCurrentDatabase();
            out.putObject("catalog").put("currentDatabase", current);
            known(said.putObject("catalog"), state.catalog(), current);
            settings(out.putObject("conf").putObject("get").putObject("by"), state.conf().getAllConfs());
        } catch (Throwable ended) {
            out.put("failed", String.valueOf(ended));
        }
        return out;
    }

    private void known(ObjectNode out, org.apache.spark.sql.catalyst.catalog.SessionCatalog catalog, String current) throws Exception {
        ObjectNode paths = out.putObject("defaultTablePath").putObject("by");
        ObjectNode described = out.putObject("getTableMetadata").putObject("by");
        Set databases = new TreeSet();
        databases.add(current);
        Object[] names = tables.toArray();
        for (int at = 0; at < names.length; at++) {
            String database = names[at].toString().substring(0, names[at].toString().indexOf('\u0000'));
            if (!database.isEmpty()) databases.add(database);
        }
        for (int at = 0; at < names.length; at++) {
            Iterator each = databases.iterator();
            while (each.hasNext()) {
                String database = (String) each.next();
                String table = names[at].toString().substring(names[at].toString().indexOf('\u0000') + 1);
                TableIdentifier name = new TableIdentifier(table, Option.apply(database));
                String key = "`" + database + "`.`" + table + "`";
                try {
                    paths.putObject(key).put("toString", catalog.defaultTablePath(name).toString());
                    set(described, key, catalog.getTableMetadata(name), null);
                } catch (Throwable absent) {
                    // there is no such table, or no such database
                }
            }
        }
    }

    private static void settings(ObjectNode out, scala.collection.Map all) {
        scala.collection.Iterator each = all.iterator();
        while (each.hasNext()) {
            scala.Tuple2 one = (scala.Tuple2) each.next();
            String name = (String) one._1();
            boolean wanted = name.startsWith("spark.sql.catalog.") && (name.indexOf('.', 18) < 0 || name.endsWith(".url")
                || name.endsWith(".warehouse") || name.endsWith(".uri") || name.endsWith(".type"));
            if (wanted || name.equals("spark.sql.catalogImplementation")) out.put(name, masked((String) one._2()));
        }
    }
}
