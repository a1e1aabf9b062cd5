// Writing a lake table: planned and committed by the driver's Python, once.
package org.headwater.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsDynamicOverwrite;
import org.apache.spark.sql.connector.write.SupportsOverwrite;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.execution.datasources.v2.python.PythonBatchWrite;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWrite;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWriterCommitMessage;
import org.apache.spark.sql.sources.AlwaysTrue;
import org.apache.spark.sql.sources.EqualNullSafe;
import org.apache.spark.sql.sources.EqualTo;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.sources.IsNull;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** What Spark says of a write, with other options and another schema. */
final class Info implements LogicalWriteInfo {
  private final LogicalWriteInfo given;
  private final StructType schema;
  private final Map options;

  Info(LogicalWriteInfo given, StructType schema, Map options) {
    this.given = given;
    this.schema = schema;
    this.options = options;
  }

  public CaseInsensitiveStringMap options() {
    return new CaseInsensitiveStringMap(options);
  }

  public String queryId() {
    return given.queryId();
  }

  public StructType schema() {
    return schema;
  }
}

/** One commit: planned before the first task, made by the driver's Python when all tasks are done. */
final class Commit {
  private final LakeTable table;
  private final JsonNode plan;
  final PythonBatchWrite inner;

  Commit(LakeTable table, LogicalWriteInfo info, StructType schema, Map more) {
    this.table = table;
    Map options = table.sourceOptions(info.options());
    options.putAll(more);
    ObjectNode request = Door.request("plan-write", options).put("schema", schema.json());
    this.plan = Door.ask(request).get("plan");
    options.put("plan", plan.toString());
    this.inner = new PythonBatchWrite(LakeTable.source(), "headwater", new Info(info, schema, options), false);
  }

  void finish(WriterCommitMessage[] messages) {
    ObjectNode request = request("commit", messages);
    String execution = SparkContext.getOrCreate().getLocalProperty("spark.sql.execution.id");
    if (execution != null) {
      request.put("execution", Long.parseLong(execution));
    }
    Door.ask(request);
  }

  void undo(WriterCommitMessage[] messages) {
    Door.ask(request("abort", messages));
  }

  private ObjectNode request(String operation, WriterCommitMessage[] messages) {
    ObjectNode request = Door.request(operation, table.catalogOptions);
    request.set("plan", plan);
    ArrayNode listed = request.putArray("messages");
    for (int i = 0; i < messages.length; i++) {
      put(listed, messages[i]);
    }
    return request;
  }

  private static void put(ArrayNode target, Object message) {
    if (message instanceof PythonWriterCommitMessage) {
      target.add(Base64.getEncoder().encodeToString(((PythonWriterCommitMessage) message).pickledMessage()));
    } else if (message instanceof Messages) {
      ArrayList inner = ((Messages) message).inner;
      for (int i = 0; i < inner.size(); i++) {
        put(target, inner.get(i));
      }
    }
  }
}

/** A write that is committed once; `wrapped` are the types of its columns where Spark gives row by row, else null. */
final class LakeBatchWrite implements BatchWrite {
  private final Commit commit;
  private final DataType[] wrapped;

  LakeBatchWrite(Commit commit, DataType[] wrapped) {
    this.commit = commit;
    this.wrapped = wrapped;
  }

  public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
    DataWriterFactory inner = new HandOverFactory(commit.inner.createBatchWriterFactory(info));
    return wrapped != null ? (DataWriterFactory) new RewriteFactory(inner, wrapped) : inner;
  }

  public void commit(WriterCommitMessage[] messages) {
    commit.finish(messages);
  }

  public void abort(WriterCommitMessage[] messages) {
    commit.undo(messages);
  }
}

final class LakeWriteBuilder implements WriteBuilder, SupportsOverwrite, SupportsDynamicOverwrite {
  private final LakeTable table;
  private final LogicalWriteInfo info;
  private final Rewrite rewrite; // null but for a statement that rewrites files
  private String overwrite = null;

  LakeWriteBuilder(LakeTable table, LogicalWriteInfo info, Rewrite rewrite) {
    this.table = table;
    this.info = info;
    this.rewrite = rewrite;
  }

  public WriteBuilder truncate() {
    overwrite = "all";
    return this;
  }

  public WriteBuilder overwriteDynamicPartitions() {
    overwrite = "dynamic";
    return this;
  }

  /** Only whole partitions can be overwritten. */
  public boolean canOverwrite(Filter[] filters) {
    JsonNode names = table.facts.get("partition_by");
    for (int i = 0; i < filters.length; i++) {
      boolean known = filters[i] instanceof AlwaysTrue;
      for (int j = 0; j < names.size(); j++) {
        known = known || ((JsonNode) names.get(j)).asText().equals(Partitions.column(filters[i]));
      }
      if (!known) {
        return false;
      }
    }
    return true;
  }

  public WriteBuilder overwrite(Filter[] filters) {
    ObjectNode partition = Door.JSON.createObjectNode();
    for (int i = 0; i < filters.length; i++) {
      if (!(filters[i] instanceof AlwaysTrue)) {
        Partitions.put(partition, filters[i]);
      }
    }
    overwrite = partition.size() == 0 ? "all" : Door.JSON.createArrayNode().add(partition).toString();
    return this;
  }

  private Map more() {
    HashMap found = rewrite == null ? new HashMap() : rewrite.options();
    if (overwrite != null) {
      found.put("overwrite", overwrite);
    }
    return found;
  }

  private DataType[] types() {
    StructField[] fields = info.schema().fields();
    DataType[] found = new DataType[fields.length];
    for (int i = 0; i < found.length; i++) {
      found[i] = fields[i].dataType();
    }
    return found;
  }

  public Write build() {
    return new Write() {
      public String description() {
        return "headwater " + table.name();
      }

      public BatchWrite toBatch() {
        return new LakeBatchWrite(new Commit(table, info, info.schema(), more()), rewrite == null ? null : types());
      }

      public StreamingWrite toStreaming() {
        Map options = table.sourceOptions(info.options());
        if (!info.options().containsKey("commit-user")) {
          options.put("commit-user", "stream-" + info.queryId());
        }
        options.putAll(more());
        Info inner = new Info(info, info.schema(), options);
        return new PythonWrite(LakeTable.source(), "headwater", inner, false).toStreaming();
      }
    };
  }
}

/** The values of partition columns in filters. */
final class Partitions {
  static String column(Filter filter) {
    if (filter instanceof EqualTo) {
      return ((EqualTo) filter).attribute();
    } else if (filter instanceof EqualNullSafe) {
      return ((EqualNullSafe) filter).attribute();
    }
    return filter instanceof IsNull ? ((IsNull) filter).attribute() : null;
  }

  static void put(ObjectNode target, Filter filter) {
    ArrayNode encoded = Door.JSON.createArrayNode();
    Filters.put(encoded, filter);
    target.set(column(filter), (JsonNode) ((JsonNode) encoded.get(0)).get(2));
  }
}
