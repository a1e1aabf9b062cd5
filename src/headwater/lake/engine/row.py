"""Rows as Python sees them, and their bytes in the write-ahead log.
A row is written as one MessagePack array. Reading it back by the schema's types is also the check a row must pass
before it enters a table: what goes into memory is always what a flush can store."""

import datetime
import decimal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypedDict

import msgspec
import pyarrow as pa

from headwater.errors import SchemaError
from headwater.lake.engine.types import arrow_type
from headwater.model.schema import Field, Schema, no_column
from headwater.model.types import FLOAT, Array, DataType, Decimal, Foreign, Map, Primitive, Struct


class Row:
    """The values of one row, by position or by name.

    >>> row = Row(("id", "name"), (7, "Ada"))
    >>> row["name"], row[0], dict(row.items())
    ('Ada', 7, {'id': 7, 'name': 'Ada'})
    """

    __slots__ = ("names", "values")

    def __init__(self, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
        self.names = names
        self.values = values

    def __getitem__(self, column: str | int) -> Any:
        if isinstance(column, int):
            return self.values[column]
        try:
            return self.values[self.names.index(column)]
        except ValueError:
            raise no_column(column, self.names) from None

    def items(self) -> Iterator[tuple[str, Any]]:
        return zip(self.names, self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and self.values == other.values and self.names == other.names

    def __hash__(self) -> int:
        return hash((self.names, self.values))

    def __repr__(self) -> str:
        return f"Row({', '.join(f'{name}={value!r}' for name, value in self.items())})"


class RowCodec:
    """Checks rows against a schema and turns them into bytes and back."""

    def __init__(self, schema: Schema) -> None:
        self.names = schema.names
        self._fields = schema.fields
        self._encode = msgspec.msgpack.Encoder(decimal_format="string").encode
        types = tuple(python_type(field.type, nullable=field.nullable) for field in schema.fields)
        self._decode = msgspec.msgpack.Decoder(tuple[types]).decode  # type: ignore[valid-type]
        self._defaults = tuple(field.default for field in schema.fields)
        self._exact = [
            (index, arrow_type(field.type))
            for index, field in enumerate(schema.fields)
            if not isinstance(field.type, Primitive) or field.type == FLOAT
        ]

    def check(self, row: "Row | Mapping[str, Any] | Sequence[Any]") -> tuple[bytes, tuple[Any, ...]]:
        """The bytes and the values of a row that fits the schema.
        RAISES: SchemaError naming the column that does not."""
        values = self._arrange(row)
        try:
            data = self._encode(values)
            checked: tuple[Any, ...] = self._decode(data)
        except (msgspec.ValidationError, TypeError, UnicodeEncodeError, OverflowError) as err:
            raise self._misfit(values, err) from err
        return data, self._settle(checked) if self._exact else checked

    def decode(self, data: bytes | memoryview) -> tuple[Any, ...]:
        """The values of a row from its bytes. RAISES: SchemaError when they are not such a row."""
        try:
            values: tuple[Any, ...] = self._decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
            raise SchemaError(f"stored bytes are not a row of this table: {err}") from err
        return self._settle(values) if self._exact else values

    def _settle(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Values exactly as Arrow will give them back: scale, single precision and nesting are for Arrow to judge."""
        settled = list(values)
        for index, type in self._exact:
            settled[index] = _through_arrow(self._fields[index], values[index], type)
        return tuple(settled)

    def _arrange(self, row: "Row | Mapping[str, Any] | Sequence[Any]") -> tuple[Any, ...]:
        if isinstance(row, tuple):
            return row
        if isinstance(row, Row):
            if row.names == self.names:
                return row.values
            row = dict(row.items())
        if isinstance(row, Mapping):
            for name in row:
                if name not in self.names:
                    raise no_column(str(name), self.names)
            return tuple(row.get(name, default) for name, default in zip(self.names, self._defaults))
        if isinstance(row, str | bytes) or not isinstance(row, Iterable):
            raise SchemaError(f"{row!r} is not a row", hint="a mapping, or a tuple of all columns in order")
        return tuple(row)

    def _misfit(self, values: tuple[Any, ...], err: Exception) -> SchemaError:
        if len(values) != len(self.names):
            return SchemaError(f"a row has {len(self.names)} columns, {len(values)} were given")
        for field, value in zip(self._fields, values):
            wanted = python_type(field.type, nullable=field.nullable)
            try:
                msgspec.msgpack.decode(self._encode(value), type=wanted)
            except (msgspec.ValidationError, TypeError, UnicodeEncodeError, OverflowError) as why:
                null = "" if field.nullable else " NOT NULL"
                return SchemaError(f"column `{field.name}` is {field.type}{null}, not {value!r}: {why}")
        return SchemaError(str(err))


def python_value(scalar: pa.Scalar) -> Any:
    """An Arrow value as rows show it: maps are dictionaries.
    RAISES: SchemaError for a date or time that Python has no value for."""
    try:
        return _with_dicts(scalar.as_py(), scalar.type)
    except (OverflowError, ValueError) as err:
        raise _beyond_python(str(scalar.type)) from err


def python_rows(data: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    """Arrow data as rows, each a dictionary. RAISES: SchemaError for a date or time that Python has no value for."""
    try:
        rows: list[dict[str, Any]] = data.to_pylist()
    except (OverflowError, ValueError) as err:
        raise _beyond_python("date or time") from err
    for field in data.schema:
        if pa.types.is_nested(field.type):
            for row in rows:
                row[field.name] = _with_dicts(row[field.name], field.type)
    return rows


def _beyond_python(what: str) -> SchemaError:
    return SchemaError(
        f"a stored {what} is outside of what Python can show: its dates have the years 1 to 9999",
        hint="`to_arrow` gives it as it is, and `headwater sql` shows it as text",
    )


def _with_dicts(value: Any, type: pa.DataType) -> Any:
    """A Python value with the pairs that Arrow makes of a map turned into a dictionary."""
    if value is None or not pa.types.is_nested(type):
        return value
    if pa.types.is_map(type):
        if pa.types.is_nested(type.key_type):
            raise SchemaError(f"a stored {type} has keys that a Python dictionary cannot have")
        return {key: _with_dicts(item, type.item_type) for key, item in value}
    if pa.types.is_struct(type):
        return {field.name: _with_dicts(value[field.name], field.type) for field in type}
    return [_with_dicts(item, type.value_type) for item in value]


def rows_to_arrow(rows: Sequence[tuple[Any, ...]], fields: tuple[Field, ...]) -> pa.RecordBatch:
    """Checked rows as columns."""
    columns = zip(*rows) if rows else ([] for _ in fields)
    arrays = [pa.array(values, arrow_type(field.type)) for field, values in zip(fields, columns)]
    return pa.RecordBatch.from_arrays(arrays, names=[field.name for field in fields])


def _through_arrow(field: Field, value: Any, type: pa.DataType) -> Any:
    try:
        return python_value(pa.scalar(value, type))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as err:
        raise SchemaError(f"column `{field.name}` is {field.type}, not {value!r}: {err}") from err


def _integer(bits: int) -> Any:
    return Annotated[int, msgspec.Meta(ge=-(2 ** (bits - 1)), le=2 ** (bits - 1) - 1)]


_PYTHON_TYPES: dict[str, Any] = {
    "BOOLEAN": bool,
    "TINYINT": _integer(8),
    "SMALLINT": _integer(16),
    "INT": _integer(32),
    "BIGINT": _integer(64),
    "FLOAT": float,
    "DOUBLE": float,
    "STRING": str,
    "BINARY": bytes,
    "DATE": datetime.date,
    "TIMESTAMP": Annotated[datetime.datetime, msgspec.Meta(tz=False)],
    "TIMESTAMP_LTZ": Annotated[datetime.datetime, msgspec.Meta(tz=True)],
}


_typed_dict: Any = TypedDict  # called as a function: the members are known only at run time


def python_type(type: DataType, *, nullable: bool = True) -> Any:
    """The Python type whose values a column of a model type holds, as msgspec checks it."""
    match type:
        case Primitive(name):
            python = _PYTHON_TYPES[name]
        case Decimal():
            python = decimal.Decimal
        case Array(element):
            python = list[python_type(element)]  # type: ignore[misc]
        case Map(key, value):
            python = dict[python_type(key, nullable=False), python_type(value)]  # type: ignore[misc]
        case Struct(members):
            shape = {member.name: python_type(member.type) for member in members}
            msgspec.json.encode(list(shape))  # has CPython keep the UTF-8 of names, without which msgspec misses them
            python = _typed_dict("Struct", shape)
        case Foreign(text):
            raise SchemaError(f"a lake table cannot store the type {text}")
    return python | None if nullable else python
