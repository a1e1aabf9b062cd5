// Reading a lake table: at one snapshot, only the columns that are needed, without what filters rule out.
package org.headwater.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.expressions.aggregate.AggregateFunc;
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsPushDownAggregates;
import org.apache.spark.sql.connector.read.SupportsPushDownFilters;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceReadInfo;
import org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceV2;
import org.apache.spark.sql.execution.datasources.v2.python.PythonScanBuilder;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

final class LakeScanBuilder
    implements ScanBuilder, SupportsPushDownFilters, SupportsPushDownRequiredColumns, SupportsPushDownAggregates {
  private final LakeTable table;
  private final CaseInsensitiveStringMap options;
  private final boolean wholeFiles; // filters may leave out files, but no rows of those they leave
  private final ArrayList pushed = new ArrayList();
  private final ArrayNode encoded = Door.JSON.createArrayNode();
  private StructType columns;
  private String aggregates;

  LakeScanBuilder(LakeTable table, CaseInsensitiveStringMap options, boolean wholeFiles) {
    this.table = table;
    this.options = options;
    this.wholeFiles = wholeFiles;
    this.columns = table.schema();
  }

  public Filter[] pushFilters(Filter[] filters) {
    for (int i = 0; i < filters.length; i++) {
      if (Filters.put(encoded, filters[i])) {
        pushed.add(filters[i]);
      }
    }
    return filters; // Spark checks all of them again
  }

  public Filter[] pushedFilters() {
    return (Filter[]) pushed.toArray(new Filter[0]);
  }

  public void pruneColumns(StructType required) {
    columns = required;
  }

  /** Aggregates over the whole table; Spark asks only when it has no filter left to check. */
  public boolean pushAggregation(Aggregation aggregation) {
    if (wholeFiles || saysWhen() || aggregation.groupByExpressions().length > 0 || table.facts.get("rows").asLong() == 0) {
      return false;
    }
    ArrayNode listed = Door.JSON.createArrayNode();
    StructType results = new StructType();
    AggregateFunc[] functions = aggregation.aggregateExpressions();
    for (int i = 0; i < functions.length; i++) {
      DataType type = Aggregates.put(listed, functions[i], table.schema());
      if (type == null) {
        return false;
      }
      results = results.add("aggregate_" + i, type, true);
    }
    aggregates = listed.toString();
    columns = results;
    return true;
  }

  private boolean saysWhen() {
    return options.containsKey("from") || options.containsKey("snapshot") || options.containsKey("tag")
        || options.containsKey("timestamp") || options.containsKey("at");
  }

  String filters() {
    return encoded.toString();
  }

  public Scan build() {
    Map batch = table.sourceOptions(options);
    Map stream = new HashMap(batch);
    if (!saysWhen()) {
      batch.put("snapshot", table.version());
      batch.put("schema-id", table.facts.get("schema_id").asText());
    }
    if (!options.containsKey("parallelism")) {
      batch.put("parallelism", String.valueOf(SparkContext.getOrCreate().defaultParallelism()));
    }
    if (encoded.size() > 0) {
      batch.put("filters", filters());
    }
    if (aggregates != null) {
      batch.put("aggregates", aggregates);
    }
    if (wholeFiles) {
      batch.put("group", "true");
    }
    return new LakeScan(table, columns, batch, stream, pushed.toString());
  }
}

final class LakeScan implements Scan, SupportsReportStatistics {
  private final LakeTable table;
  private final StructType columns;
  private final Map batch;
  private final Map stream;
  private final String filters;

  LakeScan(LakeTable table, StructType columns, Map batch, Map stream, String filters) {
    this.table = table;
    this.columns = columns;
    this.batch = batch;
    this.stream = stream;
    this.filters = filters;
  }

  private Scan scan(PythonDataSourceV2 source, Map options) {
    return new PythonScanBuilder(source, "headwater", columns, new CaseInsensitiveStringMap(options)).build();
  }

  /** Planned by the driver's Python, which is there already; else Spark starts one for it. */
  private PythonDataSourceV2 planned() {
    PythonDataSourceV2 source = LakeTable.source();
    JsonNode answer = Door.ask(Door.request("plan-read", batch).put("schema", columns.json()));
    if (answer.has("function")) {
      ArrayList parts = new ArrayList();
      for (int i = 0; i < answer.get("partitions").size(); i++) {
        parts.add(decoded((JsonNode) answer.get("partitions").get(i)));
      }
      Seq listed = CollectionConverters.asScala((java.util.List) parts).toSeq();
      source.setReadInfo(new PythonDataSourceReadInfo(decoded(answer.get("function")), listed));
    }
    return source;
  }

  private static byte[] decoded(JsonNode text) {
    return Base64.getDecoder().decode(text.asText());
  }

  public StructType readSchema() {
    return columns;
  }

  public String description() {
    return "headwater " + table.name() + " at snapshot " + table.version() + ", filters " + filters;
  }

  public Batch toBatch() {
    Batch inner = scan(planned(), batch).toBatch();
    boolean rows = columns.size() == 0 || "false".equals(batch.get("columnar"));
    return rows ? inner : new ColumnsBatch(inner, columns.size());
  }

  public MicroBatchStream toMicroBatchStream(String checkpoint) {
    return scan(LakeTable.source(), stream).toMicroBatchStream(checkpoint);
  }

  public CustomMetric[] supportedCustomMetrics() {
    return scan(LakeTable.source(), batch).supportedCustomMetrics();
  }

  /** What Spark chooses joins by: the size of the table, less what the pruned columns take. */
  public Statistics estimateStatistics() {
    final long rows = table.facts.get("rows").asLong();
    double share = columns.size() == 0 ? 0 : (double) columns.defaultSize() / table.schema().defaultSize();
    final long bytes = 1 + (long) (table.facts.get("bytes").asLong() * Math.min(1.0, share));
    return new Statistics() {
      public OptionalLong sizeInBytes() {
        return OptionalLong.of(bytes);
      }

      public OptionalLong numRows() {
        return OptionalLong.of(rows);
      }
    };
  }
}
