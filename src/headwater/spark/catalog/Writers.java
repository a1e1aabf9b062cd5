// What runs in tasks: Spark gives the changes of UPDATE, DELETE and MERGE row by row, and Python takes them in batches.
package org.headwater.spark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;

/** The messages of the Python writers that one task has used, one after the other. */
public final class Messages implements WriterCommitMessage {
  public final ArrayList inner;

  public Messages(ArrayList inner) {
    this.inner = inner;
  }
}

/** Rows on their way to Python: kept until they are worth a batch, so that memory is bounded. */
final class Rows {
  private static final int MOST = 100000;
  private final DataWriterFactory inner;
  private final int partition;
  private final long task;
  private final ArrayList messages = new ArrayList();
  private ArrayList rows = new ArrayList();

  Rows(DataWriterFactory inner, int partition, long task) {
    this.inner = inner;
    this.partition = partition;
    this.task = task;
  }

  void add(InternalRow row) throws IOException {
    rows.add(row);
    if (rows.size() >= MOST) {
      flush();
    }
  }

  WriterCommitMessage finish() throws IOException {
    flush();
    return new Messages(messages);
  }

  private void flush() throws IOException {
    if (rows.isEmpty()) {
      return;
    }
    DataWriter writer = inner.createWriter(partition, task);
    writer.writeAll(rows.iterator());
    messages.add(writer.commit());
    writer.close();
    rows = new ArrayList();
  }
}

/** Writes the rows of files that are rewritten whole. */
public final class RewriteFactory implements DataWriterFactory {
  private final DataWriterFactory inner;
  private final DataType[] types;

  public RewriteFactory(DataWriterFactory inner, DataType[] types) {
    this.inner = inner;
    this.types = types;
  }

  public DataWriter createWriter(int partition, long task) {
    return new RewriteWriter(new Rows(inner, partition, task), types);
  }
}

final class RewriteWriter implements DataWriter {
  private final Rows rows;
  private final DataType[] types;

  RewriteWriter(Rows rows, DataType[] types) {
    this.rows = rows;
    this.types = types;
  }

  public void write(Object given) throws IOException {
    InternalRow row = ((InternalRow) given).copy();
    int before = row.numFields() - types.length; // Spark 4.1 leaves in front what it did to the row
    if (before == 0) {
      rows.add(row);
      return;
    }
    Object[] values = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      values[i] = row.get(before + i, types[i]);
    }
    rows.add(new GenericInternalRow(values));
  }

  public WriterCommitMessage commit() throws IOException {
    return rows.finish();
  }

  public void abort() {}

  public void close() {}
}

/** Writes changes of a table with a key: rows with their kind, deletes with nothing but their key. */
public final class EditFactory implements DeltaWriterFactory {
  final DataWriterFactory inner;
  final int width;
  final int[] keys; // where the columns of the key are in a row
  final DataType[] types; // and what they are
  final boolean deletesFirst; // whether an update must delete, since a row does not replace but adds to an older one

  public EditFactory(DataWriterFactory inner, int width, int[] keys, DataType[] types, boolean deletesFirst) {
    this.inner = inner;
    this.width = width;
    this.keys = keys;
    this.types = types;
    this.deletesFirst = deletesFirst;
  }

  public DeltaWriter createWriter(int partition, long task) {
    return new EditWriter(this, new Rows(inner, partition, task));
  }
}

final class EditWriter implements DeltaWriter {
  private static final UTF8String DELETE = UTF8String.fromString("-D");
  private static final InternalRow KEPT = new GenericInternalRow(new Object[] {UTF8String.fromString("+U")});
  private static final InternalRow FRESH = new GenericInternalRow(new Object[] {UTF8String.fromString("+I")});
  private final EditFactory edit;
  private final Rows rows;

  EditWriter(EditFactory edit, Rows rows) {
    this.edit = edit;
    this.rows = rows;
  }

  public void delete(Object metadata, Object id) throws IOException {
    InternalRow key = ((InternalRow) id).copy();
    Object[] values = new Object[edit.width + 1];
    for (int i = 0; i < edit.keys.length; i++) {
      values[edit.keys[i]] = key.get(i, edit.types[i]);
    }
    values[edit.width] = DELETE;
    rows.add(new GenericInternalRow(values));
  }

  public void update(Object metadata, Object id, Object row) throws IOException {
    boolean moved = isMoved((InternalRow) id, (InternalRow) row);
    if (edit.deletesFirst || moved) {
      delete(metadata, id);
    }
    add(row, moved ? FRESH : KEPT);
  }

  public void reinsert(Object metadata, Object row) throws IOException {
    insert(row);
  }

  public void insert(Object row) throws IOException {
    add(row, FRESH);
  }

  public WriterCommitMessage commit() throws IOException {
    return rows.finish();
  }

  public void abort() {}

  public void close() {}

  private void add(Object row, InternalRow kind) throws IOException {
    rows.add(new JoinedRow(((InternalRow) row).copy(), kind));
  }

  private boolean isMoved(InternalRow id, InternalRow row) {
    for (int i = 0; i < edit.keys.length; i++) {
      Object before = id.get(i, edit.types[i]);
      Object after = row.get(edit.keys[i], edit.types[i]);
      boolean same = before instanceof byte[] ? Arrays.equals((byte[]) before, (byte[]) after) : before.equals(after);
      if (!same) {
        return true;
      }
    }
    return false;
  }
}
