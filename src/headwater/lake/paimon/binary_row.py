"""Paimon's BinaryRow: how partitions and keys stand in its manifests, and what bucket hashes are made of.

    row    = header byte, null bits (up to a multiple of 8 bytes), 8 bytes a field, then what did not fit there
    stored = arity in 4 bytes (big-endian), row

All numbers in a row are little-endian. Text of up to 7 bytes stands in its field, the last byte 0x80 + length; longer
text stands behind, its field being offset and length. Timestamps finer than milliseconds and decimals of more than 18
digits stand behind too.
"""

import datetime
import decimal
import struct
from collections.abc import Sequence
from typing import Any

from headwater.errors import CorruptFileError, SchemaError
from headwater.lake.engine.types import from_unscaled, unscaled
from headwater.model import types as dt

IN_FIELD = 7  # bytes of text that fit into a field
_PACK = {
    dt.BOOLEAN: "<?",
    dt.TINYINT: "<b",
    dt.SMALLINT: "<h",
    dt.INT: "<i",
    dt.BIGINT: "<q",
    dt.FLOAT: "<f",
    dt.DOUBLE: "<d",
}
_EPOCH = datetime.datetime(1970, 1, 1)
_DAY_ZERO = datetime.date(1970, 1, 1)


def header_bytes(arity: int) -> int:
    """The size of header byte and null bits together."""
    return (arity + 8 + 63) // 64 * 8


def encode_row(values: Sequence[Any], types: Sequence[dt.DataType]) -> bytes:
    """One row of Python values, as manifests store it."""
    head = header_bytes(len(values))
    fixed = bytearray(head + 8 * len(values))
    behind = bytearray()
    for index, (value, type) in enumerate(zip(values, types, strict=True)):
        at = head + 8 * index
        if value is None:
            fixed[(index + 8) // 8] |= 1 << (index + 8) % 8
        elif type in _PACK:
            struct.pack_into(_PACK[type], fixed, at, value)
        elif type == dt.DATE:
            struct.pack_into("<i", fixed, at, (value - _DAY_ZERO).days)
        elif isinstance(type, dt.Decimal) and type.precision <= 18:
            struct.pack_into("<q", fixed, at, unscaled(value, type.scale))
        else:
            raw, length, size = _variable(value, type)
            if length <= IN_FIELD and type in (dt.STRING, dt.BINARY):
                fixed[at : at + length] = raw
                fixed[at + 7] = 0x80 | length
            else:
                struct.pack_into("<Q", fixed, at, (len(fixed) + len(behind)) << 32 | length)
                behind += raw.ljust(size, b"\0")
    return struct.pack(">i", len(values)) + bytes(fixed) + bytes(behind)


def _variable(value: Any, type: dt.DataType) -> tuple[bytes, int, int]:
    """Return what stands behind for a value, the number beside its offset, and the room it takes."""
    if type in (dt.TIMESTAMP, dt.TIMESTAMP_LTZ):
        plain = value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo is not None else value
        millis, micros = divmod((plain - _EPOCH) // datetime.timedelta(microseconds=1), 1000)
        return struct.pack("<q", millis), micros * 1000, 8
    if isinstance(type, dt.Decimal):
        raw = decimal_bytes(value, type)
        return raw, len(raw), 16
    if type not in (dt.STRING, dt.BINARY):
        raise SchemaError(f"a column of type {type} can be no key and no partition in Paimon")
    raw = value.encode() if isinstance(value, str) else bytes(value)
    return raw, len(raw), (len(raw) + 7) // 8 * 8


def decimal_bytes(value: decimal.Decimal, type: dt.Decimal) -> bytes:
    """A wide decimal as Java writes big integers: the fewest bytes that hold its sign too."""
    digits = unscaled(value, type.scale)
    return digits.to_bytes((digits if digits >= 0 else ~digits).bit_length() // 8 + 1, "big", signed=True)


def decode_row(data: bytes, types: Sequence[dt.DataType]) -> list[Any]:
    """The Python values of a stored row. RAISES: CorruptFileError when it is not a row of these types."""
    try:
        if struct.unpack_from(">i", data)[0] != len(types):
            raise CorruptFileError(f"a row of {len(types)} fields was expected in a Paimon manifest")
        row = data[4:]
        head = header_bytes(len(types))
        values = []
        for index, type in enumerate(types):
            null = row[(index + 8) // 8] >> (index + 8) % 8 & 1
            values.append(None if null else _value(row, head + 8 * index, type))
        return values
    except (struct.error, IndexError, UnicodeDecodeError, OverflowError) as error:
        raise CorruptFileError(f"a row in a Paimon manifest is damaged: {error}") from error


def _value(row: bytes, at: int, type: dt.DataType) -> Any:
    if type in _PACK:
        return struct.unpack_from(_PACK[type], row, at)[0]
    if type == dt.DATE:
        return _DAY_ZERO + datetime.timedelta(days=struct.unpack_from("<i", row, at)[0])
    if isinstance(type, dt.Decimal) and type.precision <= 18:
        return from_unscaled(struct.unpack_from("<q", row, at)[0], type.scale)
    (place,) = struct.unpack_from("<Q", row, at)
    if type in (dt.STRING, dt.BINARY):
        raw = row[at : at + (row[at + 7] & 0x7F)] if row[at + 7] & 0x80 else _behind(row, place)
        return raw.decode() if type == dt.STRING else raw
    if type in (dt.TIMESTAMP, dt.TIMESTAMP_LTZ):
        millis = struct.unpack_from("<q", row, place >> 32)[0]
        return _EPOCH + datetime.timedelta(milliseconds=millis, microseconds=(place & 0xFFFFFFFF) // 1000)
    if isinstance(type, dt.Decimal):
        digits = int.from_bytes(_behind(row, place), "big", signed=True)
        return from_unscaled(digits, type.scale)
    raise CorruptFileError(f"a column of type {type} cannot stand in a Paimon manifest")


def _behind(row: bytes, place: int) -> bytes:
    start, length = place >> 32, place & 0xFFFFFFFF
    if start + length > len(row):
        raise CorruptFileError("a row in a Paimon manifest is cut short")
    return row[start : start + length]
