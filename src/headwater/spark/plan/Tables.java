package headwater.plan;

import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.types.*;

/** Tables of either generation, their columns and files. */
abstract class Tables extends Writer {
    boolean addresses; // whether they are written too

    void table(CatalogTable table) {
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
            optional("prepareQuery", table.storage().properties().get("prepareQuery"));
        }
        columns(table.schema());
        out.append('}');
    }

    void table(Table table) {
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
        if (table.getClass().getName().startsWith("org.apache.iceberg.")) iceberg(table);
        out.append('}');
    }

    /** Of a table of Iceberg: where it is, the branch and the snapshot that are meant, or the metadata that it shows. */
    private void iceberg(Table table) {
        Object inner = ask(table, "table");
        Object branch = ask(table, "branch");
        Object snapshot = ask(table, "snapshotId");
        if (snapshot == null && branch != null) snapshot = ask(((java.util.Map) ask(inner, "refs")).get(branch), "snapshotId");
        else if (snapshot == null) snapshot = ask(ask(inner, "currentSnapshot"), "snapshotId");
        optional("location", ask(inner, "location"));
        optional("branch", branch);
        optional("snapshot", snapshot);
        optional("metadata", ask(inner, "metadataTableType"));
    }

    /** The files of a relation: where they are, their format, and who keeps the list of them. */
    void files(HadoopFsRelation relation) {
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
        optional("base", relation.options().get("basePath"));
        out.append('}');
    }

    private void columns(StructType type) {
        int mark = out.length();
        schema(type);
        out.setCharAt(mark, ',');
        out.setLength(out.length() - 1);
    }

    void schema(StructType type) {
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

    void identifier(TableIdentifier table) {
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

    void identifier(Identifier table) {
        out.append("{\"table\":[");
        String[] namespace = table.namespace();
        for (int at = 0; at < namespace.length; at++) {
            text(namespace[at]);
            out.append(',');
        }
        text(table.name());
        out.append("]}");
    }
}
