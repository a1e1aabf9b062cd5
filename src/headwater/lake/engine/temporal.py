"""Dates and timestamps beyond what Python and other formats can show.
A DATE counts days in 32 bits and a TIMESTAMP microseconds in 64: both reach thousands of centuries further than the
years 1 to 9999 of Python, and than the nanoseconds that Arrow reads ORC in (1677 to 2262). Where such a value has no
other form, it is kept as its number: days or microseconds since 1970."""

from collections.abc import Iterator

import pyarrow as pa

from headwater.lazy import arrow_compute as pc

_DAY = 86_400_000_000
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # of the years 1 and 9999
_NANOSECONDS = (-(1 << 63) // 1000 + 1, (1 << 63) // 1000 - 1)  # the microseconds that fit


def with_numbers(type: pa.DataType) -> pa.DataType:
    """The type with numbers in the place of dates and timestamps, also inside of others.

    >>> with_numbers(pa.list_(pa.date32()))
    ListType(list<item: int32>)
    """
    if pa.types.is_date32(type):
        return pa.int32()
    if pa.types.is_timestamp(type):
        return pa.int64()
    if pa.types.is_map(type):
        return pa.map_(with_numbers(type.key_type), with_numbers(type.item_type))
    if pa.types.is_list(type):
        return pa.list_(with_numbers(type.value_type))
    if pa.types.is_struct(type):
        return pa.struct([pa.field(each.name, with_numbers(each.type)) for each in type])
    return type


def in_numbers(table: pa.Table) -> pa.Table:
    """A table with numbers in the place of all dates and timestamps."""
    return table.cast(pa.schema([pa.field(each.name, with_numbers(each.type)) for each in table.schema]))


def is_beyond_python(column: pa.ChunkedArray) -> bool:
    """Return whether a column has dates or timestamps, also inside of others, that Python has no value for."""
    return any(
        not _is_between(leaf, *((_FIRST_DAY, _LAST_DAY) if leaf.type == pa.int32() else _MICROSECONDS))
        for leaf in _numbers(column)
    )


def is_beyond_nanoseconds(column: pa.ChunkedArray) -> bool:
    """Return whether a column has timestamps, also inside of others, whose nanoseconds do not fit into 64 bits."""
    return any(leaf.type == pa.int64() and not _is_between(leaf, *_NANOSECONDS) for leaf in _numbers(column))


_MICROSECONDS = (_FIRST_DAY * _DAY, (_LAST_DAY + 1) * _DAY - 1)


def _is_between(numbers: pa.Array, low: int, high: int) -> bool:
    ends = pc.min_max(numbers).as_py()
    return ends["min"] is None or (low <= ends["min"] and ends["max"] <= high)


def _numbers(column: pa.ChunkedArray | pa.Array) -> Iterator[pa.Array]:
    """The numbers of all dates and timestamps in a column."""
    if isinstance(column, pa.ChunkedArray):
        for chunk in column.chunks:
            yield from _numbers(chunk)
    elif pa.types.is_date32(column.type) or pa.types.is_timestamp(column.type):
        yield column.cast(with_numbers(column.type))
    elif pa.types.is_map(column.type):
        yield from _numbers(column.keys)
        yield from _numbers(column.items)
    elif pa.types.is_list(column.type):
        yield from _numbers(column.flatten())
    elif pa.types.is_struct(column.type):
        for part in column.flatten():
            yield from _numbers(part)
