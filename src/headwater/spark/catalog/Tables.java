// A lake table as Spark sees it.
package org.headwater.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TruncatableTable;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceV2;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A table that is being made: written to, and given its name when that is done. */
public final class StagedLakeTable implements StagedTable, SupportsWrite {
  private final LakeTable table;
  private final boolean replaces;

  StagedLakeTable(JsonNode facts, Map catalogOptions, boolean replaces) {
    this.table = new LakeTable(facts, catalogOptions);
    this.replaces = replaces;
  }

  public String name() {
    return table.name();
  }

  public StructType schema() {
    return table.schema();
  }

  public Set capabilities() {
    return table.capabilities();
  }

  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return table.newWriteBuilder(info);
  }

  public void commitStagedChanges() {
    Door.ask(request("publish").put("replaces", replaces));
  }

  public void abortStagedChanges() {
    Door.ask(request("give-up"));
  }

  private ObjectNode request(String operation) {
    ObjectNode request = Door.request(operation, table.catalogOptions).put("table", name());
    return request.put("folder", table.facts.get("folder").asText());
  }
}

/** A table at the snapshot that it had when the query was planned. */
public final class LakeTable
    implements Table, SupportsRead, SupportsWrite, SupportsRowLevelOperations, TruncatableTable {
  final JsonNode facts;
  final Map catalogOptions;
  private final StructType schema;

  LakeTable(JsonNode facts, Map catalogOptions) {
    this.facts = facts;
    this.catalogOptions = catalogOptions;
    this.schema = (StructType) DataType.fromJson(facts.get("schema").asText());
  }

  public String name() {
    return facts.get("name").asText();
  }

  public String id() {
    return facts.get("uuid").asText();
  }

  public String version() {
    return facts.get("snapshot").asText();
  }

  /** Spark reads what is cached of a plan in place of a plan whose tables are equal. */
  public boolean equals(Object other) {
    return other instanceof LakeTable
        && facts.equals(((LakeTable) other).facts)
        && catalogOptions.equals(((LakeTable) other).catalogOptions);
  }

  public int hashCode() {
    return facts.hashCode();
  }

  public StructType schema() {
    return schema;
  }

  public Transform[] partitioning() {
    JsonNode names = facts.get("partition_by");
    Transform[] found = new Transform[names.size()];
    for (int i = 0; i < found.length; i++) {
      found[i] = Expressions.identity(((JsonNode) names.get(i)).asText());
    }
    return found;
  }

  public Map properties() {
    HashMap found = new HashMap();
    JsonNode properties = facts.get("properties");
    for (Iterator names = properties.fieldNames(); names.hasNext(); ) {
      String each = (String) names.next();
      found.put(each, properties.get(each).asText());
    }
    return found;
  }

  public Set capabilities() {
    HashSet found = new HashSet();
    found.add(TableCapability.BATCH_READ);
    found.add(TableCapability.BATCH_WRITE);
    found.add(TableCapability.MICRO_BATCH_READ);
    found.add(TableCapability.STREAMING_WRITE);
    found.add(TableCapability.TRUNCATE);
    found.add(TableCapability.OVERWRITE_BY_FILTER);
    found.add(TableCapability.OVERWRITE_DYNAMIC);
    return found;
  }

  public boolean truncateTable() {
    Door.ask(Door.request("truncate", catalogOptions).put("table", name()));
    return true;
  }

  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return new LakeScanBuilder(this, options, false);
  }

  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return new LakeWriteBuilder(this, info, null);
  }

  public RowLevelOperationBuilder newRowLevelOperationBuilder(final RowLevelOperationInfo info) {
    final LakeTable table = this;
    return new RowLevelOperationBuilder() {
      public RowLevelOperation build() {
        RowLevelOperation.Command command = info.command();
        return keys().size() > 0 ? (RowLevelOperation) new Edits(table, command) : new Rewrite(table, command);
      }
    };
  }

  JsonNode keys() {
    return facts.get("primary_key");
  }

  /** Options of the data source: where the table is, then what the query says. */
  Map sourceOptions(CaseInsensitiveStringMap given) {
    HashMap found = new HashMap(catalogOptions);
    found.put("table", name());
    if (facts.has("folder")) {
      found.put("folder", facts.get("folder").asText()); // it has no name yet
    }
    found.putAll(given.asCaseSensitiveMap());
    return found;
  }

  static PythonDataSourceV2 source() {
    PythonDataSourceV2 source = new PythonDataSourceV2();
    source.setShortName("headwater");
    return source;
  }
}
