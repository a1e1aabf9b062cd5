// Aggregates over a whole table that tasks compute where they read, so that one row travels instead of millions.
package org.headwater.spark;

import com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.aggregate.AggregateFunc;
import org.apache.spark.sql.connector.expressions.aggregate.Count;
import org.apache.spark.sql.connector.expressions.aggregate.CountStar;
import org.apache.spark.sql.connector.expressions.aggregate.Max;
import org.apache.spark.sql.connector.expressions.aggregate.Min;
import org.apache.spark.sql.connector.expressions.aggregate.Sum;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Only what has the same answer in any order and cannot overflow: no sums of BIGINT, decimals or fractions. */
final class Aggregates {
  /** Add an aggregate as JSON, `["sum", "n"]`; returns the type of its result, null if it is Spark's to compute. */
  static DataType put(ArrayNode target, AggregateFunc function, StructType columns) {
    if (function instanceof CountStar) {
      target.addArray().add("count").add("");
      return DataTypes.LongType;
    } else if (function instanceof Count && !((Count) function).isDistinct()) {
      return put(target, "count", ((Count) function).column(), columns);
    } else if (function instanceof Sum && !((Sum) function).isDistinct()) {
      return put(target, "sum", ((Sum) function).column(), columns);
    } else if (function instanceof Min) {
      return put(target, "min", ((Min) function).column(), columns);
    }
    return function instanceof Max ? put(target, "max", ((Max) function).column(), columns) : null;
  }

  private static DataType put(ArrayNode target, String name, Expression over, StructType columns) {
    if (!(over instanceof NamedReference) || ((NamedReference) over).fieldNames().length != 1) {
      return null;
    }
    String column = ((NamedReference) over).fieldNames()[0];
    DataType type = columns.fields()[columns.fieldIndex(column)].dataType();
    boolean small = type.equals(DataTypes.ByteType) || type.equals(DataTypes.ShortType) || type.equals(DataTypes.IntegerType);
    boolean ordered = small || type.equals(DataTypes.LongType) || type.equals(DataTypes.DateType)
        || type.equals(DataTypes.StringType);
    if (name.equals("sum") && !small || !name.equals("count") && !name.equals("sum") && !ordered) {
      return null;
    }
    target.addArray().add(name).add(column);
    return name.equals("count") || name.equals("sum") ? DataTypes.LongType : type;
  }
}
