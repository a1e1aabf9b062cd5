"""A column chunk: the values of one column in one block, as bytes.

    chunk    form (1) · flags (1) · width (1) · bits (1) · zeros (4) · validity, if flag 1
             (a bit per row, zeros up to 8) · body
    nothing  form 0: every value is null; no body
    fixed    form 1: values of fixed width, as Arrow has them
    numbers  form 2: base (8, signed) · the difference of each value to it in `width` bytes (0: all are the base)
    text     form 3: length of each value in `width` bytes (0: one length of 4 bytes for all) · zeros up to 8 · bytes
    arrow    form 4: one Arrow record batch message of one column: lists, maps, structs
    bits     form 5: one bit per row
    narrow   form 6: base (8) · the low `width` bytes of each difference · zeros up to 8 · the `bits` above them

Numbers are integers, dates, times, and decimals that fit into 64 bits. Differences mostly take fewer bytes than
values, and one value is read without the others.
"""

import struct

import numpy as np
import pyarrow as pa

from headwater.lake.engine.sst.format import corrupt
from headwater.lake.engine.sst.numbers import (
    WIDTHS,
    as_column,
    as_numbers,
    bits_size,
    differences,
    fits_precision,
    from_bits,
    holds_numbers,
    in_bits,
    is_bits,
    target_of,
)
from headwater.lazy import arrow_compute as pc

_HEAD = struct.Struct("<BBBB4x")
_NOTHING, _FIXED, _NUMBERS, _TEXT, _ARROW, _BITS, _NARROW = range(7)
_HAS_NULLS = 1
_OFFSET = 4  # bytes
Place = tuple[str, str, int]


def encode_chunk(array: pa.Array) -> list[bytes | memoryview]:
    """The bytes of a column, in pieces."""
    rows, type = len(array), array.type
    if array.null_count == rows:
        return [_HEAD.pack(_NOTHING, 0, 0, 0)]
    if pa.types.is_nested(type):
        message = pa.RecordBatch.from_arrays([array], names=["c"]).serialize()
        return [_HEAD.pack(_ARROW, 0, 0, 0), memoryview(message).cast("B")]
    valid = _validity(array)
    flags = 0 if valid is None else _HAS_NULLS
    if pa.types.is_boolean(type):
        bits = np.packbits(np.asarray(pc.fill_null(array, False)), bitorder="little")
        return [_HEAD.pack(_BITS, flags, 0, 0), *_padded(valid), bits.tobytes()]
    if _is_text(type):
        width, lengths, data = _text(array)
        return [_HEAD.pack(_TEXT, flags, width, 0), *_padded(valid), *_padded(lengths), data]
    values = _values(array)
    numbers = as_numbers(array, values)
    if numbers is not None:
        width, base, deltas = differences(numbers, valid, rows)
        return [_HEAD.pack(_NUMBERS, flags, width, 0), *_padded(valid), struct.pack("<q", base), deltas]
    return [_HEAD.pack(_FIXED, flags, 0, 0), *_padded(valid), values]


def narrowed(chunk: bytes | memoryview, rows: int) -> bytes | memoryview:
    """The same chunk with numbers in bits, where that takes less room: for numbers that do not compress."""
    view = memoryview(chunk)
    form, flags, width, _ = _HEAD.unpack(view[: _HEAD.size])
    if form != _NUMBERS or not width:
        return chunk
    start = _HEAD.size + (-(-rows // 64) * 8 if flags & _HAS_NULLS else 0) + 8
    found = in_bits(view[start:], width)
    if found is None:
        return chunk
    low, high, body = found
    return b"".join((_HEAD.pack(_NARROW, flags, low, high), view[_HEAD.size : start], body))


def decode_chunk(raw: pa.Buffer, type: pa.DataType, rows: int, at: Place) -> pa.Array:
    """The column whose chunk this is.
    RAISES: CorruptFileError, or an error of Arrow's or numpy's, when it is not a chunk of such a column."""
    view = memoryview(raw).cast("B")
    form, flags, width, bits = _HEAD.unpack(view[: _HEAD.size])
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
    if form in (_NUMBERS, _NARROW):
        return _decode_numbers(view, start, (form, width, bits), type, (rows, valid, at))
    size = (rows + 7) // 8 if form == _BITS else rows * type.bit_width // 8
    is_bits = pa.types.is_boolean(type)
    is_fixed = pa.types.is_primitive(type) or pa.types.is_decimal(type)
    _require((form == _BITS) == is_bits and is_fixed and len(view) == start + size, at)
    found = pa.Array.from_buffers(type, rows, [valid, raw.slice(start)])
    if pa.types.is_decimal(type):
        found.validate(full=True)
    return found


def decoded_width(schema: pa.Schema) -> int:
    """Bytes of a row that decoding makes besides the unpacked chunks: fixed-width values, offsets of text."""
    return sum(
        _OFFSET if _is_text(type) or pa.types.is_nested(type) else -(-type.bit_width // 8) for type in schema.types
    )


def _is_text(type: pa.DataType) -> bool:
    return bool(pa.types.is_string(type) or pa.types.is_binary(type))


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


def _decode_numbers(
    view: memoryview,
    start: int,
    form: tuple[int, int, int],
    type: pa.DataType,
    rest: tuple[int, pa.Buffer | None, Place],
) -> pa.Array:
    (rows, valid, at), (kind, width, bits) = rest, form
    _require(holds_numbers(type), at)
    target = target_of(type)
    base, body = int(struct.unpack_from("<q", view, start)[0]), view[start + 8 :]
    if kind == _NARROW:
        _require(is_bits(width, bits, 8 * target().itemsize) and len(body) == bits_size(rows, width, bits), at)
        numbers = from_bits(body, rows, width, bits, target)
    else:
        _require(width in WIDTHS and len(body) == rows * width, at)
        numbers = np.frombuffer(body, f"<u{width}").astype(target) if width else np.zeros(rows, target)
    found = as_column(type, numbers, base, valid)
    if pa.types.is_decimal(type):
        _require(fits_precision(numbers, type.precision), at)
    return found


def _decode_text(
    raw: pa.Buffer, start: int, width: int, type: pa.DataType, rest: tuple[int, pa.Buffer | None, Place]
) -> pa.Array:
    rows, valid, at = rest
    view = memoryview(raw).cast("B")
    _require(width in (0, 1, 2, 4) and _is_text(type), at)
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
