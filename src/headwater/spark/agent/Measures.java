package headwater.agent;

import java.util.IdentityHashMap;
import java.util.function.Function;
import org.apache.spark.sql.execution.*;
import org.apache.spark.sql.execution.adaptive.*;
import org.apache.spark.sql.execution.command.DataWritingCommandExec;
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions;
import org.apache.spark.sql.execution.datasources.jdbc.JDBCRelation;
import org.apache.spark.sql.execution.datasources.v2.*;
import scala.Option;

/** What an execution has read and written, from the metrics of its physical plan: one JSON object a scan or write. */
public class Measures implements Function {
    private final StringBuilder out = new StringBuilder("[");
    private final IdentityHashMap seen = new IdentityHashMap();

    public Object apply(Object execution) { return of(execution); }

    public String of(Object execution) {
        Measures made = new Measures();
        made.walk(((QueryExecution) execution).executedPlan());
        return made.out.append(']').toString();
    }

    private void walk(SparkPlan plan) {
        if (seen.put(plan, plan) != null) return;
        if (plan instanceof AdaptiveSparkPlanExec) {
            walk(((AdaptiveSparkPlanExec) plan).executedPlan());
            return;
        }
        if (plan instanceof QueryStageExec) {
            walk(((QueryStageExec) plan).plan());
            return;
        }
        if (plan instanceof FileSourceScanLike) {
            FileSourceScanLike scan = (FileSourceScanLike) plan;
            begin("scan", plan);
            out.append(",\"paths\":[");
            scala.collection.Iterator paths = scan.relation().location().rootPaths().iterator();
            String comma = "";
            while (paths.hasNext()) {
                out.append(comma).append(text(paths.next().toString()));
                comma = ",";
            }
            out.append("]}");
        } else if (plan instanceof DataSourceV2ScanExecBase) {
            begin("scan", plan);
            if (plan instanceof BatchScanExec && ((BatchScanExec) plan).table() != null) {
                out.append(",\"table\":").append(text(((BatchScanExec) plan).table().name()));
                if (((BatchScanExec) plan).table().getClass().getName().startsWith("org.apache.iceberg.")) report(plan);
            }
            out.append('}');
        } else if (plan instanceof RowDataSourceScanExec) {
            begin("scan", plan);
            Option table = ((RowDataSourceScanExec) plan).tableIdentifier();
            if (((RowDataSourceScanExec) plan).relation() instanceof JDBCRelation) {
                JDBCOptions asked = ((JDBCRelation) ((RowDataSourceScanExec) plan).relation()).jdbcOptions();
                out.append(",\"jdbc\":[").append(text(asked.url())).append(',').append(text(asked.tableOrQuery())).append(']');
            } else if (table.isDefined())
                out.append(",\"table\":").append(text(String.valueOf(table.get()).replace("`", "")));
            out.append('}');
        } else if (plan.getClass().getSimpleName().equals("HiveTableScanExec")) {
            begin("scan", plan);
            out.append(",\"hive\":true}");
        } else if (plan instanceof DataWritingCommandExec) {
            begin("write", plan);
            out.append('}');
        } else if (plan instanceof V2TableWriteExec && ((V2TableWriteExec) plan).commitProgress().isDefined()) {
            StreamWriterCommitProgress done = (StreamWriterCommitProgress) ((V2TableWriteExec) plan).commitProgress().get();
            begin("write", plan);
            out.append(",\"rows\":").append(done.numOutputRows()).append('}');
        }
        scala.collection.Iterator children = plan.children().iterator();
        while (children.hasNext()) walk((SparkPlan) children.next());
        scala.collection.Iterator inner = plan.subqueries().iterator();
        while (inner.hasNext()) walk((SparkPlan) inner.next());
    }

    /** What Iceberg says of the planning of a scan, by the names that OpenLineage has for it. */
    private void report(SparkPlan plan) {
        String before = ",\"report\":{\"";
        scala.collection.Iterator names = plan.metrics().keysIterator();
        while (names.hasNext()) {
            String name = (String) names.next();
            if (!name.matches("(total|result|scanned|skipped|indexed|equality|positional)[A-Z].*")) continue;
            String shown = name.replaceFirst("Manifest$", "Manifests").replace("DataFileSize", "FileSize").replaceFirst("FileSize$", "FileSizeInBytes");
            out.append(before).append(shown).append("\":").append(((org.apache.spark.util.AccumulatorV2) plan.metrics().apply(name)).value());
            before = ",\"";
        }
        if (before.equals(",\"")) out.append('}');
    }

    private void begin(String kind, SparkPlan plan) {
        if (out.length() > 1) out.append(',');
        out.append("{\"kind\":").append(text(kind));
        metric(plan, "numOutputRows", "rows");
        metric(plan, "numOutputBytes", "bytes");
        metric(plan, "filesSize", "bytes");
        metric(plan, "numFiles", "files");
    }

    private void metric(SparkPlan plan, String name, String shown) {
        Option found = plan.metrics().get(name);
        if (!found.isDefined()) return;
        Object value = ((org.apache.spark.util.AccumulatorV2) found.get()).value();
        out.append(",\"").append(shown).append("\":").append(value);
    }

    private static String text(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int at = 0; at < text.length(); at++) {
            char sign = text.charAt(at);
            if (sign == '"' || sign == '\\') out.append('\\').append(sign);
            else if (sign < ' ' || Character.isSurrogate(sign)) out.append(String.format("\\u%04x", new Object[] {Integer.valueOf(sign)}));
            else out.append(sign);
        }
        return out.append('"').toString();
    }
}
