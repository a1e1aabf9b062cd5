"""Planning a scan: which files must be read, in pieces that can be read apart.
Files are ruled out by partition, by bucket (when the predicates name keys), by key range, and by column statistics.
Statistics speak of stored rows, not of merged ones: in a table with a key, leaving out the newest file of a key would
bring an older row back. So files that overlap in keys stand or fall together, as a *section*."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import msgspec

from headwater.errors import SchemaError
from headwater.lake.engine.bounds import KeyBounds, key_bounds
from headwater.lake.engine.file_stats import file_matches, on_statistics
from headwater.lake.engine.predicates import Compare, In, Predicate, Where, check_where, holds
from headwater.lake.engine.version import DataFile, Version
from headwater.lake.metadata.manifest import Partition, without_collection
from headwater.lake.tables.partitions import python_values
from headwater.lake.tables.routing import bucket_of
from headwater.lake.tables.shape import Shape
from headwater.lake.tables.state import TableState
from headwater.lake.tables.store import TableStore

_MOST_KEYS = 1024  # keys that a predicate can name and still be turned into buckets


def partition_matches(partition: Partition, where: Sequence[Predicate], shape: Shape) -> bool:
    """Return whether rows of a partition can satisfy the predicates."""
    fields = shape.partition_fields
    if not fields or not where:
        return True
    values = python_values(partition, fields)
    return all(holds(each, values[each.column]) for each in where if each.column in values)


def wanted_buckets(where: Sequence[Predicate], shape: Shape) -> frozenset[int] | None:
    """The buckets that keys named by the predicates are in; None if they do not name keys."""
    if shape.buckets <= 1 or not shape.is_keyed:
        return None
    choices = [_named(where, name) for name in shape.schema.primary_keys]
    count = 1
    for values in choices:
        if values is None:
            return None
        count *= len(values)
    if count > _MOST_KEYS:
        return None
    try:
        keys = [shape.codec.native(key) for key in product(*(values or () for values in choices))]
    except SchemaError:
        return None  # a value that no key can have: the filter finds nothing
    return frozenset(bucket_of(key, shape.buckets) for key in keys)


def _named(where: Sequence[Predicate], column: str) -> tuple[Any, ...] | None:
    """The only values that a column can have, if predicates say so."""
    for predicate in where:
        if isinstance(predicate, Compare) and predicate.column == column and predicate.op == "=":
            return (predicate.value,)
        if isinstance(predicate, In) and predicate.column == column:
            return predicate.values
    return None


SPLIT_BYTES = 128 << 20  # files of a table without a key are put together up to about this size


@dataclass(frozen=True, slots=True)
class Split:
    """A part of a scan that can be read on its own, in any process: pickle it, with the table or beside it.
    A pickle leaves the statistics of the files behind, which have done their work when the scan was planned."""

    schema_id: int
    columns: tuple[str, ...]
    where: tuple[Predicate, ...]
    partition: Partition
    bucket: int
    files: tuple[DataFile, ...]  # oldest first
    bounds: KeyBounds

    def __reduce__(self) -> tuple[type["Split"], tuple[object, ...]]:
        files = tuple(msgspec.structs.replace(file, stats={}) for file in self.files)
        place = (self.partition, self.bucket)
        return Split, (self.schema_id, self.columns, self.where, *place, files, self.bounds)

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def rows(self) -> int:
        """Stored rows: versions of one key count each."""
        return sum(file.rows for file in self.files)

    @property
    def runs(self) -> int:
        """Sorted runs that are merged, or with a table without a key read one after the other."""
        return len(Version(files=self.files).runs())


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """The files that a scan reads, and those it skips."""

    snapshot_id: int
    schema_id: int
    columns: tuple[str, ...]
    where: tuple[Predicate, ...]
    splits: tuple[Split, ...]
    total_files: int
    total_rows: int
    total_bytes: int
    pruned_by_partition: int  # files
    pruned_by_bucket: int
    pruned_by_key: int
    pruned_by_stats: int

    @property
    def is_whole(self) -> bool:
        """Return whether every file is read from its first key to its last."""
        return self.files == self.total_files and all(split.bounds == KeyBounds() for split in self.splits)

    @property
    def files(self) -> int:
        return sum(len(split.files) for split in self.splits)

    @property
    def bytes(self) -> int:
        return sum(split.bytes for split in self.splits)

    @property
    def rows(self) -> int:
        return sum(split.rows for split in self.splits)


@dataclass(slots=True)
class _Pruned:
    partition: int = 0
    bucket: int = 0
    key: int = 0
    stats: int = 0


def plan_scan(
    store: TableStore, state: TableState, columns: Sequence[str] | None = None, where: Where = None
) -> ScanPlan:
    """Choose the files of a scan. RAISES: SchemaError naming a column that is not there."""
    shape = state.shape
    with store.naming():
        checked = check_where(where, shape.schema)
        names = tuple(shape.schema.names if columns is None else (shape.schema.field(name).name for name in columns))
    buckets = wanted_buckets(checked, shape)
    bounds = key_bounds(checked, shape.codec)
    pruned = _Pruned()
    splits: list[Split] = []
    with without_collection():
        for (partition, bucket), files in sorted(state.places.items(), key=lambda item: repr(item[0])):
            if not partition_matches(partition, checked, shape):
                pruned.partition += len(files)
            elif buckets is not None and bucket not in buckets:
                pruned.bucket += len(files)
            else:
                first = Split(shape.schema.id, names, checked, partition, bucket, files, bounds)
                splits += _split(store, shape, first, pruned)
    return ScanPlan(
        snapshot_id=state.snapshot_id,
        schema_id=shape.schema.id,
        columns=names,
        where=checked,
        splits=tuple(splits),
        total_files=len(state.entries),
        total_rows=sum(entry.file.rows for entry in state.entries),
        total_bytes=sum(entry.file.size for entry in state.entries),
        pruned_by_partition=pruned.partition,
        pruned_by_bucket=pruned.bucket,
        pruned_by_key=pruned.key,
        pruned_by_stats=pruned.stats,
    )


def _split(store: TableStore, shape: Shape, whole: Split, pruned: _Pruned) -> Iterator[Split]:
    """The splits of one bucket, without the files that cannot matter."""
    where, bounds = _on_stored_rows(whole.where, shape), whole.bounds
    files = whole.files
    if shape.is_keyed and bounds != KeyBounds():
        files = tuple(file for file in files if not bounds.excludes(file, shape.codec.is_number))
        pruned.key += len(whole.files) - len(files)
    if not shape.is_keyed:
        kept = _matching([(file,) for file in files], where, store, shape)
        pruned.stats += len(files) - len(kept)
        yield from (replace(whole, files=part) for part in packed(kept, SPLIT_BYTES))
        return
    if where:
        sections = _matching(key_sections(files), where, store, shape)
        kept_files = {file.name for section in sections for file in section}
        pruned.stats += len(files) - len(kept_files)
        files = tuple(file for file in files if file.name in kept_files)
    if files:
        yield replace(whole, files=files)


def _on_stored_rows(where: tuple[Predicate, ...], shape: Shape) -> tuple[Predicate, ...]:
    """The predicates that statistics of stored rows can decide: all, unless rows are put together from several."""
    if shape.keeps_rows_whole:
        return where
    return tuple(predicate for predicate in where if predicate.column in shape.schema.primary_keys)


def _matching(
    sections: list[tuple[DataFile, ...]], where: tuple[Predicate, ...], store: TableStore, shape: Shape
) -> list[tuple[DataFile, ...]]:
    if not where:
        return sections
    ids = {file.schema_id for section in sections for file in section}
    decidable = {id: on_statistics(where, shape.schema, store.fields_of(id)) for id in ids}
    return [section for section in sections if any(file_matches(file, decidable[file.schema_id]) for file in section)]


def key_sections(files: tuple[DataFile, ...]) -> list[tuple[DataFile, ...]]:
    """Files grouped so that no two groups overlap in keys."""
    sections: list[list[DataFile]] = []
    end = b""
    for file in sorted(files, key=lambda file: file.min_key):
        if sections and file.min_key <= end:
            sections[-1].append(file)
            end = max(end, file.max_key)
        else:
            sections.append([file])
            end = file.max_key
    return [tuple(section) for section in sections]


def packed(groups: Sequence[tuple[DataFile, ...]], size: int) -> Iterator[tuple[DataFile, ...]]:
    """Groups of files in order, put together up to about `size` bytes."""
    pack: list[DataFile] = []
    weight = 0
    for group in groups:
        own = sum(file.size for file in group)
        if pack and weight + own > size:
            yield tuple(pack)
            pack, weight = [], 0
        pack += group
        weight += own
    if pack:
        yield tuple(pack)
