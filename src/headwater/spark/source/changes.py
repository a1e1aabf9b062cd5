"""The changes between two snapshots, in parts that Spark tasks can read.

*Rows* are what commits brought: rows appended, or in a table with a key the newest row of each key that was written.
They are read from the files that the commits added and cost no more than those. A delete has no row: it is an error
unless `ignore-deletes` is set. A *changelog* (`changelog = true`) compares both states and has a column `_kind`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from headwater.errors import UsageError
from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.reads import ScanRequest
from headwater.lake.engine.version import DataFile
from headwater.lake.metadata.manifest import EntryKind
from headwater.lake.metadata.snapshot import Operation, Snapshot
from headwater.lake.tables import Table
from headwater.lake.tables.changelog import changed_places, changes
from headwater.lake.tables.read import file_batches
from headwater.lake.tables.state import Place, TableState, reads_of
from headwater.lake.tables.store import TableStore
from headwater.spark.source.options import Options, StoredAt

EMPTY = 0
"""The moment before the first snapshot."""


@dataclass(frozen=True, slots=True)
class RowsPart:
    """Files of one bucket that commits have added, oldest first."""

    at: StoredAt
    schema_id: int
    files: tuple[DataFile, ...]


@dataclass(frozen=True, slots=True)
class ChangelogPart:
    """One bucket at two moments."""

    at: StoredAt
    start: int
    end: int
    place: Place


ChangesPart = RowsPart | ChangelogPart


@dataclass(frozen=True, slots=True)
class Wanted:
    """The range of changes: after `start`, up to and with `end`."""

    start: int
    end: int
    changelog: bool = False
    ignore_deletes: bool = False


def wanted_changes(table: Table, options: Options) -> Wanted | None:
    """The changes that `from` and `to` name; None when there are none yet."""
    first, last = options.text("from") or "0", options.text("to")
    end = table.snapshot(last)
    if end is None:
        return None
    begin = None if first == str(EMPTY) else table.snapshot(int(first) if first.isdigit() else first)
    start = EMPTY if begin is None else begin.snapshot_id
    if start > end.snapshot_id:
        raise UsageError(f"option `from` is snapshot {start}, which is after {end.snapshot_id}")
    return Wanted(start, end.snapshot_id, options.flag("changelog"), options.flag("ignore-deletes"))


def plan_changes(table: Table, at: StoredAt, wanted: Wanted) -> list[ChangesPart]:
    """The parts in which changes can be read.

    RAISES: UsageError when rows were asked for and something else happened, NotFoundError when snapshots between
    have expired.
    """
    if wanted.start == wanted.end:
        return []
    if wanted.changelog or wanted.start == EMPTY:
        before, after = _states(table.store, wanted.start, wanted.end)
        if wanted.changelog:
            return [ChangelogPart(at, wanted.start, wanted.end, place) for place in changed_places(before, after)]
        return [RowsPart(at, after.shape.schema.id, files) for files in after.places.values()]
    return _rows_parts(table.store, at, wanted)


def read_changes(part: ChangesPart, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The changes of one part, with at least the columns `names`."""
    store = part.at.open()
    if isinstance(part, ChangelogPart):
        before, after = _states(store, part.start, part.end)
        yield from changes(store, before, after, [part.place])
        return
    shape = store.shape(part.schema_id)
    shelf = store.shelf(shape)
    if shape.is_keyed:
        yield from reads_of(part.files, shape, shelf).scan(ScanRequest(list(names)))
        return
    for file in part.files:
        yield from file_batches(OpenFile(shelf, file), names)


def _rows_parts(store: TableStore, at: StoredAt, wanted: Wanted) -> list[ChangesPart]:
    shape = store.shape(store.committer.log.get(wanted.end).schema_id)
    if shape.is_keyed and not shape.keeps_rows_whole:
        raise UsageError(
            f"{store.name} merges rows by `{shape.rule.engine.value}`: what a commit brings is not a whole row",
            hint="set the option `changelog`",
        )
    files: dict[Place, list[DataFile]] = {}
    for id in range(wanted.start + 1, wanted.end + 1):
        snapshot = store.committer.log.get(id)
        if snapshot.operation is Operation.COMPACT:
            continue
        for entry in store.committer.delta(snapshot):
            if not wanted.ignore_deletes:
                _refuse_deletes(store, snapshot, entry.kind, entry.file)
            if entry.kind is EntryKind.ADD and (entry.file.level == 0 or snapshot.operation is not Operation.DELETE):
                files.setdefault((entry.partition, entry.bucket), []).append(entry.file)
    return [RowsPart(at, shape.schema.id, tuple(each)) for each in files.values()]


def _refuse_deletes(store: TableStore, snapshot: Snapshot, kind: EntryKind, file: DataFile) -> None:
    if kind is EntryKind.ADD and not file.deletes:
        return
    raise UsageError(
        f"snapshot {snapshot.snapshot_id} of {store.name} ({snapshot.operation.value}) removed rows",
        hint="set the option `changelog` to see what went, or `ignore-deletes` to see only what came",
    )


def _states(store: TableStore, start: int, end: int) -> tuple[TableState, TableState]:
    log = store.committer.log
    last = log.get(end)
    shape = store.shape(last.schema_id)
    return store.state(None if start == EMPTY else log.get(start), shape), store.state(last, shape)
