"""Reading a table in Spark tasks: planned once, on one snapshot; each task reads a part of about equal size."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql.types import StructType

from headwater.errors import UsageError
from headwater.lake.metadata.snapshot import Snapshot
from headwater.lake.tables import Predicate, Table
from headwater.lake.tables.plan import ScanPlan, Split, plan_scan
from headwater.lake.tables.read import read_split
from headwater.lake.tables.shape import Shape
from headwater.lake.tables.split_sizes import cut_split
from headwater.lake.tables.store import TableStore
from headwater.spark.source.aggregates import aggregated, columns_of, decode_aggregates
from headwater.spark.source.changes import EMPTY, ChangesPart, plan_changes, read_changes, wanted_changes
from headwater.spark.source.filters import decode_filters, predicates_of
from headwater.spark.source.options import SPLIT_BYTES, Options, StoredAt, hinted, stored_at
from headwater.spark.source.python_sources import DataSourceReader, Filter, InputPartition
from headwater.spark.source.types import arrow_of, counted, fitted
from headwater.spark.source.worker import settle

_LEASED_BYTES = 256 << 20  # a scan of more than this takes so long that its snapshot is leased beforehand
_LEASE_SECONDS = 6 * 3600
_OPENING = 1 << 20  # bytes that could be read in the time it takes to open a file
_LEAST = 4 << 20
LATEST = -1
"""The schema to read by: that of now. A moment of the past is read by the schema it had."""
_COUNT_ROWS = 1 << 20


@dataclass(frozen=True, slots=True)
class SplitPart:
    """One split of a scan, and where its table is."""

    at: StoredAt
    snapshot: Snapshot
    split: Split


Part = SplitPart | ChangesPart


class Parts(InputPartition):
    """The splits that one task reads."""

    def __init__(self, *parts: Part) -> None:
        super().__init__(parts)


class TableReader(DataSourceReader):
    """A batch read of some columns. Travels to the tasks with its options only."""

    def __init__(self, options: Options, schema: StructType) -> None:
        self._options = options
        self._schema = arrow_of(schema)
        self._where: tuple[Predicate, ...] = ()
        self._aggregates = decode_aggregates(options.text("aggregates"))

    def partitions(self) -> list[InputPartition]:
        """One partition for each part of the scan. RAISES: NotFoundError, UsageError."""
        options, place = self._options, self._options.place()
        with hinted():
            table = place.open()
            at = stored_at(place, table)
            if options.text("from") is None:
                return self._tasks(table, at)
            wanted = wanted_changes(table, options)
            return [Parts(part) for part in plan_changes(table, at, wanted)] if wanted is not None else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one partition, in the form that Spark asks for."""
        settle()
        if not self._aggregates:
            return read_partition(partition, self._schema)
        alone = not columns_of(self._aggregates)
        # changes are not aggregated here
        splits = (part for part in _parts(partition) if isinstance(part, SplitPart))
        batches = (batch for part in splits for batch in read_part(part, count_only=alone))
        return iter([aggregated(batches, self._aggregates, self._schema)])

    def _tasks(self, table: Table, at: StoredAt) -> list[InputPartition]:
        """Return what each task reads of a table at one moment."""
        options, moment = self._options, self._options.at()
        snapshot = table.snapshot(moment) if moment != EMPTY else None
        if snapshot is None:
            return []
        by = options.number("schema-id", snapshot.schema_id if moment is not None else LATEST)
        plan = self._plan(at.open(), snapshot, table.store.shape(None if by == LATEST else by))
        if plan.bytes > _LEASED_BYTES:
            table.store.leases.grant(snapshot, options.number("lease-seconds", _LEASE_SECONDS))
        size = options.number("split-bytes", 0) or task_bytes(plan.bytes, options.number("parallelism", 1))
        splits = [replace(split, where=()) for split in plan.splits] if options.flag("group") else plan.splits
        parts = [SplitPart(at, snapshot, part) for split in splits for part in cut_split(at.open(), split, size)]
        return _packed(parts, size)

    def _plan(self, store: TableStore, snapshot: Snapshot, shape: Shape) -> ScanPlan:
        where = (*self._where, *decode_filters(self._options.text("filters"), shape.schema))
        some = (*shape.schema.primary_keys, *shape.schema.names)[:1]  # rows are counted by some column
        names = columns_of(self._aggregates) if self._aggregates else self._schema.names
        return plan_scan(store, store.state(snapshot, shape), names or some, where)


class FilteringReader(TableReader):
    """A batch read that takes filters. Only with `spark.sql.python.filterPushdown.enabled`: else Spark refuses it."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Use what can be used to leave out files and rows; Spark checks all of them again."""
        schema = self._options.place().open().schema
        self._where = predicates_of(filters, schema)
        return filters


def read_partition(partition: InputPartition | None, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of one partition of a batch or stream, in the form that Spark asks for."""
    for part in _parts(partition):
        if isinstance(part, SplitPart):
            batches = read_part(part, count_only=not schema.names)
        else:
            batches = read_changes(part, schema.names)
        for batch in batches:
            yield fitted(batch, schema)


def _parts(partition: InputPartition | None) -> tuple[Part, ...]:
    """Return what is in a partition; where a scan has none, Spark makes one of nothing (before 4.2 it is None)."""
    return (partition.value if partition is not None else None) or ()


def task_bytes(whole: int, cores: int) -> int:
    """Return how much one task is to read: no more than it should, and as much as the others, so that all cores end
    at once.

    >>> [task_bytes(whole << 20, 2) >> 20 for whole in (1, 40, 512, 600)]
    [4, 20, 256, 150]
    """
    rounds = max(1, -(-whole // (cores * SPLIT_BYTES)))
    return max(_LEAST, -(-whole // (cores * rounds)))


def _packed(parts: list[SplitPart], target: int) -> list[InputPartition]:
    """Parts put together so that none is not worth a task."""
    tasks: list[InputPartition] = []
    pack: list[SplitPart] = []
    size = 0
    for part in parts:
        own = part.split.bytes + _OPENING * len(part.split.files)
        if pack and size + own > target:
            tasks.append(Parts(*pack))
            pack, size = [], 0
        pack.append(part)
        size += own
    return [*tasks, Parts(*pack)] if pack else tasks


def reader_for(options: Options, schema: StructType) -> TableReader:
    """The reader that the options ask for. RAISES: UsageError for options that do not go together."""
    if options.text("from") is not None and options.at() is not None:
        raise UsageError("option `from` asks for changes, and another option for one moment")
    return FilteringReader(options, schema) if options.flag("pushdown") else TableReader(options, schema)


def read_part(part: SplitPart, *, count_only: bool = False) -> Iterator[pa.RecordBatch]:
    """The rows of a split, or their number only; its snapshot is leased when that takes long."""
    store, split = part.at.open(), part.split
    if count_only and not split.where and _is_plain(store, split):
        yield from _counted(split.rows)
        return
    with store.leases.reading(part.snapshot) as step:
        for batch in read_split(store, split):
            step()
            yield batch


def _is_plain(store: TableStore, split: Split) -> bool:
    """Return whether every stored row of a split is a row of the table."""
    if split.bounds.lower is not None or split.bounds.upper is not None:
        return False
    return not store.shape(split.schema_id).is_keyed or (split.runs == 1 and not any(f.deletes for f in split.files))


def _counted(rows: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, rows, _COUNT_ROWS):
        yield counted(min(_COUNT_ROWS, rows - start))
