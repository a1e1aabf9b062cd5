"""The values of a result in Python, and as text where Python has none.
Python's dates end with the year 9999, and its times before 24:00; DuckDB's go on, back before Christ, and to
infinity. Such a value comes as the text that DuckDB writes for it."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from headwater.lazy import arrow_compute as pc

_SECONDS = 86_400
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_FIRST, _LAST = -719_162, 2_932_896  # days from 1970 to the years 1 and 9999, where Python's dates begin and end
_FOREVER = (1 << 31) - 1, (1 << 63) - 1  # infinite dates and timestamps


def python_values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """The values of a column."""
    type = column.type
    if pa.types.is_temporal(type) and not pa.types.is_duration(type) and not pa.types.is_interval(type):
        return _temporal_values(column)
    if pa.types.is_nested(type) and _has_times(type):
        return [_nested(each) for each in column]
    values: list[Any] = column.to_pylist()
    return values


def shown_values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """The values of a column with no more digits than their type has: of a FLOAT, 0.1 and not 0.10000000149011612."""
    if not pa.types.is_float32(column.type):
        return python_values(column)
    return [None if text is None else float(text) for text in pc.cast(column, pa.string()).to_pylist()]


def python_rows(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a table as tuples."""
    columns = [python_values(column) for column in table.columns]
    return list(zip(*columns)) if columns else []


def interval_text(months: int, days: int, nanoseconds: int) -> str:
    """An interval as DuckDB writes it.

    >>> interval_text(14, 1, 1_500_000_000)
    '1 year 2 months 1 day 00:00:01.5'
    """
    years, rest = int(months / 12), months - 12 * int(months / 12)
    counted = ((years, "year"), (rest, "month"), (days, "day"))
    parts = [f"{count} {name}{'' if abs(count) == 1 else 's'}" for count, name in counted if count]
    if nanoseconds or not parts:
        parts.append(("-" if nanoseconds < 0 else "") + _clock(abs(nanoseconds), _PER_SECOND["ns"]))
    return " ".join(parts)


def _has_times(type: pa.DataType) -> bool:
    if pa.types.is_nested(type):
        return any(_has_times(type.field(at).type) for at in range(type.num_fields))
    return bool(pa.types.is_temporal(type))


def _nested(value: pa.Scalar) -> Any:
    """The value of a scalar, with what is inside it."""
    if not value.is_valid:
        return None
    if isinstance(value, pa.MapScalar):
        entries = value.values
        return list(zip(python_values(entries.field(0)), python_values(entries.field(1))))
    if isinstance(value, pa.ListScalar | pa.LargeListScalar | pa.FixedSizeListScalar):
        return python_values(value.values)
    if isinstance(value, pa.StructScalar):
        return {name: _nested(each) for name, each in value.items()}
    if isinstance(value, pa.UnionScalar):
        return _nested(value.value)
    return python_values(pa.array([value], value.type))[0]


def _temporal_values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    type = column.type
    show, width, low, high = _reading(type)
    numbers = column.cast(width)
    ends = pc.min_max(numbers).as_py()
    fits = ends["min"] is None or (low <= ends["min"] and ends["max"] < high)
    if fits and getattr(type, "unit", "") != "ns":  # nanoseconds need pandas, and become its own kind of value
        plain: list[Any] = column.to_pylist()
        return plain
    return [None if number is None else show(number) for number in numbers.to_pylist()]


def _reading(type: pa.DataType) -> tuple[Callable[[int], Any], pa.DataType, int, int]:
    """Return how the number behind a value is shown, its width, and between which numbers Python has the value."""
    width = pa.int32() if type.bit_width == 32 else pa.int64()
    if pa.types.is_date(type):
        return lambda number: _date(number, type, width), width, *_days(1 if width == pa.int32() else 86_400_000)
    per = _PER_SECOND[type.unit]
    if pa.types.is_time(type):
        return lambda number: _time(number, type, per), width, 0, _SECONDS * per
    return lambda number: _timestamp(number, type, per), width, *_days(_SECONDS * per)


def _days(units: int) -> tuple[int, int]:
    return _FIRST * units, (_LAST + 1) * units


def _date(number: int, type: pa.DataType, width: pa.DataType) -> Any:
    if abs(number) == _FOREVER[0]:
        return "infinity" if number > 0 else "-infinity"
    days = number if width == pa.int32() else number // 86_400_000
    return pa.scalar(number, width).cast(type).as_py() if _FIRST <= days <= _LAST else _day(days)


def _time(number: int, type: pa.DataType, per: int) -> Any:
    if number >= _SECONDS * per or (per == _PER_SECOND["ns"] and number % 1_000):
        return _clock(number, per)
    return _micros(number, per, pa.time64("us"))


def _timestamp(number: int, type: pa.DataType, per: int) -> Any:
    if abs(number) == _FOREVER[1]:
        return "infinity" if number > 0 else "-infinity"
    days, rest = divmod(number, _SECONDS * per)
    if _FIRST <= days <= _LAST and not (per == _PER_SECOND["ns"] and number % 1_000):
        return _micros(number, per, pa.timestamp("us", type.tz))
    return f"{_day(days)} {_clock(rest, per)}" + ("+00" if type.tz else "")


def _micros(number: int, per: int, type: pa.DataType) -> Any:
    return pa.scalar(number * 1_000_000 // per, pa.int64()).cast(type).as_py()


def _clock(number: int, per: int) -> str:
    seconds, rest = divmod(number, per)
    fraction = f"{rest:0{len(str(per)) - 1}d}".rstrip("0") if rest else ""
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{clock}.{fraction}" if fraction else clock


def _day(days: int) -> str:
    """A day by its distance from 1970, in the calendar that DuckDB continues in both directions."""
    era, of_era = divmod(days + 719_468, 146_097)  # 400 years from a first of March
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    year += era * 400 + (month <= 2)
    return f"{year:04d}-{month:02d}-{day:02d}" if year > 0 else f"{1 - year:04d}-{month:02d}-{day:02d} (BC)"
