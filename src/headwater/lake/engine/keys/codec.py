"""From key columns to encoded keys: byte order is key order.
One key column of a type that fits in 64 bits becomes a number (`NumberKeys`): integers and times with the sign bit
flipped, floats by the usual trick on their bits. Everything else becomes bytes (`BytesKeys`), the columns one after
the other: numbers big-endian, decimals as sixteen bytes, strings and binaries with every zero byte followed by 0xFF
and the end marked by 00 01, which sorts before anything a longer string could have there."""

import datetime
import decimal
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.errors import SchemaError
from headwater.lake.engine.keys.columns import BytesKeys, Keys, NativeKey, NumberKeys
from headwater.lake.engine.types import arrow_type, from_unscaled, unscaled
from headwater.lazy import arrow_compute as pc
from headwater.model.schema import Field, Schema
from headwater.model.types import INTEGERS, TYPES, DataType, Decimal
from headwater.text import counted

_WIDTHS = {type.name: facts.width for type, facts in TYPES.items() if facts.width is not None}
_INTEGER_BIAS = {type.name: 1 << (8 * _WIDTHS[type.name] - 1) for type in INTEGERS}
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class RowKey:
    """The key of one row, encoded: comparing the bytes compares the keys."""

    encoded: bytes

    def __lt__(self, other: "RowKey") -> bool:
        return self.encoded < other.encoded


class KeyCodec:
    """Encodes the keys of one table. RAISES: SchemaError when a key column has a type without an order."""

    def __init__(self, schema: Schema) -> None:
        self.fields = tuple(schema.field(name) for name in schema.primary_keys)
        for field in self.fields:
            if not _has_order(field.type):
                raise SchemaError(f"key column `{field.name}` has the type {field.type}, which has no order")
        self.is_number = len(self.fields) == 1 and str(self.fields[0].type) in _WIDTHS
        self.stored = tuple(f for f in schema.fields if not (self.is_number and f.name == self.fields[0].name))
        self.key_at = schema.names.index(self.fields[0].name) if self.is_number else -1  # a column that is not stored
        self._numbers = [_number_of(field.type) for field in self.fields]
        self._bias = _INTEGER_BIAS.get(str(self.fields[0].type), 0) if self.is_number else 0

    def native(self, key: Any) -> NativeKey:
        """One key from a value, a tuple of values or a `RowKey`.
        RAISES: SchemaError when it does not fit the key columns."""
        bias = self._bias
        if type(key) is int and -bias <= key < bias:
            return key + bias  # the common case first: one integer column
        if isinstance(key, RowKey):
            return int.from_bytes(key.encoded, "big") if self.is_number else key.encoded
        values = key if isinstance(key, tuple) else (key,)
        if len(values) != len(self.fields):
            raise SchemaError(f"the key has {counted(len(self.fields), 'column')}, {len(values)} were given")
        try:
            if self.is_number:
                return self._numbers[0](values[0])
            return b"".join(
                _encode_part(field, number, value) for field, number, value in zip(self.fields, self._numbers, values)
            )
        except (TypeError, ValueError, AttributeError, OverflowError, decimal.InvalidOperation) as err:
            names = ", ".join(f"{field.name} {field.type}" for field in self.fields)
            raise SchemaError(f"{key!r} is not a key of ({names}): {err}") from err

    def prefix(self, values: tuple[Any, ...]) -> bytes:
        """Return what the keys begin with whose first columns have these values. REQUIRES: keys are bytes.
        RAISES: SchemaError when a value does not fit its column."""
        parts = zip(self.fields, self._numbers, values)
        try:
            return b"".join(_encode_part(field, number, value) for field, number, value in parts)
        except (TypeError, ValueError, AttributeError, OverflowError, decimal.InvalidOperation) as err:
            raise SchemaError(f"{values!r} is not the beginning of a key: {err}") from err

    def encode(self, columns: pa.RecordBatch) -> Keys:
        """The keys of many rows. REQUIRES: the key columns are there, of the schema's types.
        RAISES: SchemaError when one is null."""
        arrays = [columns.column(field.name) for field in self.fields]
        for field, array in zip(self.fields, arrays):
            if array.null_count:
                raise SchemaError(f"key column `{field.name}` is null in {array.null_count} rows")
        if self.is_number:
            return NumberKeys(_numbers(arrays[0], self.fields[0].type))
        parts = [_encode_column(array, field.type) for array, field in zip(arrays, self.fields)]
        joined = parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, b"")
        return BytesKeys(joined)

    def decode(self, keys: Keys) -> pa.Array:
        """The key column of rows whose key is a number and not stored among the columns."""
        assert isinstance(keys, NumberKeys)
        return _from_numbers(keys.values, self.fields[0].type)

    def values(self, key: NativeKey) -> tuple[Any, ...]:
        """The values of one key: what `native` was given. RAISES: SchemaError when no value gives such a key."""
        try:
            if isinstance(key, int):
                if self._bias:
                    return (key - self._bias,)
                return (_from_numbers(np.array([key], np.uint64), self.fields[0].type)[0].as_py(),)
            values, rest = [], key
            for field in self.fields:
                value, rest = _decode_part(field, rest)
                values.append(value)
        except (ValueError, OverflowError) as err:
            raise SchemaError(f"stored bytes are not a key of this table: {err}") from err
        return tuple(values)


def _has_order(type: DataType) -> bool:
    return str(type) in _WIDTHS or str(type) in ("STRING", "BINARY") or isinstance(type, Decimal)


def _number_of(type: DataType) -> Callable[[Any], int]:
    """Return how one value of a fixed-width type becomes a number whose order is the value's order."""
    match str(type):
        case "BOOLEAN":
            return lambda value: int(_expect(bool, value))
        case "FLOAT":
            return lambda value: _float_number(value, "<f", "<I", 32)
        case "DOUBLE":
            return lambda value: _float_number(value, "<d", "<Q", 64)
        case "DATE":
            return lambda value: (value - _EPOCH.date()).days + (1 << 31)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return lambda value: _microseconds(value) + (1 << 63)
        case name if name in _WIDTHS:
            bias = 1 << (8 * _WIDTHS[name] - 1)
            return lambda value: _biased(value, bias)
    return lambda value: 0


def _biased(value: int, bias: int) -> int:
    if type(value) is not int or not -bias <= value < bias:
        raise ValueError("out of range" if isinstance(value, int) else "not an integer")
    return value + bias


def _expect(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"not a {kind.__name__}")
    return value


def _microseconds(value: datetime.datetime) -> int:
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return (value - _EPOCH) // _MICROSECOND


def _float_number(value: float, pack: str, unpack: str, bits: int) -> int:
    value = float("nan") if value != value else value + 0.0  # one NaN, one zero
    raw: int = struct.unpack(unpack, struct.pack(pack, value))[0]
    top = 1 << (bits - 1)
    return raw ^ ((1 << bits) - 1) if raw & top else raw | top


def _encode_part(field: Field, number: Callable[[Any], int], value: Any) -> bytes:
    if value is None:
        raise ValueError(f"`{field.name}` is null")
    name = str(field.type)
    if name in _WIDTHS:
        return number(value).to_bytes(_WIDTHS[name], "big")
    if isinstance(field.type, Decimal):
        stored = pa.scalar(decimal.Decimal(value), arrow_type(field.type)).as_py()
        return (unscaled(stored, field.type.scale) + (1 << 127)).to_bytes(16, "big")
    data = _expect(str, value).encode() if name == "STRING" else bytes(_expect(bytes, value))
    return data.replace(b"\0", b"\0\xff") + b"\0\1"


def _decode_part(field: Field, data: bytes) -> tuple[Any, bytes]:
    name = str(field.type)
    if name in _WIDTHS:
        width = _WIDTHS[name]
        number = np.array([int.from_bytes(data[:width], "big")], np.uint64)
        return _from_numbers(number, field.type)[0].as_py(), data[width:]
    if isinstance(field.type, Decimal):
        return from_unscaled(int.from_bytes(data[:16], "big") - (1 << 127), field.type.scale), data[16:]
    end = data.index(b"\0\1")
    value = data[:end].replace(b"\0\xff", b"\0")
    return value.decode() if name == "STRING" else value, data[end + 2 :]


def _encode_column(array: pa.Array, type: DataType) -> pa.BinaryArray:
    name = str(type)
    if name in _WIDTHS:
        width = _WIDTHS[name]
        numbers = _numbers(array, type).astype(f">u{width}")
        return pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(width), len(array), [None, pa.py_buffer(numbers.tobytes())]
        ).cast(pa.binary())
    if isinstance(type, Decimal):
        words = np.frombuffer(array.buffers()[1], "<u8")[2 * array.offset : 2 * (array.offset + len(array))]
        pairs = words.reshape(-1, 2)[:, ::-1].astype(">u8")
        pairs[:, 0] ^= np.uint64(1 << 63)
        buffer = pa.py_buffer(np.ascontiguousarray(pairs).tobytes())
        return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(array), [None, buffer]).cast(pa.binary())
    data = array.cast(pa.binary())
    if pc.any(pc.greater_equal(pc.find_substring(data, b"\0"), 0)).as_py():
        data = pa.array([value.replace(b"\0", b"\0\xff") for value in data.to_pylist()], pa.binary())
    return pc.binary_join_element_wise(data, b"\0\1", b"")


def _numbers(array: pa.Array, type: DataType) -> npt.NDArray[np.uint64]:
    name = str(type)
    if name == "BOOLEAN":
        return np.asarray(array.to_numpy(zero_copy_only=False), np.uint64)
    width = _WIDTHS[name]
    raw = np.frombuffer(array.buffers()[1], f"<u{width}")[array.offset : array.offset + len(array)]
    top = raw.dtype.type(1 << (8 * width - 1))
    if name in ("FLOAT", "DOUBLE"):
        values = raw.view(f"<f{width}") + raw.dtype.type(0).view(f"<f{width}")  # one zero
        raw = np.where(np.isnan(values), np.array(np.nan, values.dtype), values).view(raw.dtype)
        raw = np.where(raw & top, ~raw, raw | top)
    else:
        raw = raw ^ top
    numbers: npt.NDArray[np.uint64] = raw.astype(np.uint64)
    return numbers


def _from_numbers(numbers: npt.NDArray[np.uint64], type: DataType) -> pa.Array:
    name = str(type)
    if name == "BOOLEAN":
        return pa.array(numbers.astype(np.bool_))
    width = _WIDTHS[name]
    raw = numbers.astype(f"<u{width}")
    top = raw.dtype.type(1 << (8 * width - 1))
    if name in ("FLOAT", "DOUBLE"):
        raw = np.where(raw & top, raw ^ top, ~raw)
    else:
        raw = raw ^ top
    return pa.Array.from_buffers(arrow_type(type), len(raw), [None, pa.py_buffer(raw)])
