"""From the values of one column in groups of rows to one value per group, all groups at once. Rows of a key are
merged in steps, by whatever runs a read or a compaction has before it, so every function here gives the same for a, b
and c in one step and in two: (a, b), c or a, (b, c). Sums and products of FLOAT and DOUBLE do so up to rounding."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.lake.engine.types import from_unscaled, unscaled
from headwater.lazy import arrow_compute as pc

Positions = npt.NDArray[np.int64]


class Overflow(Exception):
    """A sum or product does not fit the type of its column, in the rows of one group."""

    def __init__(self, group: int) -> None:
        super().__init__(f"group {group} overflows")
        self.group = group


@dataclass(frozen=True, slots=True)
class KeyGroups:
    """Rows in groups: group i is the rows from `starts[i]` up to the next start."""

    starts: Positions
    rows: int

    @property
    def lengths(self) -> Positions:
        return np.diff(np.append(self.starts, self.rows))

    @property
    def ids(self) -> pa.Array:
        return pa.array(np.repeat(np.arange(len(self.starts)), self.lengths))


def aggregate(function: str, column: pa.Array, groups: KeyGroups, *, strict: bool = False) -> pa.Array:
    """One value per group. REQUIRES: `function` is one of AGGREGATES, and takes the type of the column.
    With `strict`, a sum or product that does not fit the type of the column is refused; without, an integer wraps as
    machine integers do and a decimal is null: so tables read that were written before such writes were refused.
    RAISES: Overflow."""
    if len(groups.starts) == groups.rows:
        return column  # one row per group: nothing to do
    chosen = _CHOSEN.get(function)
    if chosen is not None:
        return column.take(chosen(column, groups))
    if function in _ARITHMETIC and not pa.types.is_floating(column.type):
        return _exact(function, column, groups, strict)
    return _COMPUTED[function](column, groups)


def _first(column: pa.Array, groups: KeyGroups) -> pa.Array:
    return pa.array(groups.starts)


def _last(column: pa.Array, groups: KeyGroups) -> pa.Array:
    return pa.array(np.append(groups.starts[1:], groups.rows) - 1)


def _first_non_null(column: pa.Array, groups: KeyGroups) -> pa.Array:
    # the position of each value, past the end where it is null: the least of a group is its first that is not null
    at = np.where(_valid(column), np.arange(groups.rows), groups.rows)
    found = np.minimum.reduceat(at, groups.starts)
    return pa.array(found, mask=found == groups.rows)


def _last_non_null(column: pa.Array, groups: KeyGroups) -> pa.Array:
    at = np.where(_valid(column), np.arange(groups.rows), -1)
    found = np.maximum.reduceat(at, groups.starts)
    return pa.array(found, mask=found < 0)


def _valid(column: pa.Array) -> npt.NDArray[np.bool_]:
    return column.is_valid().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _grouped(column: pa.Array, groups: KeyGroups, function: str, options: Any = None) -> pa.Array:
    table = pa.table({"group": groups.ids, "value": column})
    result = table.group_by("group", use_threads=False).aggregate([("value", function, options)])
    return result.column(f"value_{function}").combine_chunks()


def _reduced(function: str) -> Callable[[pa.Array, KeyGroups], pa.Array]:
    def compute(column: pa.Array, groups: KeyGroups) -> pa.Array:
        skip = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)
        return _grouped(column, groups, function, skip).cast(column.type, safe=False)

    return compute


# ------------------------------------------------------------------------------- sums and products of exact numbers


def largest(type: pa.DataType) -> int:
    """The largest number that a column of integers or decimals holds; of decimals, its digits as a whole number."""
    return int(10**type.precision if pa.types.is_decimal(type) else 2 ** (type.bit_width - 1)) - 1


def _exact(function: str, column: pa.Array, groups: KeyGroups, strict: bool) -> pa.Array:
    """A sum or product of integers or decimals; by Arrow where the sizes of the values show that it fits."""
    most, longest = magnitude(column), int(groups.lengths.max(initial=0))
    is_decimal = pa.types.is_decimal(column.type)
    if function == "sum" and most * longest <= largest(column.type):
        wide = column.cast(pa.decimal128(38, column.type.scale)) if is_decimal else column
        return _reduced("sum")(wide, groups).cast(column.type)
    if function == "product" and not is_decimal and most.bit_length() * longest < column.type.bit_width:
        return _reduced("product")(column, groups)
    numbers = _numbers(column)
    stops = np.append(groups.starts[1:], groups.rows)
    parts = ([n for n in numbers[start:stop] if n is not None] for start, stop in zip(groups.starts, stops))
    combine = sum if function == "sum" else math.prod
    return _from_numbers([combine(part) if part else None for part in parts], column.type, strict)


def magnitude(column: pa.Array) -> int:
    """The size of the value of integers or decimals that is furthest from zero, as `largest` counts."""
    ends = pc.min_max(column).as_py()
    found = [end for end in ends.values() if end is not None]
    if pa.types.is_decimal(column.type):
        found = [unscaled(end, column.type.scale) for end in found]
    return max((abs(end) for end in found), default=0)


def _numbers(column: pa.Array) -> list[int | None]:
    values = column.to_pylist()
    if not pa.types.is_decimal(column.type):
        return values  # type: ignore[no-any-return]
    return [None if value is None else unscaled(value, column.type.scale) for value in values]


def _from_numbers(numbers: list[int | None], type: pa.DataType, strict: bool) -> pa.Array:
    most = largest(type)
    is_decimal = pa.types.is_decimal(type)
    least = -most if is_decimal else -most - 1
    fitted: list[int | None] = []
    for at, number in enumerate(numbers):
        fits = number is None or least <= number <= most
        if not fits and strict:
            raise Overflow(at)
        fitted.append(number if fits or number is None else None if is_decimal else _wrapped(number, most))
    if is_decimal:
        return pa.array([None if number is None else from_unscaled(number, type.scale) for number in fitted], type)
    return pa.array(fitted, type)


def _wrapped(number: int, most: int) -> int:
    return (number + most + 1) % (2 * (most + 1)) - most - 1


# ------------------------------------------------------------------------------------------------ texts and arrays


def _listagg(column: pa.Array, groups: KeyGroups) -> pa.Array:
    lists = _grouped(column, groups, "list")
    kept = [[text for text in texts if text is not None] for texts in lists.to_pylist()]
    return pa.array([",".join(texts) if texts else None for texts in kept], pa.string())


def _collect(column: pa.Array, groups: KeyGroups) -> pa.Array:
    """Arrays of a group joined into one: their elements are in order already, so only the offsets change."""
    # ends[i] is where the elements of array i begin among all elements; a group begins where its first array does
    ends = np.append(0, np.cumsum(pc.fill_null(pc.list_value_length(column), 0).to_numpy()))
    offsets = ends[np.append(groups.starts, groups.rows)].astype(np.int32)
    empty = ~np.logical_or.reduceat(_valid(column), groups.starts)
    return pa.ListArray.from_arrays(pa.array(offsets), column.flatten(), type=column.type, mask=pa.array(empty))


_CHOSEN: dict[str, Callable[[pa.Array, KeyGroups], pa.Array]] = {
    "first": _first,
    "last": _last,
    "first_non_null": _first_non_null,
    "last_non_null": _last_non_null,
}
_ARITHMETIC = ("sum", "product")
_COMPUTED: dict[str, Callable[[pa.Array, KeyGroups], pa.Array]] = {
    "sum": _reduced("sum"),
    "product": _reduced("product"),
    "min": _reduced("min"),
    "max": _reduced("max"),
    "bool_or": _reduced("any"),
    "bool_and": _reduced("all"),
    "listagg": _listagg,
    "collect": _collect,
}
AGGREGATES = (*_CHOSEN, *_COMPUTED)
