// Spark's reader of Python data sources takes Arrow batches apart into rows. Here the batches stay whole.
package org.headwater.spark;

import java.io.IOException;
import java.lang.reflect.Field;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.sql.vectorized.ColumnarBatchRow;

/** A batch read whose tasks hand on columns. */
final class ColumnsBatch implements Batch {
  private final Batch inner;

  ColumnsBatch(Batch inner) {
    this.inner = inner;
  }

  public InputPartition[] planInputPartitions() {
    return inner.planInputPartitions();
  }

  public PartitionReaderFactory createReaderFactory() {
    PartitionReaderFactory factory = inner.createReaderFactory();
    return Peek.isKnown(factory) ? (PartitionReaderFactory) new ColumnsReaderFactory(factory) : factory;
  }
}

public final class ColumnsReaderFactory implements PartitionReaderFactory {
  private final PartitionReaderFactory inner;

  public ColumnsReaderFactory(PartitionReaderFactory inner) {
    this.inner = inner;
  }

  public PartitionReader createReader(InputPartition partition) {
    return inner.createReader(partition);
  }

  public boolean supportColumnarReads(InputPartition partition) {
    return true;
  }

  public PartitionReader createColumnarReader(InputPartition partition) {
    return new ColumnsReader(inner.createReader(partition));
  }
}

/**
 * The batches below an iterator of rows. Spark's reader maps a projection over the rows of one batch after the other;
 * a row of a batch knows its columns, and they know how many rows they have.
 */
final class ColumnsReader implements PartitionReader {
  private final PartitionReader inner;
  private final scala.collection.Iterator rows;
  private ColumnarBatch batch;

  ColumnsReader(PartitionReader inner) {
    this.inner = inner;
    this.rows = (scala.collection.Iterator) Peek.at(Peek.at(inner, "outputIter"), "$outer");
  }

  public boolean next() {
    if (!rows.hasNext()) {
      return false;
    }
    ColumnVector[] columns = (ColumnVector[]) Peek.at(rows.next(), "columns");
    int count = ((ArrowColumnVector) columns[0]).getValueVector().getValueCount();
    for (int i = 1; i < count; i++) {
      rows.next();
    }
    batch = new ColumnarBatch(columns, count);
    return true;
  }

  public Object get() {
    return batch;
  }

  public void close() throws IOException {
    inner.close();
  }

  public org.apache.spark.sql.connector.metric.CustomTaskMetric[] currentMetricsValues() {
    return inner.currentMetricsValues();
  }
}

final class Peek {
  /** Whether readers of a factory are made as we know them; else its rows are taken as they come. */
  static boolean isKnown(PartitionReaderFactory factory) {
    try {
      Class.forName(factory.getClass().getName() + "$$anon$1").getDeclaredField("outputIter");
      Class.forName("scala.collection.Iterator$$anon$9").getDeclaredField("$outer");
      ColumnarBatchRow.class.getDeclaredField("columns");
      return true;
    } catch (ReflectiveOperationException error) {
      return false;
    }
  }

  /** The value of a field that is not public. */
  static Object at(Object thing, String name) {
    for (Class type = thing.getClass(); type != null; type = type.getSuperclass()) {
      try {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(thing);
      } catch (NoSuchFieldException error) {
        continue;
      } catch (IllegalAccessException error) {
        throw new IllegalStateException(error);
      }
    }
    throw new IllegalStateException(thing.getClass() + " has no " + name);
  }
}
