// Handing rows to Python, without weighing the batch again after each of them.
package org.headwater.spark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Properties;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.internal.SQLConf;

/**
 * Writers that take all rows of a task at once. Spark ends an Arrow batch at a number of rows or of bytes, and to know
 * the bytes it weighs the batch after every row, which takes longer than all else it does with one. As long as rows are
 * so narrow that their number ends a batch first, that is left out; from the first wider row on it is as Spark does it.
 */
public final class HandOverFactory implements DataWriterFactory {
  private final DataWriterFactory inner;

  public HandOverFactory(DataWriterFactory inner) {
    this.inner = inner;
  }

  public DataWriter createWriter(int partition, long task) {
    return new HandOverWriter(inner, partition, task);
  }
}

final class HandOverWriter implements DataWriter {
  private static final String LIMIT = "spark.sql.execution.arrow.maxBytesPerBatch";
  private static final String NONE = String.valueOf(Integer.MAX_VALUE);
  private final DataWriterFactory inner;
  private final int partition;
  private final long task;
  private final ArrayList messages = new ArrayList();

  HandOverWriter(DataWriterFactory inner, int partition, long task) {
    this.inner = inner;
    this.partition = partition;
    this.task = task;
  }

  public void writeAll(Iterator given) throws IOException {
    NarrowRows rows = new NarrowRows(given, widest());
    if (rows.hasNext()) {
      Properties settings = TaskContext.get().getLocalProperties(); // of this task alone
      Object before = settings.setProperty(LIMIT, NONE);
      try {
        handOver(rows);
      } finally {
        if (before == null) {
          settings.remove(LIMIT);
        } else {
          settings.put(LIMIT, before);
        }
      }
    }
    rows.takeAll();
    if (rows.hasNext()) {
      handOver(rows);
    }
  }

  /** The size of which the most rows that a batch may have are no more than the bytes it may have. */
  private static long widest() {
    int rows = SQLConf.get().arrowMaxRecordsPerBatch();
    return rows > 0 ? SQLConf.get().arrowMaxBytesPerBatch() / rows : 0;
  }

  private void handOver(Iterator rows) throws IOException {
    DataWriter writer = inner.createWriter(partition, task);
    try {
      writer.writeAll(rows);
      messages.add(writer.commit());
    } finally {
      writer.close();
    }
  }

  public void write(Object row) {
    throw new UnsupportedOperationException("rows come all at once");
  }

  public WriterCommitMessage commit() {
    return new Messages(messages);
  }

  public void abort() {}

  public void close() {}
}

/** Rows up to the first that is too wide, or whose width cannot be told; then, once all are taken, the rest. */
final class NarrowRows implements Iterator {
  private final Iterator rows;
  private long widest;
  private InternalRow next;

  NarrowRows(Iterator rows, long widest) {
    this.rows = rows;
    this.widest = widest;
  }

  void takeAll() {
    widest = Long.MAX_VALUE;
  }

  public boolean hasNext() {
    if (next == null && rows.hasNext()) {
      next = (InternalRow) rows.next();
    }
    return next != null && (widest == Long.MAX_VALUE || isNarrow(next));
  }

  private boolean isNarrow(InternalRow row) {
    return row instanceof UnsafeRow && ((UnsafeRow) row).getSizeInBytes() <= widest;
  }

  public Object next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    InternalRow row = next;
    next = null;
    return row;
  }
}
