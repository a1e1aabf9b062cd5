"""What predicates rule out before anything is read: partitions, buckets, key ranges, files by their statistics."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from headwater.errors import SchemaError
from headwater.lake.keys import NativeKey
from headwater.lake.manifest import Partition
from headwater.lake.stats import ColumnStats, comparable
from headwater.lake.tables.partitions import python_values
from headwater.lake.tables.predicates import Compare, In, IsNull, Predicate, StartsWith, holds
from headwater.lake.tables.routing import bucket_of
from headwater.lake.tables.shape import Shape
from headwater.lake.version import DataFile
from headwater.model.schema import Field
from headwater.model.types import BIGINT, DOUBLE, FLOAT, INT, SMALLINT, TINYINT

_MOST_KEYS = 1024  # keys that a predicate can name and still be turned into buckets
_NUMBERS = {TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE}


@dataclass(frozen=True, slots=True)
class Bounds:
    """The keys a scan can meet: `lower` ≤ key ≤ `upper`, None for no bound."""

    lower: NativeKey | None = None
    upper: NativeKey | None = None

    def excludes(self, file: DataFile, is_number: bool) -> bool:
        """Whether no key of a file lies within."""
        low: NativeKey = int.from_bytes(file.min_key, "big") if is_number else file.min_key
        high: NativeKey = int.from_bytes(file.max_key, "big") if is_number else file.max_key
        below = self.upper is not None and low > self.upper  # type: ignore[operator]
        return below or (self.lower is not None and high < self.lower)  # type: ignore[operator]


def partition_matches(partition: Partition, where: Sequence[Predicate], shape: Shape) -> bool:
    """Whether rows of a partition can satisfy the predicates."""
    fields = shape.partition_fields
    if not fields or not where:
        return True
    values = dict(zip((field.name for field in fields), python_values(partition, fields)))
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


def key_bounds(where: Sequence[Predicate], shape: Shape) -> Bounds:
    """The range of keys that the predicates leave, from the leading columns of the primary key."""
    if not shape.is_keyed or not where:
        return Bounds()
    equal: list[Any] = []
    try:
        for name in shape.schema.primary_keys:
            low, high = _range(where, name)
            if low is None and high is None:
                break
            if low != high:
                return Bounds(
                    None if low is None and not equal else _lower(shape, equal, low),
                    None if high is None and not equal else _upper(shape, equal, high),
                )
            equal.append(low)
        if not equal:
            return Bounds()
        return Bounds(_lower(shape, equal, None), _upper(shape, equal, None))
    except SchemaError:
        return Bounds()  # a value that keys cannot have does not cut keys


Statistic = tuple[str, Predicate]
"""The name of a column in the statistics of some files, and a predicate on it whose values are as statistics are."""


def on_statistics(where: Sequence[Predicate], shape: Shape, old: dict[int, Field]) -> list[Statistic]:
    """The predicates that statistics of files can decide that were written with these fields, by id.

    A column that came later is decided by its default, and one of another type by its values: the filter will do it.
    """
    decidable: list[Statistic] = []
    for predicate in where:
        field = shape.schema.field(predicate.column)
        before = old.get(field.id)
        if before is not None and (before.type == field.type or {before.type, field.type} <= _NUMBERS):
            decidable.append((before.name, _plain(predicate, field)))
    return decidable


def file_matches(file: DataFile, where: list[Statistic]) -> bool:
    """Whether, by its statistics, a file can hold a row that satisfies every predicate."""
    for name, predicate in where:
        stats = file.stats.get(name)
        if stats is not None and _ruled_out(stats, predicate, file.rows):
            return False
    return True


def _plain(predicate: Predicate, field: Field) -> Predicate:
    match predicate:
        case Compare(column, op, value):
            return Compare(column, op, comparable(value, field.type))
        case In(column, values):
            return In(column, tuple(comparable(value, field.type) for value in values))
    return predicate


def _ruled_out(stats: ColumnStats, predicate: Predicate, rows: int) -> bool:
    if isinstance(predicate, IsNull):
        return stats.nulls == rows if predicate.negated else stats.nulls == 0
    low, high = stats.min, stats.max
    if low is None and high is None:
        return False
    try:
        match predicate:
            case Compare(_, op, value):
                return _compare_ruled_out(low, high, op, value)
            case In(_, values):
                return all(_compare_ruled_out(low, high, "=", value) for value in values)
            case StartsWith(_, prefix):
                after = low is not None and low[: len(prefix)] > prefix
                return after or (high is not None and high < prefix)
    except TypeError:
        return False  # bounds and value do not compare


def _compare_ruled_out(low: Any, high: Any, op: str, value: Any) -> bool:
    if value is None:
        return False
    below, above = low is not None and value < low, high is not None and value > high
    match op:
        case "=":
            return below or above
        case "<":
            return low is not None and value <= low
        case "<=":
            return below
        case ">":
            return high is not None and value >= high
        case ">=":
            return above
    return False


def _named(where: Sequence[Predicate], column: str) -> tuple[Any, ...] | None:
    """The only values that a column can have, if predicates say so."""
    for predicate in where:
        if isinstance(predicate, Compare) and predicate.column == column and predicate.op == "=":
            return (predicate.value,)
        if isinstance(predicate, In) and predicate.column == column:
            return predicate.values
    return None


def _range(where: Sequence[Predicate], column: str) -> tuple[Any, Any]:
    """The lowest and highest value that a column can have; a strict bound is taken as a loose one."""
    low: Any = None
    high: Any = None
    for predicate in where:
        if predicate.column != column:
            continue
        match predicate:
            case Compare(_, op, value) if value is not None and value == value and op != "!=":
                if op in ("=", ">", ">="):
                    low = value if low is None else max(low, value)
                if op in ("=", "<", "<="):
                    high = value if high is None else min(high, value)
            case In(_, values) if values and all(value is not None and value == value for value in values):
                low = min(values) if low is None else max(low, min(values))
                high = max(values) if high is None else min(high, max(values))
    return low, high


def _lower(shape: Shape, equal: list[Any], low: Any) -> NativeKey:
    values = tuple(equal) if low is None else (*equal, low)
    return shape.codec.native(values) if shape.codec.is_number else shape.codec.prefix(values)


def _upper(shape: Shape, equal: list[Any], high: Any) -> NativeKey | None:
    values = tuple(equal) if high is None else (*equal, high)
    return shape.codec.native(values) if shape.codec.is_number else _after(shape.codec.prefix(values))


def _after(prefix: bytes) -> bytes | None:
    """Bytes that no key with this beginning is above, None if there are none."""
    cut = prefix.rstrip(b"\xff")
    return cut[:-1] + bytes([cut[-1] + 1]) if cut else None
