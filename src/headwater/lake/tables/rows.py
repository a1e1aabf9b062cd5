"""Writing rows one by one: durable when `put` returns, visible to others when a flush has committed them.

Rows go to a write-ahead log and to memory; a flush routes them to their buckets and commits them as one snapshot. The
log is named by the moment it began, and its commit by the log: if a process dies between the commit and the removal
of the log, the next writer finds the commit and does not repeat it. Where a store cannot append (S3), there is no
log, and rows are durable when `flush` returns.
"""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from headwater.errors import AlreadyExistsError, StorageError
from headwater.files import Appending, Held, Locking
from headwater.lake.engine.batch import Kind, to_rows
from headwater.lake.engine.keys import NativeKey, as_bytes
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.memtable import MemTable
from headwater.lake.engine.merge import merge_batches
from headwater.lake.engine.reads import Reads
from headwater.lake.engine.recovery import read_logs
from headwater.lake.engine.row import Row, RowCodec
from headwater.lake.engine.stored import delete_values, stored_values
from headwater.lake.engine.version import Version
from headwater.lake.engine.wal import WAL, RecordType, encode_record
from headwater.lake.metadata.commit import Change, PlacedFile
from headwater.lake.metadata.snapshot import Operation, Snapshot
from headwater.lake.tables.maintenance import ROWS, compact_if_due
from headwater.lake.tables.read import require_key
from headwater.lake.tables.routing import place_of, route_batch
from headwater.lake.tables.shape import UNDECIDED, Shape
from headwater.lake.tables.state import Still
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.writes import commit, decide_buckets, discard, write_routed


class RowWriter:
    """Puts and deletes of single rows. One process at a time; any thread."""

    def __init__(self, store: TableStore) -> None:
        """Open the writer; rows that a crash left in logs are committed first.

        RAISES: UsageError for a table without a key, StorageError when another process writes rows.
        """
        shape = store.shape()
        require_key(store, shape, "write rows one by one")
        self._store = store
        self._shape = decide_buckets(store, 0) if shape.buckets == UNDECIDED else shape
        self._held: Held | None = store.files.lock(store.paths.lock) if isinstance(store.files, Locking) else None
        self._rows = RowCodec(self._shape.schema)
        self._key_at = tuple(self._shape.schema.names.index(name) for name in self._shape.schema.primary_keys)
        self._lock = threading.RLock()
        self._waiting: list[MemTable] = []  # full, not committed yet, oldest first
        self._tried: set[int] = set()  # logs whose commit may have landed, its answer lost
        self._closed = False
        try:
            self._recover()
            self._active = self._begin()
        except BaseException:
            self._release()
            raise

    def put(self, row: Row | Mapping[str, Any] | Sequence[Any]) -> None:
        """Write one row. RAISES: SchemaError naming table and column that does not fit."""
        self.put_many((row,))

    def put_many(self, rows: Iterable[Row | Mapping[str, Any] | Sequence[Any]]) -> None:
        """Write rows, all of them checked before the first is written, with one sync for all."""
        codec, writes = self._shape.codec, []
        with self._store.naming():
            for row in rows:
                data, values = self._rows.check(dict(row.items()) if isinstance(row, Row) else row)
                key = codec.native(tuple(values[at] for at in self._key_at))
                writes.append((RecordType.PUT, key, data, stored_values(codec, values)))
        self._write(writes)

    def delete(self, key: Any) -> None:
        """Remove the row of a key, if there is one."""
        with self._store.naming():
            native = self._shape.codec.native(key)
        self._write([(RecordType.DELETE, native, b"", delete_values(self._shape.codec, native))])

    def get(self, key: Any) -> Row | None:
        """The row of a key, with what this writer has not committed yet."""
        shape, state = self._shape, self._store.latest()
        with self._store.naming():
            native = shape.codec.native(key)
        place = place_of(native, shape)
        with self._lock:
            memtables = (self._active, *reversed(self._waiting))
        still = Still(self._store.shelf(shape), state.places.get(place, ()), memtables)
        return Reads(still, shape.codec, shape.stored, shape.rule).multi_get([native])[0]

    def flush(self) -> Snapshot | None:
        """Commit what was written since the last flush as one snapshot; None if there was nothing."""
        with self._lock:
            self._require_open()
            if len(self._active):
                fresh = self._begin()
                self._waiting.append(self._active)
                self._active = fresh
            snapshot = None
            while self._waiting:
                snapshot = self._commit(self._waiting[0], self._shape, self._logs)
                self._waiting.pop(0)
                compact_if_due(self._store, snapshot)
            return snapshot

    def close(self) -> None:
        """Flush and let go; closing twice is harmless."""
        if self._closed:
            return
        try:
            self.flush()
            self._active.close_wal()
            if self._active.wal is not None:
                self._store.files.delete(self._logs.wal(self._active.sequence))
        finally:
            self._closed = True
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def _logs(self) -> PathFactory:
        return self._store.paths.rows(self._shape.schema.id)

    def _recover(self) -> None:
        """Commit the rows of logs that an earlier writer left, each under the schema it was written by."""
        for id in self._store.schemas.list_schemas():
            shape, paths = self._store.shape(id), self._store.paths.rows(id)
            if not shape.is_keyed or not self._store.files.list(paths.wal_folder):
                continue
            shape = replace(shape, buckets=self._shape.buckets)
            tables, logs = read_logs(self._store.files, paths, Version(), schema=shape.schema, rule=shape.rule)
            for memtable, log in zip(tables, logs):
                if len(memtable):
                    self._commit(memtable, shape, paths, replayed=True)
                self._store.files.delete(log.path)

    def _begin(self) -> MemTable:
        """A new memtable and its log. Sequences are microseconds since 1970, so that none comes twice."""
        sequence = time.time_ns() // 1000
        files, options = self._store.files, self._shape.options
        wal = None
        while options.wal_enabled and isinstance(files, Appending):
            try:
                appender = files.appender(self._logs.wal(sequence))
            except AlreadyExistsError:
                sequence += 1
                continue
            wal = WAL(appender, sequence, fsync=options.wal_fsync, interval_millis=options.wal_interval_millis)
            break
        return MemTable(self._shape.codec, self._shape.rule, sequence=sequence, wal=wal)

    def _write(self, writes: list[tuple[RecordType, NativeKey, bytes, tuple[Any, ...]]]) -> None:
        records = b"".join([encode_record(type, as_bytes(key), data) for type, key, data, _ in writes])
        with self._lock:
            self._require_open()
            if self._active.memory >= self._shape.options.memtable_size * self._shape.options.flush_threshold:
                self.flush()
            memtable = self._active
            synced_at = memtable.wal.append(records) if memtable.wal is not None else 0
            for type, key, data, values in writes:
                kind = Kind.DELETE if type is RecordType.DELETE else Kind.PUT
                memtable.put(key, kind, values, len(data) + 16)
        if memtable.wal is not None:
            memtable.wal.wait(synced_at)

    def _commit(self, memtable: MemTable, shape: Shape, logs: PathFactory, *, replayed: bool = False) -> Snapshot:
        """Write the rows of a memtable to their buckets and commit them, once."""
        store = self._store
        memtable.close_wal()
        batch = merge_batches(memtable.runs(), shape.rule)
        rows = to_rows(batch, shape.codec, shape.schema.partition_keys or shape.schema.primary_keys)
        added: list[PlacedFile] = []
        try:
            for routed in route_batch(batch, rows, shape):
                added += write_routed(store, shape, routed)
        except BaseException:
            discard(store, added)
            raise
        id = str(memtable.sequence)
        again = replayed or memtable.sequence in self._tried
        change = Change(Operation.INSERT, ROWS, id, shape.schema.id, tuple(added), replayed=again)
        self._tried.add(memtable.sequence)
        snapshot = commit(store, change)
        if memtable.wal is not None:
            store.files.delete(logs.wal(memtable.sequence))
        return snapshot

    def _require_open(self) -> None:
        if self._closed:
            raise StorageError(f"the row writer of {self._store.name} is closed")

    def _release(self) -> None:
        if self._held is not None:
            self._held.close()
