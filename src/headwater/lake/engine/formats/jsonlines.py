"""Rows as JSON, one object to a line: the simplest data file there is, readable by anything."""

import base64
import json
from typing import Any

import msgspec
import pyarrow as pa

from headwater.lake.engine.row import python_rows, python_type
from headwater.lake.engine.temporal import is_beyond_python, with_numbers
from headwater.lake.engine.types import model_type


def write_json_lines(table: pa.Table) -> bytes:
    """Binary values become base64, times ISO text, decimals text.
    A column with dates or times beyond the years 1 to 9999 has numbers instead: days or microseconds since 1970."""
    for at, column in enumerate(table.columns):
        if is_beyond_python(column):
            table = table.set_column(at, table.schema.names[at], column.cast(with_numbers(column.type)))
    rows = python_rows(table)
    if any(_has_maps(field.type) for field in table.schema):
        rows = [_with_text_keys(row) for row in rows]
    lines = (json.dumps(row, default=plain, ensure_ascii=False) + "\n" for row in rows)
    return "".join(lines).encode()


def read_json_lines(data: bytes, schema: pa.Schema) -> pa.Table:
    """RAISES: ValueError when a line is not such a row."""
    rows = [json.loads(line) for line in data.splitlines()]
    columns = [_column([row[field.name] for row in rows], field.type) for field in schema]
    return pa.table(columns, schema=schema)


def _column(values: list[Any], type: pa.DataType) -> pa.Array:
    try:
        return _typed(values, type)
    except msgspec.ValidationError:
        numbers = with_numbers(type)
        if numbers == type:
            raise
        return _typed(values, numbers).cast(type)


def _typed(values: list[Any], type: pa.DataType) -> pa.Array:
    wanted = python_type(model_type(type))
    # not strict: the keys of a JSON object are text, whatever the keys of a map are
    return pa.array([msgspec.convert(value, wanted, strict=not _has_maps(type)) for value in values], type)


def _has_maps(type: pa.DataType) -> bool:
    if pa.types.is_map(type):
        return True
    return pa.types.is_nested(type) and any(_has_maps(type.field(at).type) for at in range(type.num_fields))


def _with_text_keys(value: Any) -> Any:
    """A value in which keys of maps that JSON does not take are text."""
    if isinstance(value, dict):
        return {_key(key): _with_text_keys(each) for key, each in value.items()}
    return [_with_text_keys(each) for each in value] if isinstance(value, list) else value


def _key(key: Any) -> Any:
    return key if isinstance(key, str | int | float) else plain(key)


def plain(value: Any) -> str:
    """A value JSON does not have, as text."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
