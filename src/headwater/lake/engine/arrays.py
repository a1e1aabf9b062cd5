"""Arrow arrays and scalars made of bytes. To convert a value of Python or numpy, pyarrow imports pandas where that is
installed. That takes a quarter of a second, several times as long as a short query."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.lake.engine.row import python_value

_NUMBERS = {pa.int8(): "<i1", pa.int16(): "<i2", pa.int32(): "<i4", pa.int64(): "<i8", pa.float64(): "<f8"}


def mask_array(mask: npt.NDArray[np.bool_]) -> pa.BooleanArray:
    """A mask as Arrow has it."""
    bits = np.packbits(mask, bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(mask), [None, pa.py_buffer(bits)])


def number_array(values: npt.NDArray[np.int64]) -> pa.Int64Array:
    """Whole numbers as Arrow has them."""
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])


def is_exactly(value: Any, type: pa.DataType) -> bool:
    """Return whether a value is one of a type without any conversion, so far as that is plain from its class."""
    if isinstance(value, bool):
        return bool(pa.types.is_boolean(type))
    if isinstance(value, int):
        return (
            bool(pa.types.is_signed_integer(type)) and -(1 << type.bit_width - 1) <= value < 1 << type.bit_width - 1
        )
    if isinstance(value, float):
        return bool(pa.types.is_float64(type))
    return isinstance(value, str) and bool(pa.types.is_string(type)) and value.isprintable()


def array_of(values: Sequence[Any], type: pa.DataType) -> pa.Array:
    """Values as Arrow has them. REQUIRES: `is_exactly` for each, and none is a bool."""
    if not pa.types.is_string(type):
        data = np.array(values, _NUMBERS[type]).tobytes()
        return pa.Array.from_buffers(type, len(values), [None, pa.py_buffer(data)])
    encoded = [value.encode() for value in values]
    offsets = np.cumsum([0, *map(len, encoded)]).astype("<i4").tobytes()
    return pa.Array.from_buffers(type, len(values), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))])


def mask_of(array: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    """A mask as numpy has it; what is null is false."""
    valid, values = array.buffers()
    return _bits(values, array) & _bits(valid, array) if array.null_count else _bits(values, array)


def _bits(buffer: pa.Buffer, array: pa.Array) -> npt.NDArray[np.bool_]:
    if not len(array):
        return np.empty(0, np.bool_)
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), count=array.offset + len(array), bitorder="little")
    return bits[array.offset :].view(np.bool_)


def numbers_of(array: pa.Array) -> npt.NDArray[Any]:
    """The values of a column of numbers or times that are not null."""
    if array.null_count or array.type not in _NUMBERS:
        found: npt.NDArray[Any] = array.drop_null().to_numpy(zero_copy_only=False)
        return found
    kind = np.dtype(_NUMBERS[array.type])
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


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
        begin = 4 * column.offset
        offsets = memoryview(column.buffers()[1]).cast("B")[begin : begin + 4 * (len(column) + 1)].cast("i")
        data = memoryview(column.buffers()[2]).cast("B")
        if pa.types.is_binary(column.type):
            return lambda index: bytes(data[offsets[index] : offsets[index + 1]])
        return lambda index: str(data[offsets[index] : offsets[index + 1]], "utf-8")
    return lambda index: python_value(column[index])
