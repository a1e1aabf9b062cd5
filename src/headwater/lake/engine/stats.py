"""Per-column statistics of a data file, and what they rule out.

Statistics are kept by column name as JSON values: numbers as they are, times and decimals as text, strings cut to
sixteen characters (the upper bound then rounded up, or left open). A column with a NaN has no bounds.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

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
    if pa.types.is_floating(type) and pc.any(pc.is_nan(column)).as_py():
        return ColumnStats(nulls=nulls)
    bounds = pc.min_max(column)
    return ColumnStats(plain_value(bounds["min"].as_py()), plain_value(bounds["max"].as_py()), nulls)


def merge_stats(parts: Iterable[ColumnStats]) -> ColumnStats:
    """The statistics of rows from the statistics of their parts."""
    known = list(parts)
    nulls = sum(part.nulls for part in known)
    if not known or any(part.min is None or part.max is None for part in known):
        return ColumnStats(nulls=nulls)
    return ColumnStats(min(part.min for part in known), max(part.max for part in known), nulls)


def trimmed(stats: ColumnStats) -> ColumnStats:
    """Statistics as they are stored: long strings cut, the upper bound rounded up."""
    low, high = stats.min, stats.max
    if isinstance(low, str) and len(low) > _LONGEST:
        low = low[:_LONGEST]
    if isinstance(high, str) and len(high) > _LONGEST:
        last = ord(high[_LONGEST - 1])
        high = None if last >= 0xD7FE else high[: _LONGEST - 1] + chr(last + 1)
    return ColumnStats(low, high, stats.nulls)


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
