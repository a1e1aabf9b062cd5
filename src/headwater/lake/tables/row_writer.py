"""Writing rows one by one: durable when `put` returns, visible to others when a flush has committed them.

The writer is an `LSMTree` over the whole table: one write-ahead log and one set of memtables for all buckets. A flush
sorts rows into their buckets and commits them as one snapshot, so the version log of the tree is the table's own
history. A log is named by a sequence, and the commit of its rows by the log: if a process dies between the commit and
the removal of the log, the next writer sees that the rows have landed. Where a store cannot append (S3), there is no
log, and rows are durable when `flush` returns.
"""

import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import Any, Self

from headwater.errors import CommitConflictError
from headwater.files import Held, Locking
from headwater.lake.engine.batch import SortedBatch, to_rows
from headwater.lake.engine.keys import NativeKey
from headwater.lake.engine.lsm import LSMTree
from headwater.lake.engine.recovery import list_logs
from headwater.lake.engine.row import Row
from headwater.lake.engine.version import Place, Version, VersionEdit
from headwater.lake.engine.write import FileWriter
from headwater.lake.metadata.commit import PlacedFile, TableChange
from headwater.lake.metadata.snapshot import Operation, Snapshot
from headwater.lake.tables.maintenance import ROWS, commit_compaction
from headwater.lake.tables.read import require_key
from headwater.lake.tables.routing import place_of, route_batch
from headwater.lake.tables.shape import UNDECIDED, Shape
from headwater.lake.tables.state import TableState
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.writes import commit, decide_buckets


class TableVersion:
    """The files of a table at one snapshot, as a tree sees them."""

    def __init__(self, state: TableState) -> None:
        self.number = state.snapshot_id
        self._state = state

    def of(self, place: Place) -> Version:
        return Version(number=self.number, files=self._state.places.get(place, ()))


class SnapshotVersions:
    """The snapshots of a table as the version log of a tree: a flush becomes an INSERT, a compaction a COMPACT."""

    def __init__(self, store: TableStore, shape: Shape) -> None:
        self.last: Snapshot | None = None  # that this log has committed
        self._store = store
        self._shape = shape
        self._tried: set[int] = set()  # memtables whose commit may have landed, its answer lost

    def latest(self) -> TableVersion:
        return self._version(self._store.committer.log.latest())

    def commit(self, edits: Mapping[Place, VersionEdit], *, base: int, flushed: int | None = None) -> TableVersion:
        """RAISES: CommitConflictError when others have rewritten a bucket that is compacted."""
        added = tuple(PlacedFile(file, place[1], place[0]) for place, edit in edits.items() for file in edit.added)
        removed = tuple(
            PlacedFile(file, place[1], place[0]) for place, edit in edits.items() for file in edit.removed
        )
        if not added and not removed:
            return self.latest()
        if flushed is None:
            return self._version(self._compacted(added, removed, base))
        change = TableChange(Operation.INSERT, ROWS, str(flushed), self._shape.schema.id, added)
        change = replace(change, replayed=flushed in self._tried)
        self._tried.add(flushed)
        self.last = commit(self._store, change)
        return self._version(self.last)

    def _compacted(self, added: tuple[PlacedFile, ...], removed: tuple[PlacedFile, ...], base: int) -> Snapshot:
        facts = (Operation.COMPACT, "compactor", uuid.uuid4().hex, self._shape.schema.id)
        try:
            return commit_compaction(self._store, TableChange(*facts, added=added, removed=removed, base=base))
        except CommitConflictError:
            self._store.given_up += 1
            raise

    def _version(self, snapshot: Snapshot | None) -> TableVersion:
        return TableVersion(self._store.state(snapshot, self._shape))


class TableHome:
    """The home of a tree that holds the rows put one by one into a table, under one schema."""

    def __init__(self, store: TableStore, shape: Shape) -> None:
        self.files = store.files
        self.logs = store.paths.rows(shape.schema.id)
        self.log = SnapshotVersions(store, shape)
        self.shelf = store.shelf(shape)
        self._store = store
        self._shape = shape

    def place_of(self, key: NativeKey) -> Place:
        return place_of(key, self._shape)

    def route(self, rows: SortedBatch) -> Iterator[tuple[Place, SortedBatch]]:
        schema = self._shape.schema
        columns = to_rows(rows, self._shape.codec, schema.partition_keys or schema.primary_keys)
        for routed in route_batch(rows, columns, self._shape):
            yield (routed.partition, routed.bucket), routed.rows

    def writer(self, place: Place) -> FileWriter:
        return self._store.writer(self._shape, *place)

    def next_sequence(self, least: int) -> int:
        """Microseconds since 1970, so that none comes twice; later than all before, also if the clock goes back."""
        known = (sequence + 1 for sequence, _ in list_logs(self.files, self.logs))
        return max([time.time_ns() // 1000, least, *known])

    def has_landed(self, sequence: int) -> bool:
        return str(sequence) in self._landed

    @cached_property
    def _landed(self) -> set[str]:
        """The logs whose rows are in a snapshot, by the names of their commits."""
        log = self._store.committer.log
        return {each.commit_id for each in log.newest_first() if each.commit_user == ROWS}

    def forget(self, name: str) -> None:
        """Files stay: older snapshots name them, and expiry removes them."""


class RowWriter:
    """Puts and deletes of single rows. One process at a time; any thread."""

    def __init__(self, store: TableStore) -> None:
        """Open the writer; rows that a crash left in logs are committed first.
        RAISES: UsageError for a table without a key, StorageError when another process writes rows."""
        shape = store.shape()
        require_key(store, shape, "write rows one by one")
        if shape.buckets == UNDECIDED:
            shape = decide_buckets(store, 0)
        self._store = store
        self._shape = shape
        self._held: Held | None = store.files.lock(store.paths.lock) if isinstance(store.files, Locking) else None
        self._told = 0  # the snapshot that the last flush returned
        try:
            for id in store.schemas.list_schemas():
                if id != shape.schema.id and store.files.list(store.paths.rows(id).wal_folder):
                    self._tree(replace(store.shape(id), buckets=shape.buckets)).close()
            self._home = TableHome(store, shape)
            self._tree_of_rows = self._tree(shape, self._home)
        except BaseException:
            self._release()
            raise

    def put(self, row: Row | Mapping[str, Any] | Sequence[Any]) -> None:
        """Write one row. RAISES: SchemaError naming table and column that does not fit."""
        self.put_many((row,))

    def put_many(self, rows: Iterable[Row | Mapping[str, Any] | Sequence[Any]]) -> None:
        """Write rows, all of them checked before the first is written, with one sync for all."""
        with self._store.naming():
            self._tree_of_rows.put_many(rows)

    def delete(self, key: Any) -> None:
        """Remove the row of a key, if there is one."""
        with self._store.naming():
            self._tree_of_rows.delete(key)

    def get(self, key: Any) -> Row | None:
        """The row of a key, with what this writer has not committed yet."""
        return self.multi_get((key,))[0]

    def multi_get(self, keys: Iterable[Any]) -> list[Row | None]:
        """The rows of many keys, in their order, with what this writer has not committed yet."""
        self._tree_of_rows.refresh()
        with self._store.naming():
            return self._tree_of_rows.multi_get(keys)

    def flush(self) -> Snapshot | None:
        """Commit what was written since the last flush; the last snapshot of it, or None if there was nothing."""
        self._tree_of_rows.flush()
        self._tree_of_rows.compact_due()
        last = self._home.log.last
        if last is None or last.snapshot_id == self._told:
            return None
        self._told = last.snapshot_id
        return last

    def close(self) -> None:
        """Flush and let go; closing twice is harmless."""
        try:
            self._tree_of_rows.close()
        finally:
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _tree(self, shape: Shape, home: TableHome | None = None) -> LSMTree:
        return LSMTree(self._store.files, shape.schema, home=home or TableHome(self._store, shape))

    def _release(self) -> None:
        if self._held is not None:
            self._held.close()
