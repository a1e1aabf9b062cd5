"""A column chunk: the values of one column in one block, as bytes.

    chunk    form (1) · flags (1) · width (1) · zeros (5) · validity: a bit per row, if flag 1 · zeros up to 8 · body
    nothing  form 0: every value is null; no body
    fixed    form 1: values of fixed width, as Arrow has them
    numbers  form 2: base (8, signed) · the difference of each value to it in `width` bytes (0: all are the base)
    text     form 3: length of each value in `width` bytes (0: one length of 4 bytes for all) · zeros up to 8 · bytes
    arrow    form 4: one Arrow record batch message of one column: lists, maps, structs
    bits     form 5: one bit per row

Numbers are integers, dates, times, and decimals that fit into 64 bits. Differences mostly take fewer bytes than
values, and one value is read without the others.
"""

import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headwater.lake.engine.sst.format import corrupt

_HEAD = struct.Struct("<BBB5x")
_NOTHING, _FIXED, _NUMBERS, _TEXT, _ARROW, _BITS = range(6)
_HAS_NULLS = 1
_WIDTHS = (0, 1, 2, 4, 8)
Place = tuple[str, str, int]


def encode_chunk(array: pa.Array) -> list[bytes | memoryview]:
    """The bytes of a column, in pieces."""
    rows, type = len(array), array.type
    if array.null_count == rows:
        return [_HEAD.pack(_NOTHING, 0, 0)]
    if pa.types.is_nested(type):
        message = pa.RecordBatch.from_arrays([array], names=["c"]).serialize()
        return [_HEAD.pack(_ARROW, 0, 0), memoryview(message).cast("B")]
    valid = _validity(array)
    flags = 0 if valid is None else _HAS_NULLS
    if pa.types.is_boolean(type):
        bits = np.packbits(np.asarray(pc.fill_null(array, False)), bitorder="little")
        return [_HEAD.pack(_BITS, flags, 0), *_padded(valid), bits.tobytes()]
    if pa.types.is_string(type) or pa.types.is_binary(type):
        width, lengths, data = _text(array)
        return [_HEAD.pack(_TEXT, flags, width), *_padded(valid), *_padded(lengths), data]
    numbers = _as_numbers(array)
    if numbers is not None:
        width, base, deltas = _deltas(numbers, valid, rows)
        return [_HEAD.pack(_NUMBERS, flags, width), *_padded(valid), struct.pack("<q", base), deltas]
    return [_HEAD.pack(_FIXED, flags, 0), *_padded(valid), _values(array)]


def decode_chunk(raw: pa.Buffer, type: pa.DataType, rows: int, at: Place) -> pa.Array:
    """The column whose chunk this is.

    RAISES: CorruptFileError, or an error of Arrow's or numpy's, when it is not a chunk of such a column.
    """
    view = memoryview(raw).cast("B")
    form, flags, width = _HEAD.unpack(view[: _HEAD.size])
    if form == _NOTHING:
        return pa.nulls(rows, type)
    if form == _ARROW:
        batch = pa.ipc.read_record_batch(raw.slice(_HEAD.size), pa.schema([pa.field("c", type)]))
        _require(batch.num_rows == rows, at)
        return batch.column(0)
    start, valid = _HEAD.size, None
    if flags & _HAS_NULLS:
        valid = raw.slice(start, (rows + 7) // 8)
        start += -(-rows // 64) * 8
    if form == _TEXT:
        return _decode_text(raw, start, width, type, (rows, valid, at))
    if form == _NUMBERS:
        return _decode_numbers(view, start, width, type, (rows, valid, at))
    size = (rows + 7) // 8 if form == _BITS else rows * type.bit_width // 8
    is_bits = pa.types.is_boolean(type)
    is_fixed = pa.types.is_primitive(type) or pa.types.is_decimal(type)
    _require((form == _BITS) == is_bits and is_fixed and len(view) == start + size, at)
    return pa.Array.from_buffers(type, rows, [valid, raw.slice(start)])


def _validity(array: pa.Array) -> bytes | None:
    """One bit per row, from the lowest on; None if no value is null."""
    if not array.null_count:
        return None
    return np.packbits(np.asarray(array.is_valid()), bitorder="little").tobytes()


def _padded(data: bytes | None) -> list[bytes]:
    return [] if not data else [data, bytes(-len(data) % 8)]


def _values(array: pa.Array) -> memoryview:
    width = array.type.bit_width // 8
    start = array.offset * width
    return memoryview(array.buffers()[1]).cast("B")[start : start + len(array) * width]


def _text(array: pa.Array) -> tuple[int, bytes, memoryview]:
    offsets = np.frombuffer(array.buffers()[1], np.int32, len(array) + 1, array.offset * 4)
    content = array.buffers()[2]
    data = memoryview(b"" if content is None else content).cast("B")[int(offsets[0]) : int(offsets[-1])]
    lengths = np.diff(offsets)
    longest = int(lengths.max())
    if longest == int(lengths.min()):
        return 0, struct.pack("<I", longest), data
    width = 1 if longest < 1 << 8 else 2 if longest < 1 << 16 else 4
    return width, lengths.astype(f"<u{width}").tobytes(), data


def _as_numbers(array: pa.Array) -> npt.NDArray[Any] | None:
    """Integers whose differences are stored instead of the values; None where there are none."""
    type = array.type
    if pa.types.is_integer(type) or pa.types.is_temporal(type):
        return np.frombuffer(_values(array), f"<i{type.bit_width // 8}")
    if pa.types.is_decimal128(type):
        words = np.frombuffer(_values(array), "<i8").reshape(-1, 2)
        low, high = words[:, 0], words[:, 1]
        fits = high == (low >> 63)
        if array.null_count:
            fits = fits | ~np.asarray(array.is_valid())
        return low if fits.all() else None
    return None


def _deltas(numbers: npt.NDArray[Any], valid: bytes | None, rows: int) -> tuple[int, int, bytes]:
    if valid is not None:  # what stands where a null is does not matter: it is made the smallest of the others
        present = np.unpackbits(np.frombuffer(valid, np.uint8), count=rows, bitorder="little").view(np.bool_)
        numbers = np.where(present, numbers, numbers[present].min())
    base, spread = int(numbers.min()), int(numbers.max()) - int(numbers.min())
    width = next(width for width in _WIDTHS if spread < 1 << (8 * width))
    if not width:
        return 0, base, b""
    wide = numbers.astype(np.int64).view(np.uint64) - np.uint64(base & 0xFFFF_FFFF_FFFF_FFFF)
    return width, base, wide.astype(f"<u{width}").tobytes()


def _decode_numbers(
    view: memoryview, start: int, width: int, type: pa.DataType, rest: tuple[int, pa.Buffer | None, Place]
) -> pa.Array:
    rows, valid, at = rest
    is_decimal = pa.types.is_decimal128(type)
    is_number = pa.types.is_integer(type) or pa.types.is_temporal(type)
    _require(width in _WIDTHS and (is_number or is_decimal) and len(view) == start + 8 + rows * width, at)
    (base,) = struct.unpack("<q", view[start : start + 8])
    target = np.uint64 if is_decimal else np.dtype(f"<u{type.bit_width // 8}").type
    start_value = target(base & ((1 << (8 * np.dtype(target).itemsize)) - 1))
    if width:
        numbers = np.frombuffer(view[start + 8 :], f"<u{width}").astype(target)
        numbers += start_value
    else:
        numbers = np.full(rows, start_value)
    if is_decimal:
        low = numbers.view(np.int64)
        numbers = np.stack((low, low >> 63), axis=1)
    return pa.Array.from_buffers(type, rows, [valid, pa.py_buffer(numbers)])


def _decode_text(
    raw: pa.Buffer, start: int, width: int, type: pa.DataType, rest: tuple[int, pa.Buffer | None, Place]
) -> pa.Array:
    rows, valid, at = rest
    view = memoryview(raw).cast("B")
    _require(width in (0, 1, 2, 4) and (pa.types.is_string(type) or pa.types.is_binary(type)), at)
    offsets = np.zeros(rows + 1, np.int64)
    if width:
        np.cumsum(np.frombuffer(view[start:], f"<u{width}", rows), out=offsets[1:])
        data_at = start + -(-rows * width // 8) * 8
    else:
        (length,) = struct.unpack("<I", view[start : start + 4])
        offsets = np.arange(rows + 1, dtype=np.int64) * length
        data_at = start + 8
    _require(data_at + int(offsets[-1]) == len(view), at)
    buffers = [valid, pa.py_buffer(offsets.astype(np.int32)), raw.slice(data_at)]
    found = pa.Array.from_buffers(type, rows, buffers)
    if pa.types.is_string(type) and np.frombuffer(view[data_at:], np.int8).min(initial=0) < 0:
        found.validate(full=True)  # ASCII is UTF-8, and is told much faster
    return found


def _require(holds: bool, at: Place) -> None:
    if not holds:
        raise corrupt(*at)
