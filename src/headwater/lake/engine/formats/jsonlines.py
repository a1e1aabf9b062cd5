"""Rows as JSON, one object to a line: the simplest data file there is, readable by anything."""

import base64
import json
from typing import Any

import msgspec
import pyarrow as pa

from headwater.lake.engine.row import python_rows, python_type
from headwater.lake.engine.types import model_type


def write_json_lines(table: pa.Table) -> bytes:
    """Binary values become base64, times ISO text, decimals text."""
    lines = (json.dumps(row, default=plain, ensure_ascii=False) + "\n" for row in python_rows(table))
    return "".join(lines).encode()


def read_json_lines(data: bytes, schema: pa.Schema) -> pa.Table:
    """RAISES: ValueError when a line is not such a row."""
    rows = [json.loads(line) for line in data.splitlines()]
    columns = []
    for field in schema:
        wanted = python_type(model_type(field.type))
        values = [msgspec.convert(row[field.name], wanted, strict=True) for row in rows]
        columns.append(pa.array(values, field.type))
    return pa.table(columns, schema=schema)


def plain(value: Any) -> str:
    """A value JSON does not have, as text."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
