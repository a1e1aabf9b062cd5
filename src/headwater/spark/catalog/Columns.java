// Spark's reader of Python data sources takes Arrow batches apart into rows. Here the batches stay whole.
package org.headwater.spark;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.List;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.UTF8String;

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
      columns[i] = new Lent((ArrowColumnVector) struct.getChild(i));
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

/**
 * A column of a batch that the reader fills anew for the next: who reads it must not close it, as Spark does. It is not an
 * `ArrowColumnVector`, because Spark takes each of those for memory of its own: from 4.2 on, Python functions keep them
 * while later batches are read. Other columns it knows to be filled anew, as those of Parquet files are.
 */
class Lent extends ColumnVector {
  private final ArrowColumnVector inner;
  private Lent[] members; // of a struct, an array or a map; made when they are asked for

  Lent(ArrowColumnVector inner) {
    super(inner.dataType());
    this.inner = inner;
  }

  public void close() {}

  public void closeIfFreeable() {}

  public boolean hasNull() {
    return inner.hasNull();
  }

  public int numNulls() {
    return inner.numNulls();
  }

  public boolean isNullAt(int row) {
    return inner.isNullAt(row);
  }

  public boolean getBoolean(int row) {
    return inner.getBoolean(row);
  }

  public byte getByte(int row) {
    return inner.getByte(row);
  }

  public short getShort(int row) {
    return inner.getShort(row);
  }

  public int getInt(int row) {
    return inner.getInt(row);
  }

  public long getLong(int row) {
    return inner.getLong(row);
  }

  public float getFloat(int row) {
    return inner.getFloat(row);
  }

  public double getDouble(int row) {
    return inner.getDouble(row);
  }

  public Decimal getDecimal(int row, int precision, int scale) {
    return inner.getDecimal(row, precision, scale);
  }

  public UTF8String getUTF8String(int row) {
    return inner.getUTF8String(row);
  }

  public byte[] getBinary(int row) {
    return inner.getBinary(row);
  }

  public ColumnarArray getArray(int row) {
    return isNullAt(row) ? null : new ColumnarArray(getChild(0), start(row), length(row));
  }

  public ColumnarMap getMap(int row) {
    ColumnVector entries = getChild(0);
    return isNullAt(row) ? null : new ColumnarMap(entries.getChild(0), entries.getChild(1), start(row), length(row));
  }

  private int start(int row) {
    return ((ListVector) inner.getValueVector()).getElementStartIndex(row);
  }

  private int length(int row) {
    return ((ListVector) inner.getValueVector()).getElementEndIndex(row) - start(row);
  }

  public ColumnVector getChild(int ordinal) {
    if (members == null) {
      List vectors = ((FieldVector) inner.getValueVector()).getChildrenFromFields();
      members = new Lent[vectors.size()];
      for (int i = 0; i < members.length; i++) {
        members[i] = new LentMember(new ArrowColumnVector((ValueVector) vectors.get(i)));
      }
    }
    return members[ordinal];
  }
}

/** Values inside others. Spark copies an array by asking for all its elements first; Arrow's NULLs are errors then. */
final class LentMember extends Lent {
  LentMember(ArrowColumnVector inner) {
    super(inner);
  }

  public boolean getBoolean(int row) {
    return isNullAt(row) ? false : super.getBoolean(row);
  }

  public byte getByte(int row) {
    return isNullAt(row) ? (byte) 0 : super.getByte(row);
  }

  public short getShort(int row) {
    return isNullAt(row) ? (short) 0 : super.getShort(row);
  }

  public int getInt(int row) {
    return isNullAt(row) ? 0 : super.getInt(row);
  }

  public long getLong(int row) {
    return isNullAt(row) ? 0 : super.getLong(row);
  }

  public float getFloat(int row) {
    return isNullAt(row) ? 0 : super.getFloat(row);
  }

  public double getDouble(int row) {
    return isNullAt(row) ? 0 : super.getDouble(row);
  }
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
