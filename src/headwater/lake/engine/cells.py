"""Single values out of Arrow columns, without an Arrow scalar in between where the layout is simple."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pyarrow as pa

from headwater.lake.engine.row import python_value

Cell: TypeAlias = Callable[[int], Any]

_FORMATS: dict[pa.DataType, Any] = {
    pa.int8(): "b",
    pa.int16(): "h",
    pa.int32(): "i",
    pa.int64(): "q",
    pa.float32(): "f",
    pa.float64(): "d",
}


def cell_of(column: pa.Array) -> Cell:
    """A function from a row's position to its value in a column."""
    read = _reader(column)
    if not column.null_count:
        return read
    valid = memoryview(column.buffers()[0]).cast("B")
    offset = column.offset

    def read_nullable(index: int) -> Any:
        at = index + offset
        return read(index) if valid[at >> 3] >> (at & 7) & 1 else None

    return read_nullable


def _reader(column: pa.Array) -> Cell:
    form = _FORMATS.get(column.type)
    if form is not None:
        width = column.type.bit_width // 8
        start = column.offset * width
        return memoryview(column.buffers()[1]).cast("B")[start : start + len(column) * width].cast(form).__getitem__
    if (pa.types.is_string(column.type) or pa.types.is_binary(column.type)) and column.buffers()[2] is not None:
        return _text_reader(column)
    return lambda index: python_value(column[index])


def _text_reader(column: pa.Array) -> Cell:
    begin = 4 * column.offset
    offsets = memoryview(column.buffers()[1]).cast("B")[begin : begin + 4 * (len(column) + 1)].cast("i")
    data = memoryview(column.buffers()[2]).cast("B")
    if pa.types.is_binary(column.type):
        return lambda index: bytes(data[offsets[index] : offsets[index + 1]])
    return lambda index: str(data[offsets[index] : offsets[index + 1]], "utf-8")
