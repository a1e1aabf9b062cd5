// Changes of a table's schema on their way to Python.
package org.headwater.spark;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.sql.connector.catalog.TableChange;

/** Changes of a table's schema, as JSON. */
final class Changes {
  static void put(ObjectNode target, TableChange change) {
    if (change instanceof TableChange.SetProperty) {
      TableChange.SetProperty set = (TableChange.SetProperty) change;
      target.put("kind", "set").put("name", set.property()).put("value", set.value());
    } else if (change instanceof TableChange.RemoveProperty) {
      target.put("kind", "unset").put("name", ((TableChange.RemoveProperty) change).property());
    } else if (change instanceof TableChange.ColumnChange) {
      putColumn(target, (TableChange.ColumnChange) change);
    } else {
      throw new UnsupportedOperationException(change + " is not a change that lake tables know");
    }
  }

  private static void putColumn(ObjectNode target, TableChange.ColumnChange change) {
    target.put("name", String.join(".", change.fieldNames()));
    if (change instanceof TableChange.AddColumn) {
      TableChange.AddColumn add = (TableChange.AddColumn) change;
      target.put("kind", "add").put("type", add.dataType().json()).put("nullable", add.isNullable());
      target.put("comment", add.comment());
      putPosition(target, add.position());
      if (add.defaultValue() != null) {
        throw new UnsupportedOperationException("defaults are given with `headwater sql`, not through Spark");
      }
    } else if (change instanceof TableChange.RenameColumn) {
      target.put("kind", "rename").put("to", ((TableChange.RenameColumn) change).newName());
    } else if (change instanceof TableChange.UpdateColumnType) {
      target.put("kind", "type").put("type", ((TableChange.UpdateColumnType) change).newDataType().json());
    } else if (change instanceof TableChange.UpdateColumnNullability) {
      target.put("kind", "nullable").put("nullable", ((TableChange.UpdateColumnNullability) change).nullable());
    } else if (change instanceof TableChange.UpdateColumnComment) {
      target.put("kind", "comment").put("comment", ((TableChange.UpdateColumnComment) change).newComment());
    } else if (change instanceof TableChange.UpdateColumnPosition) {
      target.put("kind", "move");
      putPosition(target, ((TableChange.UpdateColumnPosition) change).position());
    } else if (change instanceof TableChange.DeleteColumn) {
      target.put("kind", "drop").put("if_exists", ((TableChange.DeleteColumn) change).ifExists().booleanValue());
    } else {
      throw new UnsupportedOperationException(change + " is not a change that lake tables know");
    }
  }

  private static void putPosition(ObjectNode target, TableChange.ColumnPosition position) {
    if (position instanceof TableChange.After) {
      target.put("after", ((TableChange.After) position).column());
    } else if (position != null) {
      target.put("after", "");
    }
  }
}
