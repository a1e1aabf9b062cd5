// A Spark catalog of lake tables. What it knows it asks Python for, on the driver; rows go through the data source
// `headwater`, which is Python too.
package org.headwater.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.NonEmptyNamespaceException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.NamespaceChange;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.StagingTableCatalog;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalogCapability;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.catalog.constraints.Constraint;
import org.apache.spark.sql.connector.catalog.constraints.PrimaryKey;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

public final class Catalog implements StagingTableCatalog, SupportsNamespaces {
  private String name;
  private CaseInsensitiveStringMap options;

  public void initialize(String name, CaseInsensitiveStringMap options) {
    this.name = name;
    this.options = options;
  }

  public String name() {
    return name;
  }

  public String[] defaultNamespace() {
    return new String[] {"default"};
  }

  public java.util.Set capabilities() {
    return java.util.Collections.singleton(TableCatalogCapability.SUPPORT_TABLE_CONSTRAINT);
  }

  // ------------------------------------------------------------------------------------------------ namespaces

  public String[][] listNamespaces() {
    JsonNode names = Door.ask(request("databases")).get("names");
    String[][] found = new String[names.size()][];
    for (int i = 0; i < found.length; i++) {
      found[i] = new String[] {((JsonNode) names.get(i)).asText()};
    }
    return found;
  }

  public String[][] listNamespaces(String[] namespace) throws NoSuchNamespaceException {
    if (namespace.length == 0) {
      return listNamespaces();
    }
    loadNamespaceMetadata(namespace);
    return new String[0][];
  }

  public Map loadNamespaceMetadata(String[] namespace) throws NoSuchNamespaceException {
    if (namespace.length != 1) {
      throw new NoSuchNamespaceException(namespace);
    }
    try {
      return texts(Door.ask(request("database").put("database", namespace[0])).get("properties"));
    } catch (Refused refused) {
      if (refused.code.equals("not-found")) {
        throw new NoSuchNamespaceException(namespace);
      }
      throw refused;
    }
  }

  public void createNamespace(String[] namespace, Map metadata) throws NamespaceAlreadyExistsException {
    ObjectNode request = request("create-database").put("database", String.join(".", namespace));
    put(request.putObject("properties"), metadata);
    try {
      Door.ask(request);
    } catch (Refused refused) {
      if (refused.code.equals("already-exists")) {
        throw new NamespaceAlreadyExistsException(namespace);
      }
      throw refused;
    }
  }

  public void alterNamespace(String[] namespace, NamespaceChange[] changes) {
    throw new UnsupportedOperationException("a database of a lake has nothing that could be altered");
  }

  public boolean dropNamespace(String[] namespace, boolean cascade)
      throws NoSuchNamespaceException, NonEmptyNamespaceException {
    loadNamespaceMetadata(namespace);
    try {
      Door.ask(request("drop-database").put("database", namespace[0]).put("cascade", cascade));
    } catch (Refused refused) {
      if (refused.code.equals("storage-failed")) {
        throw new NonEmptyNamespaceException(namespace);
      }
      throw refused;
    }
    return true;
  }

  // ---------------------------------------------------------------------------------------------------- tables

  public Identifier[] listTables(String[] namespace) throws NoSuchNamespaceException {
    loadNamespaceMetadata(namespace);
    JsonNode names = Door.ask(request("tables").put("database", namespace[0])).get("names");
    Identifier[] found = new Identifier[names.size()];
    for (int i = 0; i < found.length; i++) {
      found[i] = Identifier.of(namespace, ((JsonNode) names.get(i)).asText());
    }
    return found;
  }

  public Table loadTable(Identifier id) throws NoSuchTableException {
    return load(id, request("load"));
  }

  public Table loadTable(Identifier id, String version) throws NoSuchTableException {
    return load(id, request("load").put("version", version));
  }

  public Table loadTable(Identifier id, long micros) throws NoSuchTableException {
    return load(id, request("load").put("micros", micros));
  }

  private Table load(Identifier id, ObjectNode request) throws NoSuchTableException {
    if (id.namespace().length != 1) {
      throw new NoSuchTableException(id);
    }
    try {
      return new LakeTable(Door.ask(named(request, id)), options.asCaseSensitiveMap());
    } catch (Refused refused) {
      if (refused.code.equals("not-found") && !request.has("version") && !request.has("micros")) {
        throw new NoSuchTableException(id);
      }
      throw refused;
    }
  }

  public Table createTable(Identifier id, TableInfo info) throws TableAlreadyExistsException {
    return created(id, described(request("create"), id, info));
  }

  // A table that is made with rows in it, or takes the place of another, is seen when it is whole.

  public StagedTable stageCreate(Identifier id, TableInfo info) throws TableAlreadyExistsException {
    if (tableExists(id)) {
      throw new TableAlreadyExistsException(id);
    }
    return staged(id, info, false);
  }

  public StagedTable stageReplace(Identifier id, TableInfo info) throws NoSuchTableException {
    if (!tableExists(id)) {
      throw new NoSuchTableException(id);
    }
    return staged(id, info, true);
  }

  public StagedTable stageCreateOrReplace(Identifier id, TableInfo info) {
    return staged(id, info, true);
  }

  private StagedTable staged(Identifier id, TableInfo info, boolean replaces) {
    JsonNode facts = Door.ask(described(request("stage"), id, info));
    return new StagedLakeTable(facts, options.asCaseSensitiveMap(), replaces);
  }

  private ObjectNode described(ObjectNode request, Identifier id, TableInfo info) {
    named(request, id).put("schema", info.schema().json());
    put(request.putObject("properties"), info.properties());
    putPartitions(request.putArray("partitions"), info.partitions());
    ArrayNode keys = request.putArray("primary_key");
    for (int i = 0; i < info.constraints().length; i++) {
      putKey(keys, info.constraints()[i]);
    }
    return request;
  }

  private Table created(Identifier id, ObjectNode request) throws TableAlreadyExistsException {
    try {
      return new LakeTable(Door.ask(request), options.asCaseSensitiveMap());
    } catch (Refused refused) {
      if (refused.code.equals("already-exists")) {
        throw new TableAlreadyExistsException(id);
      }
      throw refused;
    }
  }

  private static void putKey(ArrayNode keys, Constraint constraint) {
    if (!(constraint instanceof PrimaryKey)) {
      throw new UnsupportedOperationException("a lake table has a PRIMARY KEY and no other constraints");
    }
    NamedReference[] columns = ((PrimaryKey) constraint).columns();
    for (int i = 0; i < columns.length; i++) {
      keys.add(columns[i].fieldNames()[0]);
    }
  }

  private static void putPartitions(ArrayNode request, Transform[] partitions) {
    for (int i = 0; i < partitions.length; i++) {
      ObjectNode each = request.addObject().put("name", partitions[i].name());
      NamedReference[] columns = partitions[i].references();
      if (columns.length > 0) {
        each.put("column", String.join(".", columns[0].fieldNames()));
      }
      for (int j = 0; j < partitions[i].arguments().length; j++) {
        if (partitions[i].arguments()[j] instanceof Literal) {
          each.put("argument", String.valueOf(((Literal) partitions[i].arguments()[j]).value()));
        }
      }
    }
  }

  public Table alterTable(Identifier id, TableChange[] changes) throws NoSuchTableException {
    ObjectNode request = named(request("alter"), id);
    ArrayNode listed = request.putArray("changes");
    for (int i = 0; i < changes.length; i++) {
      Changes.put(listed.addObject(), changes[i]);
    }
    return load(id, request);
  }

  public boolean dropTable(Identifier id) {
    return id.namespace().length == 1 && Door.ask(named(request("drop"), id)).get("dropped").asBoolean();
  }

  public boolean purgeTable(Identifier id) {
    return dropTable(id);
  }

  public void renameTable(Identifier from, Identifier to) throws NoSuchTableException, TableAlreadyExistsException {
    try {
      Door.ask(named(request("rename"), from).put("to", String.join(".", to.namespace()) + "." + to.name()));
    } catch (Refused refused) {
      if (refused.code.equals("not-found")) {
        throw new NoSuchTableException(from);
      }
      if (refused.code.equals("already-exists")) {
        throw new TableAlreadyExistsException(to);
      }
      throw refused;
    }
  }

  // ---------------------------------------------------------------------------------------------------- requests

  private ObjectNode request(String operation) {
    return Door.request(operation, options.asCaseSensitiveMap());
  }

  private static ObjectNode named(ObjectNode request, Identifier id) {
    return request.put("table", id.namespace()[0] + "." + id.name());
  }

  private static void put(ObjectNode target, Map texts) {
    for (Iterator each = texts.entrySet().iterator(); each.hasNext(); ) {
      Map.Entry entry = (Map.Entry) each.next();
      target.put(String.valueOf(entry.getKey()), String.valueOf(entry.getValue()));
    }
  }

  static Map texts(JsonNode node) {
    HashMap found = new HashMap();
    for (Iterator names = node.fieldNames(); names.hasNext(); ) {
      String each = (String) names.next();
      found.put(each, node.get(each).asText());
    }
    return found;
  }
}
