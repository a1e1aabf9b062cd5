"""Writing a table: route rows to buckets, write one sorted run for each, commit once.
Until the commit nothing is visible. If anything fails before it, the files are removed again; what a process leaves
when it dies, the orphan clean-up finds."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from headwater.errors import CommitConflictError, SchemaChangeError, SchemaError, UsageError
from headwater.lake.engine.batch import RowKind
from headwater.lake.engine.formats.positions import numbered
from headwater.lake.engine.predicates import Where
from headwater.lake.metadata.commit import PlacedFile, TableChange
from headwater.lake.metadata.manifest import Partition
from headwater.lake.metadata.snapshot import Operation, Origin, Snapshot, next_sequence
from headwater.lake.tables.conflicts import keys_unchanged
from headwater.lake.tables.convert import conforming
from headwater.lake.tables.overflow import refuse_overflow
from headwater.lake.tables.partitions import stored_value
from headwater.lake.tables.plan import plan_scan
from headwater.lake.tables.read import read_plan, require_key
from headwater.lake.tables.routing import Routed, route
from headwater.lake.tables.shape import UNDECIDED, Shape, shape_of
from headwater.lake.tables.store import TableStore
from headwater.model.schema import Schema

_ROWS_PER_BUCKET = 2_000_000
_MOST_BUCKETS = 256
ATTEMPTS = 20

Partitions: TypeAlias = Literal["dynamic"] | Sequence[dict[str, Any]] | None
"""What an overwrite replaces: the whole table (None), the partitions its rows are in, or those listed."""


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """The author of a commit, its purpose, and its inputs.
    A commit whose `user` and `id` are given lands once, however often it is tried."""

    operation: Operation = Operation.INSERT
    origin: Origin | None = None
    user: str = "headwater"
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    replayed: bool = False
    read_at: int | None = None  # the snapshot that the rows were made from: keys changed since then are a conflict


def write_rows(
    store: TableStore, data: Any, facts: CommitFacts, *, deletes: Any = None, written: Sequence[PlacedFile] = ()
) -> Snapshot:
    """Upsert rows (append them, in a table without a key) and delete keys, in one commit.

    Files that are `written` already become part of it; their keys are not among the others.
    RAISES: SchemaError naming table and column; then nothing is changed.
    """
    if facts.replayed and (landed := store.committer.find(facts.user, facts.id)) is not None:
        return landed
    added = list(written)
    with store.naming():
        shape = store.shape()
        if shape.buckets == UNDECIDED:
            shape = decide_buckets(store, _count(data))
        try:
            if deletes is not None:
                require_key(store, shape, "delete by key")
                add_files(store, shape, key_tables(deletes, shape), added, kind=RowKind.DELETE)
            add_files(store, shape, conforming(data, shape.schema), added)
        except BaseException:
            discard(store, added)
            raise
    change = TableChange(facts.operation, facts.user, facts.id, shape.schema.id, tuple(added), origin=facts.origin)
    if facts.read_at is not None:
        change = replace(change, base=facts.read_at, guard=keys_unchanged(store, shape, added))
    return commit(store, replace(change, replayed=facts.replayed))


def delete_keys(store: TableStore, keys: Any, facts: CommitFacts) -> Snapshot:
    """Delete the rows of keys: values, tuples of values, or Arrow data with the key columns."""
    return write_rows(store, (), facts, deletes=keys)


def delete_where(store: TableStore, where: Where, facts: CommitFacts) -> Snapshot:
    """Delete the rows of a table with a primary key for which predicates hold.
    RAISES: CommitConflictError when others changed such rows again and again."""
    for attempt in range(ATTEMPTS):
        state = store.latest()
        plan = plan_scan(store, state, state.shape.schema.primary_keys, where)
        try:
            rows = read_plan(store, plan, state)
            return delete_keys(store, rows, replace(facts, read_at=max(0, state.snapshot_id)))
        except CommitConflictError:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError


def overwrite_rows(store: TableStore, data: Any, facts: CommitFacts, partitions: Partitions = None) -> Snapshot:
    """Put rows in the place of all that is there, or of all that is in some partitions.
    RAISES: SchemaError when a row is outside the partitions that were listed; then nothing is changed."""
    added: list[PlacedFile] = []
    with store.naming():
        shape = store.shape()
        if shape.buckets == UNDECIDED:
            shape = decide_buckets(store, _count(data))
        listed = _listed(partitions, shape)
        try:
            add_files(store, shape, conforming(data, shape.schema), added)
            if listed is not None:
                for placed in added:
                    if placed.partition not in listed:
                        names = (field.name for field in shape.partition_fields)
                        where = ", ".join(f"{name}={value}" for name, value in zip(names, placed.partition))
                        raise SchemaError(f"rows of partition {where} are not in the partitions to overwrite")
        except BaseException:
            discard(store, added)
            raise
    replaced = frozenset(placed.partition for placed in added) if partitions == "dynamic" else listed
    change = TableChange(facts.operation, facts.user, facts.id, shape.schema.id, tuple(added), origin=facts.origin)
    return commit(store, replace(change, replaces=True, replaced=replaced, replayed=facts.replayed))


def commit(store: TableStore, change: TableChange) -> Snapshot:
    """Commit a change; when that is refused, remove the files it brought.
    RAISES: CommitConflictError, ValueOverflowError when a sum or product would not fit its column."""
    try:
        with store.naming():
            snapshot = store.committer.commit(replace(change, check=refuse_overflow(store, change)))
    except (CommitConflictError, SchemaError):
        discard(store, change.added)
        raise
    if change.replayed and change.added:
        landed = {entry.file.name for entry in store.committer.delta(snapshot)}
        discard(store, [placed for placed in change.added if placed.file.name not in landed])
    return snapshot


def add_files(
    store: TableStore,
    shape: Shape,
    tables: Iterable[pa.Table],
    added: list[PlacedFile],
    *,
    kind: RowKind = RowKind.PUT,
) -> None:
    """Write rows to level 0, one sorted run for each bucket and table; what was written is noted in `added`.
    Tables of rows that have no key and are not partitioned become one file: DuckDB plans better for few files."""
    first = next_sequence(store.committer.log.latest())
    if not shape.is_keyed and not shape.partition_fields and shape.buckets == 1:
        rows = numbered(routed.rows.columns for table in tables for routed in route(table, shape))
        files = store.writer(shape, (), 0).write(rows, level=0, sequence=first)
        added += [PlacedFile(file, 0, ()) for file in files]
        return
    for table in tables:
        for routed in route(table, shape, kind):
            added += write_routed(store, shape, routed, first + len(added))


def write_routed(store: TableStore, shape: Shape, routed: Routed, sequence: int) -> list[PlacedFile]:
    """Write the rows of one bucket as one sorted run.
    Its name has the `sequence` that the file gets if nobody else commits first; the manifest has the one it got."""
    writer = store.writer(shape, routed.partition, routed.bucket)
    files = writer.write([routed.rows], level=0, sequence=sequence)
    return [PlacedFile(file, routed.bucket, routed.partition) for file in files]


def discard(store: TableStore, added: Iterable[PlacedFile]) -> None:
    """Remove files that did not become live."""
    for placed in added:
        store.files.delete(store.paths.data_file(placed.file.name))


def key_tables(keys: Any, shape: Shape) -> Iterable[pa.Table]:
    """Keys as tables of the key columns."""
    schema = Schema(shape.codec.fields, shape.schema.primary_keys)
    if isinstance(keys, pa.Table | pa.RecordBatch):
        keys = keys.select(list(schema.names))
    elif not hasattr(keys, "__arrow_c_stream__") and not isinstance(keys, dict):
        keys = (_key_row(key) for key in keys)
    return conforming(keys, schema)


def decide_buckets(store: TableStore, rows: int) -> Shape:
    """Fix the number of buckets of a table with `bucket = -1` at its first write; of several writers one wins."""
    while True:
        schema = store.schemas.latest()
        if "bucket.count" in schema.options:
            return shape_of(schema)
        count = max(1, min(_MOST_BUCKETS, -(-rows // _ROWS_PER_BUCKET)))
        decided = replace(schema, options=schema.options | {"bucket.count": str(count)})
        try:
            return shape_of(store.schemas.commit_schema(decided, schema.id))
        except SchemaChangeError:
            continue


def _key_row(key: Any) -> Any:
    return key if isinstance(key, tuple | pa.RecordBatch | pa.Table) or hasattr(key, "keys") else (key,)


def _count(data: Any) -> int:
    return (
        data.num_rows if isinstance(data, pa.Table | pa.RecordBatch) else len(data) if hasattr(data, "__len__") else 0
    )


def _listed(partitions: Partitions, shape: Shape) -> frozenset[Partition] | None:
    if partitions is None:
        return None
    names = [field.name for field in shape.partition_fields]
    if not names:
        raise SchemaError("the table has no partitions")
    if partitions == "dynamic":
        return None
    found = set()
    for each in partitions:
        if not isinstance(each, dict) or set(each) != set(names):
            raise UsageError(f"{each!r} is not a partition", hint=f"a dictionary with {', '.join(names)}")
        found.add(tuple(stored_value(each[name]) for name in names))
    return frozenset(found)
