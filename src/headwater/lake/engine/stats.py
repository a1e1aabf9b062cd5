"""Per-column statistics of a data file, and what they rule out.
Statistics are kept by column name as JSON values: numbers as they are, times as text, decimals as text after `=`,
strings cut to sixteen characters (the upper bound then rounded up, or left open). A column with a NaN has no bounds,
and a date or time beyond the years 1 to 9999 is none."""

import decimal
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.lazy import arrow_compute as pc
from headwater.model.types import DataType, Decimal, Primitive

_LONGEST = 16


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """The bounds and nulls of one column; None means unknown."""

    min: Any = None
    max: Any = None
    nulls: int = 0


def column_stats(column: pa.Array) -> ColumnStats:
    """The statistics of one column."""
    type, nulls = column.type, column.null_count
    nested = pa.types.is_nested(type) or pa.types.is_binary(type)
    if nested or len(column) == nulls:
        return ColumnStats(nulls=nulls)
    if not nulls and (pa.types.is_integer(type) or pa.types.is_floating(type)):
        # the same of numbers without a null, in a fifth of the time: small files have many columns
        numbers = column.to_numpy()
        low, high = numbers.min().item(), numbers.max().item()
        return ColumnStats(low, high) if low == low else ColumnStats()  # of numbers with a NaN, the least is a NaN
    if pa.types.is_floating(type) and pc.any(pc.is_nan(column)).as_py():
        return ColumnStats(nulls=nulls)
    bounds = pc.min_max(column)
    return ColumnStats(_bound(bounds["min"]), _bound(bounds["max"]), nulls)


def _bound(value: pa.Scalar) -> Any:
    """A bound in the form statistics have, None for a date or time beyond the years 1 to 9999."""
    try:
        found = value.as_py()
        return found if isinstance(found, decimal.Decimal) else plain_value(found)
    except (OverflowError, ValueError):
        return None


def merge_stats(parts: Iterable[ColumnStats]) -> ColumnStats:
    """The statistics of rows from the statistics of their parts."""
    known = list(parts)
    nulls = sum(part.nulls for part in known)
    lows, highs = [part.min for part in known], [part.max for part in known]
    low = None if not known or None in lows else min(lows)
    high = None if not known or None in highs else max(highs)
    return ColumnStats(low, high, nulls)


def trimmed(stats: ColumnStats) -> ColumnStats:
    """Statistics as they are stored: long strings cut, the upper bound rounded up."""
    low, high = stats.min, stats.max
    if isinstance(low, decimal.Decimal):
        return ColumnStats(f"={low}", f"={high}", stats.nulls)
    if isinstance(low, str) and len(low) > _LONGEST:
        low = low[:_LONGEST]
    if isinstance(high, str) and len(high) > _LONGEST:
        last = ord(high[_LONGEST - 1])
        high = None if last >= 0xD7FE else high[: _LONGEST - 1] + chr(last + 1)
    return ColumnStats(low, high, stats.nulls)


def exact_bound(bound: Any, type: DataType) -> int | decimal.Decimal | None:
    """A stored bound of integers or decimals as a number, None if it is not one for certain.
    The bound of a decimal without `=` was cut or compared as text, by writers before it was written so."""
    if isinstance(type, Decimal):
        return decimal.Decimal(bound[1:]) if isinstance(bound, str) and bound.startswith("=") else None
    return bound if isinstance(bound, int) else None


def comparable(value: Any, type: DataType) -> Any:
    """A value in the form statistics have, or None if values of this type are not compared."""
    if isinstance(type, Decimal):
        return None  # text does not compare as numbers do
    return plain_value(value) if isinstance(type, Primitive) else None


def plain_value(value: Any) -> Any:
    """A value as JSON has it: times and decimals as text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
