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

/** A batch read whose tasks hand on columns. */
final class ColumnsBatch implements Batch {
  private final Batch inner;
  private final int width;

  ColumnsBatch(Batch inner, int width) {
    this.inner = inner;
    this.width = width;
  }

  public InputPartition[] planInputPartitions() {
    return inner.planInputPartitions();
  }

  public PartitionReaderFactory createReaderFactory() {
    PartitionReaderFactory factory = inner.createReaderFactory();
    return Peek.isKnown(factory) ? (PartitionReaderFactory) new ColumnsReaderFactory(factory, width) : factory;
  }
}

public final class ColumnsReaderFactory implements PartitionReaderFactory {
  private final PartitionReaderFactory inner;
  private final int width;

  public ColumnsReaderFactory(PartitionReaderFactory inner, int width) {
    this.inner = inner;
    this.width = width;
  }

  public PartitionReader createReader(InputPartition partition) {
    return inner.createReader(partition);
  }

  public boolean supportColumnarReads(InputPartition partition) {
    return true;
  }

  public PartitionReader createColumnarReader(InputPartition partition) {
    return new ColumnsReader(inner.createReader(partition), width);
  }
}

/**
 * The batches below an iterator of rows. Spark's reader makes rows of one batch after the other (`flatMap`) and maps a
 * projection over them (`map`); below both are batches of one column, a struct that has ours as its members.
 */
final class ColumnsReader implements PartitionReader {
  private final PartitionReader inner;
  private final int width;
  private final scala.collection.Iterator batches;
  private ColumnarBatch batch;

  ColumnsReader(PartitionReader inner, int width) {
    this.inner = inner;
    this.width = width;
    this.batches = (scala.collection.Iterator) Peek.at(Peek.at(Peek.at(inner, "outputIter"), "$outer"), "$outer");
  }

  public boolean next() {
    if (!batches.hasNext()) {
      return false;
    }
    ColumnarBatch whole = (ColumnarBatch) batches.next();
    ArrowColumnVector struct = (ArrowColumnVector) whole.column(0);
    ColumnVector[] columns = new ColumnVector[width];
    for (int i = 0; i < width; i++) {
      columns[i] = new Lent(((ArrowColumnVector) struct.getChild(i)).getValueVector());
    }
    batch = new ColumnarBatch(columns, whole.numRows());
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

/** A column of a batch that the reader fills anew for the next: who reads it must not close it, as Spark does. */
final class Lent extends ArrowColumnVector {
  Lent(org.apache.arrow.vector.ValueVector vector) {
    super(vector);
  }

  public void close() {}

  public void closeIfFreeable() {}
}

final class Peek {
  /** Whether readers of a factory are made as we know them; else its rows are taken as they come. */
  static boolean isKnown(PartitionReaderFactory factory) {
    try {
      Class.forName(factory.getClass().getName() + "$$anon$1").getDeclaredField("outputIter");
      Class.forName("scala.collection.Iterator$$anon$9").getDeclaredField("$outer");
      Class.forName("scala.collection.Iterator$$anon$10").getDeclaredField("$outer");
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
