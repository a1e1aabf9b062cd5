// Filters on their way to Python.
package org.headwater.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.Base64;
import org.apache.spark.sql.sources.EqualNullSafe;
import org.apache.spark.sql.sources.EqualTo;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.sources.GreaterThan;
import org.apache.spark.sql.sources.GreaterThanOrEqual;
import org.apache.spark.sql.sources.In;
import org.apache.spark.sql.sources.IsNotNull;
import org.apache.spark.sql.sources.IsNull;
import org.apache.spark.sql.sources.LessThan;
import org.apache.spark.sql.sources.LessThanOrEqual;
import org.apache.spark.sql.sources.StringStartsWith;

/** Filters as JSON: `["=", "id", 7]`. What is not said here, Spark decides alone. */
final class Filters {
  static boolean put(ArrayNode target, Filter filter) {
    if (filter instanceof IsNull) {
      return put(target, "null", ((IsNull) filter).attribute(), null);
    } else if (filter instanceof IsNotNull) {
      return put(target, "not null", ((IsNotNull) filter).attribute(), null);
    } else if (filter instanceof EqualTo) {
      return putValue(target, "=", ((EqualTo) filter).attribute(), ((EqualTo) filter).value());
    } else if (filter instanceof EqualNullSafe) {
      return putValue(target, "=", ((EqualNullSafe) filter).attribute(), ((EqualNullSafe) filter).value());
    } else if (filter instanceof GreaterThan) {
      return putValue(target, ">", ((GreaterThan) filter).attribute(), ((GreaterThan) filter).value());
    } else if (filter instanceof GreaterThanOrEqual) {
      return putValue(target, ">=", ((GreaterThanOrEqual) filter).attribute(), ((GreaterThanOrEqual) filter).value());
    } else if (filter instanceof LessThan) {
      return putValue(target, "<", ((LessThan) filter).attribute(), ((LessThan) filter).value());
    } else if (filter instanceof LessThanOrEqual) {
      return putValue(target, "<=", ((LessThanOrEqual) filter).attribute(), ((LessThanOrEqual) filter).value());
    } else if (filter instanceof StringStartsWith) {
      return putValue(target, "starts", ((StringStartsWith) filter).attribute(), ((StringStartsWith) filter).value());
    } else if (filter instanceof In) {
      ArrayNode values = Door.JSON.createArrayNode();
      Object[] given = ((In) filter).values();
      for (int i = 0; i < given.length; i++) {
        if (given[i] != null && !add(values, given[i])) {
          return false;
        }
      }
      return put(target, "in", ((In) filter).attribute(), values);
    }
    return false;
  }

  private static boolean putValue(ArrayNode target, String op, String column, Object value) {
    ArrayNode one = Door.JSON.createArrayNode();
    return add(one, value) && put(target, op, column, (JsonNode) one.get(0));
  }

  private static boolean put(ArrayNode target, String op, String column, JsonNode value) {
    String name = column.startsWith("`") ? column.substring(1, column.length() - 1).replace("``", "`") : column;
    target.addArray().add(op).add(name).add(value);
    return true;
  }

  /** Add a value in its JSON form; false if there is none that says it exactly. */
  private static boolean add(ArrayNode target, Object value) {
    if (value instanceof String || value instanceof java.time.LocalDate || value instanceof java.time.LocalDateTime) {
      target.add(value.toString());
    } else if (value instanceof Boolean) {
      target.add(((Boolean) value).booleanValue());
    } else if (value instanceof Byte || value instanceof Short || value instanceof Integer || value instanceof Long) {
      target.add(((Number) value).longValue());
    } else if (value instanceof Float || value instanceof Double) {
      double number = ((Number) value).doubleValue();
      if (Double.isNaN(number) || Double.isInfinite(number)) {
        return false;
      }
      target.add(number);
    } else if (value instanceof java.math.BigDecimal) {
      target.add(((java.math.BigDecimal) value).toPlainString());
    } else if (value instanceof java.sql.Date) {
      target.add(((java.sql.Date) value).toLocalDate().toString());
    } else if (value instanceof java.sql.Timestamp) {
      target.add(((java.sql.Timestamp) value).toInstant().toString());
    } else if (value instanceof java.time.Instant) {
      target.add(value.toString());
    } else if (value instanceof byte[]) {
      target.add(Base64.getEncoder().encodeToString((byte[]) value));
    } else {
      return false;
    }
    return true;
  }
}
