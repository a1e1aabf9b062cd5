// UPDATE, DELETE and MERGE.
package org.headwater.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.DeltaBatchWrite;
import org.apache.spark.sql.connector.write.DeltaWrite;
import org.apache.spark.sql.connector.write.DeltaWriteBuilder;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.SupportsDelta;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Without a key: the files that the condition can be true in are read whole, and written again. */
final class Rewrite implements RowLevelOperation {
  private final LakeTable table;
  private final RowLevelOperation.Command command;
  private LakeScanBuilder scan;

  Rewrite(LakeTable table, RowLevelOperation.Command command) {
    this.table = table;
    this.command = command;
  }

  public RowLevelOperation.Command command() {
    return command;
  }

  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    scan = new LakeScanBuilder(table, options, true);
    return scan;
  }

  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return new LakeWriteBuilder(table, info, this);
  }

  HashMap options() {
    HashMap found = new HashMap();
    found.put("group", "true");
    found.put("base", table.version());
    found.put("operation", command.toString());
    if (scan != null) {
      found.put("filters", scan.filters());
    }
    return found;
  }
}

/** With a key: only the rows that change are written, as rows that replace others and as deletes. */
final class Edits implements SupportsDelta {
  private final LakeTable table;
  private final RowLevelOperation.Command command;

  Edits(LakeTable table, RowLevelOperation.Command command) {
    this.table = table;
    this.command = command;
  }

  public RowLevelOperation.Command command() {
    return command;
  }

  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return new LakeScanBuilder(table, options, false);
  }

  public NamedReference[] rowId() {
    NamedReference[] found = new NamedReference[table.keys().size()];
    for (int i = 0; i < found.length; i++) {
      found[i] = Expressions.column(((JsonNode) table.keys().get(i)).asText());
    }
    return found;
  }

  public DeltaWriteBuilder newWriteBuilder(final LogicalWriteInfo info) {
    return new EditsWriteBuilder(table, info, command.toString());
  }
}

final class EditsWriteBuilder implements DeltaWriteBuilder {
  private final LakeTable table;
  private final LogicalWriteInfo info;
  private final String operation;

  EditsWriteBuilder(LakeTable table, LogicalWriteInfo info, String operation) {
    this.table = table;
    this.info = info;
    this.operation = operation;
  }

  public DeltaWrite build() {
    return new EditsWrite(table, info, operation);
  }
}

final class EditsWrite implements DeltaWrite {
  private final LakeTable table;
  private final LogicalWriteInfo info;
  private final String operation;

  EditsWrite(LakeTable table, LogicalWriteInfo info, String operation) {
    this.table = table;
    this.info = info;
    this.operation = operation;
  }

  public String description() {
    return "headwater " + table.name();
  }

  public DeltaBatchWrite toBatch() {
    HashMap more = new HashMap();
    more.put("kinds", "edits");
    more.put("operation", operation);
    more.put("base", table.version());
    StructField[] fields = table.schema().fields();
    StructType schema = new StructType();
    for (int i = 0; i < fields.length; i++) {
      schema = schema.add(fields[i].name(), fields[i].dataType(), true); // a delete has its key and no more
    }
    return new EditsBatchWrite(table, new Commit(table, info, schema.add("_kind", DataTypes.StringType, false), more));
  }
}

final class EditsBatchWrite implements DeltaBatchWrite {
  private final LakeTable table;
  private final Commit commit;

  EditsBatchWrite(LakeTable table, Commit commit) {
    this.table = table;
    this.commit = commit;
  }

  public DeltaWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
    int[] keys = new int[table.keys().size()];
    DataType[] types = new DataType[keys.length];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = table.schema().fieldIndex(((JsonNode) table.keys().get(i)).asText());
      types[i] = table.schema().fields()[keys[i]].dataType();
    }
    boolean deletesFirst = !table.facts.get("whole_rows").asBoolean();
    DataWriterFactory inner = commit.inner.createBatchWriterFactory(info);
    return new EditFactory(inner, table.schema().size(), keys, types, deletesFirst);
  }

  public void commit(WriterCommitMessage[] messages) {
    commit.finish(messages);
  }

  public void abort(WriterCommitMessage[] messages) {
    commit.undo(messages);
  }
}
