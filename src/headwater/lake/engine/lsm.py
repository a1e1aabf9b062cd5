"""The LSM tree: one sorted map from keys to rows, durable and fast to write.

    put, delete  → write-ahead log → memtable ─┐ full
    write_arrow  ────────────────→ memtable ─┘→ level 0 file → compaction → levels 1 …

A put is durable when it returns (with `wal.fsync = always`, also through a loss of power). Rows of `write_arrow`, and
all rows on a store that cannot append, such as S3, are durable when `flush` returns.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from headwater.errors import AlreadyExistsError, SchemaError, StorageError
from headwater.files import Appending, Files, Held, Locking, open_files
from headwater.lake.engine.batch import RowKind
from headwater.lake.engine.bounds import key_bounds
from headwater.lake.engine.cache import BlockCache, shared_cache
from headwater.lake.engine.compaction import CompactionPick
from headwater.lake.engine.data_files import Shelf
from headwater.lake.engine.headroom import OverflowCheck
from headwater.lake.engine.home import FolderHome, TreeHome
from headwater.lake.engine.keys import NativeKey, as_bytes
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.memtable import MemTable, MemTableState
from headwater.lake.engine.merge import merge_rule
from headwater.lake.engine.options import check_option_name, storage_options
from headwater.lake.engine.predicates import Where, check_where
from headwater.lake.engine.reads import Reads, ScanRequest
from headwater.lake.engine.recovery import RecoveredLog, list_logs, read_logs
from headwater.lake.engine.row import Row, RowCodec
from headwater.lake.engine.state import TreeStats, tree_stats
from headwater.lake.engine.stored import delete_values, stored_batch, stored_values
from headwater.lake.engine.types import arrow_schema, conform
from headwater.lake.engine.upkeep import BucketSource, Upkeep
from headwater.lake.engine.version import ONLY, Place, Version
from headwater.lake.engine.wal import WAL, RecordType, encode_record
from headwater.model.schema import Schema, check_schema

_logger = logging.getLogger("headwater.lake")
_BATCH_BYTES = 256 << 20  # a larger table is taken in parts, so that Arrow's 32-bit offsets suffice


class LSMTree:
    """One tree in one folder of a store. One process writes it at a time; any thread may read and write."""

    def __init__(
        self,
        store: Files | str | Path,
        schema: Schema,
        *,
        folder: str = "",
        cache: BlockCache | None = None,
        schema_of: Callable[[int], Schema] | None = None,
        read_only: bool = False,
        home: TreeHome | None = None,
    ) -> None:
        """Open the tree, or begin one where there is none. Its options are those of the schema.
        `schema_of` finds the schemas of older files. Rows that a crash left in write-ahead logs are written to data
        files first. `home` is for trees that have no folder of their own: the row writer of a table has one there.
        RAISES: SchemaError for an option that does not exist, StorageError when another process writes the tree,
        CorruptFileError when a log is damaged."""
        self.files = open_files(store) if isinstance(store, str | Path) else store
        self.schema = check_schema(schema)
        if not schema.primary_keys:
            raise SchemaError("a tree needs a primary key")
        self.paths = PathFactory(folder)
        self.options = storage_options(schema.options)
        self.read_only = read_only
        self.recovered: list[RecoveredLog] = []
        self.stalls = 0
        self.stalled_seconds = 0.0
        self._closed = False
        self._writing = threading.RLock()
        self._rows = RowCodec(schema)
        self._rule = merge_rule(schema, schema.options)
        self._key_at = tuple(schema.names.index(name) for name in schema.primary_keys)
        self._held = self._lock() if home is None else None
        self._home: TreeHome = home or self._own_folder(folder, cache, schema_of)
        self._codec = self._home.shelf.codec
        self._upkeep = Upkeep(self._home, rule=self._rule, options=self.options)
        self._buckets: dict[Place, Reads] = {}
        self._reads = self._bucket(ONLY)
        self._overflow = OverflowCheck(self._upkeep, self._home, self.schema, self._rule)
        self._recover()

    def put(self, row: Row | Mapping[str, Any] | Sequence[Any]) -> None:
        """Write one row; it replaces or joins the row of the same key, as the merge engine says.
        RAISES: SchemaError naming the column that does not fit."""
        self.put_many((row,))

    def put_many(self, rows: Iterable[Row | Mapping[str, Any] | Sequence[Any]]) -> None:
        """Write rows, all of them checked before the first is written, with one sync for all."""
        writes = []
        for row in rows:
            data, values = self._rows.check(row)
            key = self._codec.native(tuple([values[at] for at in self._key_at]))
            writes.append((RecordType.PUT, key, data, stored_values(self._codec, values)))
        self._write(writes)

    def delete(self, key: Any) -> None:
        """Remove the row of a key, if there is one. A key of several columns is a tuple."""
        native = self._codec.native(key)
        self._write([(RecordType.DELETE, native, b"", delete_values(self._codec, native))])

    def write_arrow(
        self, data: pa.Table | pa.RecordBatch | pa.RecordBatchReader, *, kind: RowKind = RowKind.PUT
    ) -> int:
        """Write rows by the column; returns how many. They are durable when `flush` returns. With `Kind.DELETE` only
        the key columns are looked at. RAISES: SchemaError naming the column that does not fit."""
        if isinstance(data, pa.RecordBatchReader):
            return sum(self.write_arrow(batch, kind=kind) for batch in data)
        if kind is RowKind.DELETE:
            table = conform(data.select(list(self.schema.primary_keys)), Schema(self._codec.fields))
        else:
            table = conform(data, self.schema)
        step = max(1, table.num_rows * _BATCH_BYTES // max(1, table.nbytes))
        for start in range(0, table.num_rows, step):
            self._add(table.slice(start, step), kind)
        return int(table.num_rows)

    def get(self, key: Any) -> Row | None:
        """The row of a key. A key of several columns is a tuple."""
        native = self._codec.native(key)
        return self._bucket(self._home.place_of(native)).get(native)

    def multi_get(self, keys: Iterable[Any]) -> list[Row | None]:
        """The rows of many keys, in their order."""
        natives = [self._codec.native(key) for key in keys]
        by_place: dict[Place, list[NativeKey]] = {}
        for native in natives:
            by_place.setdefault(self._home.place_of(native), []).append(native)
        found: dict[NativeKey, Row | None] = {}
        for place, wanted in by_place.items():
            found.update(zip(wanted, self._bucket(place).multi_get(wanted)))
        return [found[native] for native in natives]

    def scan(
        self, columns: Sequence[str] | None = None, *, lower: Any = None, upper: Any = None, where: Where = None
    ) -> Iterator[pa.RecordBatch]:
        """The rows with `lower` ≤ key ≤ `upper` that meet all of `where`, in key order, as they are at this moment.
        Files and blocks that cannot hold such rows are not read."""
        return self._reads.scan(self._request(columns, lower, upper, where))

    def to_arrow(
        self, columns: Sequence[str] | None = None, *, lower: Any = None, upper: Any = None, where: Where = None
    ) -> pa.Table:
        """Return what `scan` gives, as one table."""
        request = self._request(columns, lower, upper, where)
        schema = arrow_schema(tuple(self.schema.field(name) for name in request.columns))
        batches = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in self._reads.scan(request))
        return pa.Table.from_batches(batches, schema)

    def flush(self) -> None:
        """Write all rows in memory to data files; when this returns they are live and durable."""
        with self._writing:
            self._require_open()
            if len(self._active):
                self._rotate()
        self._upkeep.flush_all()

    def compact(self, *, full: bool = True) -> CompactionPick | None:
        """Flush, then merge all runs into one, or only what is due; returns what was done."""
        self.flush()
        return self._upkeep.compact(full=full)

    def compact_due(self) -> None:
        """Compact the buckets that flushes have added to, where it is due."""
        self._upkeep.compact_due()

    def refresh(self) -> None:
        """See what other writers have committed, in a tree that is not alone in its folder."""
        self._upkeep.refresh()

    def explain(
        self, key: Any = None, *, lower: Any = None, upper: Any = None, where: Where = None
    ) -> dict[str, Any]:
        """Return what a `get` of the key, or without one a `scan`, reads: memtables, runs, Bloom probes, blocks,
        bytes."""
        if key is not None:
            return self._reads.explain_get(self._codec.native(key))
        return self._reads.explain_scan(self._request(None, lower, upper, where))

    @property
    def shelf(self) -> Shelf:
        """Return how data files are read."""
        return self._home.shelf

    @property
    def version(self) -> Version:
        """The live data files."""
        return self._upkeep.state.version

    @property
    def stats(self) -> TreeStats:
        """Levels, memory, amplification, cache."""
        return tree_stats(self._upkeep.state, self._upkeep.cache, self.stalls, self.stalled_seconds)

    def close(self) -> None:
        """Flush and let go of the tree; closing twice is harmless."""
        if self._closed:
            return
        try:
            if not self.read_only:
                self.flush()
                # everything is in data files: the log of the active memtable holds nothing
                with self._writing:
                    self._active.close_wal()
                    if self._active.wal is not None and not len(self._active):
                        self.files.delete(self._home.logs.wal(self._active.sequence))
        finally:
            self._closed = True
            self._upkeep.settle()
            if self._held is not None:
                self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _own_folder(
        self, folder: str, cache: BlockCache | None, schema_of: Callable[[int], Schema] | None
    ) -> FolderHome:
        for name in self.schema.options:
            check_option_name(name)
        own = BlockCache(self.options.cache_size) if self.options.cache_size else shared_cache
        return FolderHome(
            *(self.files, folder, self.schema),
            options=self.options,
            cache=cache or own,
            schema_of=schema_of or (lambda schema_id: self.schema),
        )

    def _bucket(self, place: Place) -> Reads:
        """Point reads and scans of one bucket."""
        reads = self._buckets.get(place)
        if reads is None:
            source = BucketSource(self._upkeep, place)
            reads = self._buckets[place] = Reads(source, self._codec, self.schema, self._rule)
        return reads

    def _lock(self) -> Held | None:
        if self.read_only or not isinstance(self.files, Locking):
            return None
        return self.files.lock(self.paths.lock)

    def _recover(self) -> None:
        """Bring back what was in memory when the last process ended, and begin a memtable."""
        logs = list_logs(self.files, self._home.logs)
        lost = [(sequence, path) for sequence, path in logs if not self._home.has_landed(sequence)]
        memtables, self.recovered = read_logs(self.files, lost, schema=self.schema, rule=self._rule)
        for memtable in memtables:
            memtable.state = MemTableState.IMMUTABLE
            self._upkeep.push(memtable)
        if not self.read_only:
            self._upkeep.flush_all()
            for _, path in logs:
                self.files.delete(path)
        for log in self.recovered:
            _logger.info("recovery log=%s records=%d torn_at=%s", log.path, log.records, log.torn_at)
        self._begin_memtable()

    def _begin_memtable(self) -> None:
        newer = max((table.sequence + 1 for table in self._upkeep.memtables), default=0)
        sequence = self._home.next_sequence(newer)
        wal = self._begin_wal(sequence)
        sequence = sequence if wal is None else wal.sequence
        self._active = MemTable(self._codec, self._rule, sequence=sequence, wal=wal)
        self._upkeep.push(self._active)

    def _begin_wal(self, sequence: int) -> WAL | None:
        """A new log with this sequence, or the next one that a failed attempt has not left behind."""
        if not self.options.wal_enabled or self.read_only or not isinstance(self.files, Appending):
            return None
        while True:
            try:
                appender = self.files.appender(self._home.logs.wal(sequence))
            except AlreadyExistsError:
                sequence += 1
                continue
            interval = self.options.wal_interval_millis
            return WAL(appender, sequence, fsync=self.options.wal_fsync, interval_millis=interval)

    def _write(self, writes: list[tuple[RecordType, NativeKey, bytes, tuple[Any, ...]]]) -> None:
        """Log writes, put them in memory, and wait for the log."""
        records = b"".join([encode_record(type, as_bytes(key), data) for type, key, data, _ in writes])
        with self._writing:
            self._make_room()
            if self._overflow.is_needed:
                puts = [(key, values) for type, key, _, values in writes if type is RecordType.PUT]
                self._admit(lambda: self._overflow.admits_rows(puts))
            memtable = self._active
            synced_at = memtable.wal.append(records) if memtable.wal is not None else 0
            for type, key, data, values in writes:
                kind = RowKind.DELETE if type is RecordType.DELETE else RowKind.PUT
                memtable.put(key, kind, values, len(data) + 16)
            self._rotate_if_full()
        if memtable.wal is not None:
            memtable.wal.wait(synced_at)

    def _add(self, rows: pa.Table, kind: RowKind) -> None:
        batch = stored_batch(self._codec, rows, kind)
        with self._writing:
            self._make_room()
            if self._overflow.is_needed and kind is RowKind.PUT:
                batch = self._overflow.merged(batch)
                self._admit(lambda: self._overflow.admits_batch(batch))
            self._active.add(batch)
            self._rotate_if_full()

    def _admit(self, admits: Callable[[], bool]) -> None:
        """RAISES: ValueOverflowError when a sum or product would leave the range of its column."""
        if not admits():
            self._upkeep.flush_soon(self._rotate())
            admits()

    def _make_room(self) -> None:
        """Wait while there are too many memtables to flush or runs to compact; then begin a new one if it is time."""
        self._require_open()
        upkeep = self._upkeep
        if self._is_crowded():
            self.stalls += 1
            begin = time.perf_counter()
            with upkeep.changed:
                while self._is_crowded():
                    upkeep.raise_failure()
                    upkeep.changed.wait(1.0)
            self.stalled_seconds += time.perf_counter() - begin
        upkeep.raise_failure()
        self._rotate_if_full()

    def _is_full(self) -> bool:
        return self._active.memory >= self.options.memtable_size * self.options.flush_threshold

    def _is_crowded(self) -> bool:
        if self._is_full() and len(self._upkeep.memtables) >= self.options.max_memtables:
            return True
        return self._upkeep.is_behind

    def _rotate_if_full(self) -> None:
        """Begin a new memtable and flush the full one, if there may be one more; else the next write waits."""
        if self._is_full() and len(self._upkeep.memtables) < self.options.max_memtables:
            self._upkeep.flush_soon(self._rotate())

    def _rotate(self) -> MemTable:
        """Begin a new memtable; the full one takes no more writes. Nothing changes if that fails."""
        full = self._active
        self._begin_memtable()
        full.state = MemTableState.IMMUTABLE
        return full

    def _require_open(self) -> None:
        if self._closed:
            raise StorageError("the tree is closed")
        if self.read_only:
            raise StorageError("the tree was opened for reading only")

    def _request(self, columns: Sequence[str] | None, lower: Any, upper: Any, where: Where) -> ScanRequest:
        checked = check_where(where, self.schema)
        names = [self.schema.field(name).name for name in columns] if columns is not None else list(self.schema.names)
        bounds = key_bounds(checked, self._codec)
        low = max((key for key in (self._bound(lower), bounds.lower) if key is not None), default=None)
        high = min((key for key in (self._bound(upper), bounds.upper) if key is not None), default=None)
        return ScanRequest(names, low, high, checked)

    def _bound(self, key: Any) -> NativeKey | None:
        return None if key is None else self._codec.native(key)
