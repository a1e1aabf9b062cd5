"""A table: what people call. Each method says what it does; how is in the module it hands over to."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, TypeVar

import pyarrow as pa

from headwater.errors import UsageError
from headwater.extras import need
from headwater.lake.engine.predicates import Where
from headwater.lake.engine.row import Row
from headwater.lake.metadata.entries import TableMetadata
from headwater.lake.metadata.expire import DAY, Delete, Removal, Retention
from headwater.lake.metadata.leases import HOUR
from headwater.lake.metadata.schema_change import SchemaChange, WidenColumn
from headwater.lake.metadata.snapshot import Operation, Origin, Snapshot
from headwater.lake.tables import writes
from headwater.lake.tables.casts import CastReport, refuse_lossy, try_cast
from headwater.lake.tables.change_count import ChangeCount, count_changes
from headwater.lake.tables.changelog import changelog_schema, changes, diff
from headwater.lake.tables.count import count_rows
from headwater.lake.tables.history import KeyVersion, key_history
from headwater.lake.tables.maintenance import (
    Compaction,
    compact_if_due,
    compact_table,
    delete_tag,
    expire,
    remove_orphans,
    rollback,
)
from headwater.lake.tables.names import TableIdentifier
from headwater.lake.tables.overflow import refuse_new_sums
from headwater.lake.tables.plan import ScanPlan, Split, plan_scan
from headwater.lake.tables.read import (
    get_row,
    get_rows,
    of_latest,
    read_latest,
    read_plan,
    read_split,
    require_key,
    result_schema,
)
from headwater.lake.tables.rewrite import Edit, rewrite_where
from headwater.lake.tables.row_writer import RowWriter
from headwater.lake.tables.state import TableState
from headwater.lake.tables.stats import TableStats, table_stats
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.time_travel import At, snapshot_at
from headwater.model.schema import Schema

T = TypeVar("T")


class Table:
    """One table of a warehouse. Any number of processes and threads may read and write it.

    `at` is a snapshot id, a tag, a date or time, `"2 hours ago"` or `"@-1"`; without it, the table as it is now. A
    state of the past is read by the schema it had.
    """

    def __init__(self, store: TableStore) -> None:
        self.store = store

    def __repr__(self) -> str:
        return f"Table({str(self.name)!r})"

    # ------------------------------------------------------------------------------------------------- facts

    @property
    def name(self) -> TableIdentifier:
        return self.store.name

    @property
    def schema(self) -> Schema:
        """The latest schema. RAISES: NotFoundError when the table was dropped."""
        return self.store.require()

    @property
    def arrow_schema(self) -> pa.Schema:
        """The latest schema as Arrow has it."""
        return result_schema(self.store.shape(), self.schema.names)

    @property
    def metadata(self) -> TableMetadata:
        """Identity, and how far the table got."""
        return self.store.metadata()

    def schemas(self) -> list[Schema]:
        """All versions of the schema, in order."""
        return [self.store.schemas.get_schema(id) for id in self.store.schemas.list_schemas()]

    def snapshot(self, at: At | None = None) -> Snapshot | None:
        """The snapshot that `at` names, or the latest; None if nothing was ever written."""
        if at is None:
            return self.store.committer.log.latest()
        return snapshot_at(self.store, at, now=time.time())

    def snapshots(self) -> list[Snapshot]:
        """The snapshots that are kept, oldest first."""
        return [self.store.committer.log.get(id) for id in self.store.committer.log.ids()]

    def stats(self) -> TableStats:
        """Return what the table holds, by level."""
        return table_stats(self.store)

    # ------------------------------------------------------------------------------------------------ writes

    def write(
        self,
        data: Any,
        *,
        deletes: Any = None,
        origin: Origin | None = None,
        operation: Operation = Operation.INSERT,
        commit_user: str | None = None,
        commit_id: str | None = None,
        read_at: int | None = None,
    ) -> Snapshot:
        """Upsert rows (append, in a table without a key), and delete the keys in `deletes`, in one commit.

        With `commit_user` and `commit_id` a commit lands once, however often it is tried. When it brings a bucket to
        `num-sorted-run.compaction-trigger` runs, they are compacted before this returns, unless `write-only` is set.
        With `read_at`, the id of the snapshot that the rows were made from (0 for none), a key that others have
        written since then is a conflict.
        RAISES: SchemaError naming table and column, CommitConflictError; then nothing is changed.
        """
        facts = replace(_facts(operation, origin, commit_user, commit_id), read_at=read_at)
        return self._tidied(writes.write_rows(self.store, data, facts, deletes=deletes))

    def delete(
        self,
        keys: Any = None,
        *,
        where: Where = None,
        origin: Origin | None = None,
        commit_user: str | None = None,
        commit_id: str | None = None,
    ) -> Snapshot:
        """Delete the rows of keys, or those for which predicates hold."""
        if (keys is None) == (where is None):
            raise UsageError("delete takes keys, or predicates as `where`")
        facts = _facts(Operation.DELETE, origin, commit_user, commit_id)
        if keys is not None:
            return self._tidied(writes.delete_keys(self.store, keys, facts))
        if self.store.shape().is_keyed:
            return self._tidied(writes.delete_where(self.store, where, facts))
        return rewrite_where(self.store, where, facts)

    def rewrite(
        self, where: Where, edit: Edit, *, origin: Origin | None = None, operation: Operation = Operation.UPDATE
    ) -> Snapshot:
        """Replace the rows for which predicates hold by what `edit` makes of them, in a table without a key."""
        if self.store.shape().is_keyed:
            raise UsageError(f"table {self.name} has a primary key", hint="write the new rows: they replace the old")
        return rewrite_where(self.store, where, _facts(operation, origin, None, None), edit)

    def overwrite(
        self,
        data: Any,
        partitions: writes.Partitions = None,
        *,
        origin: Origin | None = None,
        commit_user: str | None = None,
        commit_id: str | None = None,
    ) -> Snapshot:
        """Put rows in the place of the whole table, of listed partitions, or `"dynamic"`: of those they are in."""
        facts = _facts(Operation.OVERWRITE, origin, commit_user, commit_id)
        return writes.overwrite_rows(self.store, data, facts, partitions)

    def writer(self) -> RowWriter:
        """A writer of single rows, durable before there is a snapshot of them. Close it, or use it with `with`."""
        return RowWriter(self.store)

    # ------------------------------------------------------------------------------------------------- reads

    def get(self, key: Any, at: At | None = None) -> Row | None:
        """The row of a key. A key of several columns is a tuple."""
        return self._read(lambda state: get_row(self.store, state, key), at)

    def multi_get(self, keys: Iterable[Any], at: At | None = None) -> list[Row | None]:
        """The rows of many keys, in their order."""
        wanted = list(keys)
        return self._read(lambda state: get_rows(self.store, state, wanted), at)

    def scan(
        self,
        columns: Sequence[str] | None = None,
        *,
        where: Where = None,
        limit: int | None = None,
        at: At | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Rows by the batch: some columns or all, those for which predicates hold, as of now or then."""
        if at is None:
            return read_latest(self.store, lambda state: plan_scan(self.store, state, columns, where), limit)
        state = self._state(at)
        return read_plan(self.store, plan_scan(self.store, state, columns, where), state, limit, past=True)

    def to_arrow(
        self,
        columns: Sequence[str] | None = None,
        *,
        where: Where = None,
        limit: int | None = None,
        at: At | None = None,
    ) -> pa.Table:
        """Return what `scan` gives, as one table."""

        def read(state: TableState) -> pa.Table:
            plan = plan_scan(self.store, state, columns, where)
            batches = read_plan(self.store, plan, state, limit, past=at is not None)
            return pa.Table.from_batches(list(batches), result_schema(state.shape, plan.columns))

        return self._read(read, at)

    read = to_arrow

    def count(self, *, where: Where = None, at: At | None = None) -> int:
        """The number of rows, or of those for which predicates hold; without reading any where manifests know it."""
        return self._read(lambda state: count_rows(self.store, state, where, past=at is not None), at)

    def plan_scan(
        self, columns: Sequence[str] | None = None, *, where: Where = None, at: At | None = None
    ) -> ScanPlan:
        """Return what a scan would read, in splits that can be read apart, and what it need not."""
        return plan_scan(self.store, self._state(at), columns, where)

    def read_split(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The rows of one split of a plan."""
        return read_split(self.store, split)

    def reader(
        self, columns: Sequence[str] | None = None, *, where: Where = None, at: At | None = None
    ) -> pa.RecordBatchReader:
        """Return what `scan` gives, as an Arrow stream."""
        state = self._state(at)
        plan = plan_scan(self.store, state, columns, where)
        schema = result_schema(state.shape, plan.columns)
        return pa.RecordBatchReader.from_batches(schema, self.scan(plan.columns, where=where, at=at))

    def to_pandas(self, columns: Sequence[str] | None = None, *, where: Where = None, at: At | None = None) -> Any:
        """Return what `scan` gives, as a pandas DataFrame. RAISES: MissingDependencyError without pandas."""
        need("pandas")
        return self.to_arrow(columns, where=where, at=at).to_pandas()

    def to_polars(self, columns: Sequence[str] | None = None, *, where: Where = None, at: At | None = None) -> Any:
        """Return what `scan` gives, as a Polars DataFrame. RAISES: MissingDependencyError without Polars."""
        return need("polars").from_arrow(self.to_arrow(columns, where=where, at=at))

    def to_duckdb(
        self,
        connection: Any = None,
        columns: Sequence[str] | None = None,
        *,
        where: Where = None,
        at: At | None = None,
    ) -> Any:
        """Return what `scan` gives, as a DuckDB relation, of a connection or the default one."""
        return (connection or need("duckdb")).from_arrow(self.to_arrow(columns, where=where, at=at))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as an Arrow stream, for any library that takes one."""
        return self.reader().__arrow_c_stream__(requested_schema)

    # --------------------------------------------------------------------------------------------------- time

    def changes(self, start: At, end: At | None = None) -> pa.RecordBatchReader:
        """Return what changed from one moment to another, as a changelog with a column `_kind`: +I, -U, +U, -D."""
        before, after = self._pair(start, end)
        return pa.RecordBatchReader.from_batches(changelog_schema(after.shape), changes(self.store, before, after))

    def diff(self, start: At, end: At | None = None) -> pa.Table:
        """Every key whose row differs between two moments, with the row before and after."""
        require_key(self.store, self.store.shape(), "compare by key")
        return diff(self.store, *self._pair(start, end))

    def count_changes(self, start: At, end: At | None = None, *, columns: Sequence[str]) -> ChangeCount:
        """The number of rows that came, went, or differ in some columns, and in which; only these are read."""
        before, after = self._pair(start, end)
        return count_changes(
            self.store, before, after, [name for name in columns if name in after.shape.schema.names]
        )

    def history(self, key: Any) -> list[KeyVersion]:
        """Every retained version of one key, oldest first."""
        return list(key_history(self.store, key))

    def tags(self) -> dict[str, Snapshot]:
        """Every tag and its snapshot."""
        return self.store.tags.all()

    def create_tag(self, name: str, at: At | None = None) -> Snapshot:
        """Name a snapshot, the latest by default; it stays until the tag is deleted."""
        snapshot = self.snapshot(at)
        if snapshot is None:
            raise UsageError(f"{self.name} has no snapshot to tag yet")
        self.store.tags.create(name, snapshot)
        return snapshot

    def delete_tag(self, name: str) -> None:
        """Remove a tag, and the files that only it needed."""
        delete_tag(self.store, name)

    def lease(self, at: At | None = None, *, seconds: float = HOUR) -> AbstractContextManager[Snapshot]:
        """Keep a snapshot from expiry by any process while the block runs, for `seconds` at the most."""
        snapshot = self.snapshot(at)
        if snapshot is None:
            raise UsageError(f"{self.name} has no snapshot to keep yet")
        return self.store.leases.lease(snapshot, seconds)

    def rollback(self, at: At) -> Snapshot:
        """Make the table what it was at a moment, by a new snapshot. The schema stays as it is now."""
        return rollback(self.store, snapshot_at(self.store, at, now=time.time()))

    # ------------------------------------------------------------------------------------------------- upkeep

    def alter(self, *changes: SchemaChange) -> Schema:
        """Change the schema: add, rename, widen, drop, move, relax columns, set options and comments.
        RAISES: SchemaChangeError naming the rule a change breaks; for a type that is not wider, how many rows it
        would break."""
        with self.store.naming():
            for change in changes:
                if isinstance(change, WidenColumn):
                    refuse_lossy(self.store, change)
            refuse_new_sums(self.store, changes)
            schema = self.store.schemas.alter(*changes)
        self.store.note_schema()
        return schema

    def try_cast(self, column: str, type: Any) -> CastReport:
        """Count the rows that a change of type would break; nothing is changed."""
        return try_cast(self.store, self._state(None), column, type)

    def compact(self, *, full: bool = True, progress: Callable[[str], None] = lambda name: None) -> list[Compaction]:
        """Merge the sorted runs of each bucket, all of them or only where it is due."""
        return compact_table(self.store, full=full, progress=progress)

    def expire_snapshots(
        self,
        *,
        keep_min: int = 10,
        keep_max: int | None = None,
        older_than: float = HOUR,
        dry_run: bool = False,
        delete: Delete | None = None,
    ) -> Removal:
        """Remove snapshots beyond `keep_max`, or older than so many seconds and beyond `keep_min`.

        What a tag or a running reader needs stays. `delete` removes many files, by tasks or threads of the caller's.
        """
        most = keep_max if keep_max is not None else 1 << 60
        retention = Retention(min(keep_min, most), most, int(older_than * 1000))
        return expire(self.store, retention, dry_run=dry_run, delete=delete)

    def remove_orphans(
        self, *, older_than: float = DAY, dry_run: bool = True, delete: Delete | None = None
    ) -> Removal:
        """Find, and without `dry_run` remove, files that nothing refers to, older than so many seconds."""
        return remove_orphans(self.store, older_than=older_than, dry_run=dry_run, delete=delete)

    # ----------------------------------------------------------------------------------------------- internals

    def _tidied(self, snapshot: Snapshot) -> Snapshot:
        compact_if_due(self.store, snapshot)
        return snapshot

    def _state(self, at: At | None) -> TableState:
        if at is None:
            return self.store.latest()
        snapshot = snapshot_at(self.store, at, now=time.time())
        return self.store.state(snapshot, self.store.shape(snapshot.schema_id))

    def _read(self, read: Callable[[TableState], T], at: At | None) -> T:
        return of_latest(self.store, read) if at is None else read(self._state(at))

    def _pair(self, start: At, end: At | None) -> tuple[TableState, TableState]:
        """Two states, both read by the newer of their schemas: values of columns it does not have may be gone."""
        after = self._state(end)
        if start == 0:
            return self.store.state(None, after.shape), after
        before = snapshot_at(self.store, start, now=time.time())
        if before.schema_id > after.shape.schema.id:
            after = self.store.state(after.snapshot, self.store.shape(before.schema_id))
        return self.store.state(before, after.shape), after


def _facts(
    operation: Operation, origin: Origin | None, commit_user: str | None, commit_id: str | None
) -> writes.CommitFacts:
    if commit_id is None:
        return writes.CommitFacts(operation, origin, commit_user or "headwater")
    return writes.CommitFacts(operation, origin, commit_user or "headwater", commit_id, replayed=True)
