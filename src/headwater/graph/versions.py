"""The versions behind a version: `why` a snapshot is what it is, and which tables are behind their inputs.
These questions are answered by the lake itself: every snapshot carries its origin."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from headwater.errors import NotFoundError, UsageError
from headwater.lake.metadata.snapshot import Operation, Snapshot
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.time_travel import At

_RECENT = 20  # snapshots of a table among which its last refresh is looked for
_UPKEEP = (Operation.COMPACT,)  # commits that change files, not rows


@dataclass(frozen=True, slots=True)
class DatasetVersion:
    """A state of a dataset: of a lake table its snapshot, None for what has no versions."""

    dataset: str
    snapshot_id: int | None
    table_uuid: str | None = None  # None in snapshots of early versions: of the table that has the name now

    def __str__(self) -> str:
        return self.dataset if self.snapshot_id is None else f"{self.dataset}@{self.snapshot_id}"


@dataclass(frozen=True, slots=True)
class Made:
    """The making of a version: the commits since the one before, and the versions that these read."""

    version: DatasetVersion
    operation: str | None
    job: str | None
    run: str | None
    time: int | None  # milliseconds since 1970
    inputs: tuple[tuple[DatasetVersion, tuple[str, ...]], ...]
    depth: int


def why(warehouse: Warehouse, table: str, at: At | None = None) -> list[Made]:
    """The versions that made a snapshot of a table, transitively: itself first, each version once.

    A snapshot contains what the ones before it wrote, back to the last that replaced everything (after a rollback,
    those before the one that was restored); the inputs of all of them are inputs of it.
    RAISES: NotFoundError when there is no such table or moment.
    """
    source = warehouse.table(table)
    start = source.snapshot(at)
    if start is None:
        raise NotFoundError(f"{table} has no snapshot yet")
    found: dict[DatasetVersion, Made] = {}
    queue = [(DatasetVersion(str(source.name), start.snapshot_id, source.store.table_uuid), 0)]
    for version, depth in queue:
        if version in found:
            continue
        made = _made(warehouse, version, depth)
        found[version] = made
        queue += [(read, depth + 1) for read, _ in made.inputs]
    return list(found.values())


def _made(warehouse: Warehouse, version: DatasetVersion, depth: int) -> Made:
    if version.snapshot_id is None or not has_table(warehouse, version.dataset):
        return Made(version, None, None, None, None, (), depth)
    table = warehouse.table(version.dataset)
    if version.table_uuid not in (None, table.store.table_uuid):  # the name has passed to another table
        return Made(version, "replaced", None, None, None, (), depth)
    try:
        commits = list(_contributing(table, version.snapshot_id))
    except NotFoundError:  # expired: that it was read is known, what made it no more
        return Made(version, "expired", None, None, None, (), depth)
    columns: dict[DatasetVersion, dict[str, None]] = {}
    for commit in commits:
        for read in commit.origin.inputs if commit.origin is not None else ():
            source = DatasetVersion(read.dataset, read.snapshot_id, read.table_uuid)
            columns.setdefault(source, {}).update(dict.fromkeys(read.columns))
    last = next((each for each in commits if each.operation not in _UPKEEP), commits[0])
    origin = last.origin
    return Made(
        version,
        last.operation.value,
        origin.job if origin is not None else None,
        origin.run_id if origin is not None else None,
        last.timestamp,
        tuple((read, tuple(names)) for read, names in columns.items() if read != version),
        depth,
    )


def tables_told(warehouse: Warehouse) -> list[str]:
    """The names of all tables but those that the graph, and the groups of materialized views, are kept in."""
    databases = warehouse.list_databases(own=False)
    return [f"{database}.{name}" for database in databases for name in warehouse.list_tables(database)]


def has_table(warehouse: Warehouse, dataset: str) -> bool:
    """Return whether a dataset is a table of this warehouse, and not a file, or a table of another."""
    try:
        return warehouse.has_table(dataset)
    except UsageError:  # it has not even the name of a table
        return False


def _contributing(table: Table, id: int) -> Iterator[Snapshot]:
    """The commits whose rows may be in a snapshot, newest first. RAISES: NotFoundError when it has expired."""
    number: int | None = id
    while number:
        try:
            snapshot = table.snapshot(number)
        except NotFoundError:
            if number == id:
                raise
            return
        assert snapshot is not None
        yield snapshot
        number = held_by(snapshot)


def held_by(snapshot: Snapshot) -> int | None:
    """The snapshot whose rows a commit has kept: the one before it, the one that a rollback has restored, or None if
    it has replaced everything. An overwrite of some partitions keeps the files of the others."""
    if snapshot.operation is Operation.ROLLBACK and snapshot.origin is not None and snapshot.origin.inputs:
        return snapshot.origin.inputs[0].snapshot_id
    summary = snapshot.summary
    if snapshot.operation is Operation.OVERWRITE and summary.total_files == summary.added_files:
        return None
    return snapshot.snapshot_id - 1 or None


@dataclass(frozen=True, slots=True)
class Stale:
    """A table that was made from an older state of an input than there is now."""

    table: str
    snapshot_id: int
    input: str
    read: int  # the snapshot of the input that was read
    latest: int  # the one that is there now
    columns: tuple[str, ...]  # the columns read whose values changed since; empty if only rows came or went
    changed_rows: int
    input_rows: int  # stored rows of the input now, older ones of a key too: a full rebuild reads them
    input_bytes: int  # of their files, with all columns
    seconds: float | None  # that the last refresh of the table took; None when it was never refreshed


def stale(warehouse: Warehouse) -> list[Stale]:
    """Tables whose inputs have newer snapshots in which something that they read has changed.

    Snapshots that only moved files, and changes of columns that were not read, make nothing stale. The tables of the
    graph are left out: a harvest writes those that it changes, and only those.
    """
    found: list[Stale] = []
    for name in tables_told(warehouse):
        found += _stale_inputs(warehouse, name)
    return sorted(found, key=lambda each: (each.table, each.input))


def _stale_inputs(warehouse: Warehouse, name: str) -> Iterator[Stale]:
    table = warehouse.table(name)
    snapshot = table.snapshot()
    if snapshot is None:
        return
    newest: dict[str, tuple[int, dict[str, None]]] = {}  # the newest state read of each input, and the columns
    for commit in _contributing(table, snapshot.snapshot_id):
        for read in commit.origin.inputs if commit.origin is not None else ():
            if read.snapshot_id is None or read.dataset == str(table.name):
                continue
            id, columns = newest.get(read.dataset, (0, {}))
            newest[read.dataset] = max(id, read.snapshot_id), columns | dict.fromkeys(read.columns)
    for dataset, (read_at, columns) in newest.items():
        if not has_table(warehouse, dataset):
            continue
        source = warehouse.table(dataset)
        latest = source.snapshot()
        if latest is None or latest.snapshot_id <= read_at:
            continue
        changed, rows = _changed(source, read_at, latest.snapshot_id, tuple(columns))
        if rows:
            plan = source.plan_scan()
            ids, size = (snapshot.snapshot_id, dataset, read_at, latest.snapshot_id), (plan.rows, plan.bytes)
            yield Stale(name, *ids, changed, rows, *size, seconds=_last_seconds(table))


def _last_seconds(table: Table) -> float | None:
    """The time that the last refresh of a table took."""
    recent = islice(table.store.committer.log.newest_first(), _RECENT)
    records = (each.origin.refresh for each in recent if each.origin is not None)
    return next((each.seconds for each in records if each is not None), None)


def _changed(source: Table, start: int, end: int, columns: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """Return which of some columns changed between two snapshots, and in how many rows; new and gone rows count
    too."""
    if all(_is_upkeep(source, id) for id in range(start + 1, end + 1)):
        return (), 0
    try:
        known = [name for name in columns if name in source.schema.names]
        found = source.count_changes(start, end, columns=known if columns else source.schema.names)
    except NotFoundError:  # the state that was read has expired: what changed since cannot be told
        return (), 1
    return found.columns, found.rows


def _is_upkeep(source: Table, id: int) -> bool:
    try:
        snapshot = source.snapshot(id)
    except NotFoundError:
        return False
    return snapshot is not None and snapshot.operation in _UPKEEP
