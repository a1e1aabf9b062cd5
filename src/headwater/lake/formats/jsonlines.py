"""Rows as JSON, one object to a line: the simplest data file there is, readable by anything."""

import base64
import json
from typing import Any

import msgspec
import pyarrow as pa

from headwater.lake.row import python_type
from headwater.lake.types import model_type


def write_json_lines(table: pa.Table) -> bytes:
    """Binary values become base64, times ISO text, decimals text."""
    rows = table.to_pylist(maps_as_pydicts="lossy")
    return "".join(json.dumps(row, default=_plain, ensure_ascii=False) + "\n" for row in rows).encode()


def read_json_lines(data: bytes, schema: pa.Schema) -> pa.Table:
    """RAISES: ValueError when a line is not such a row."""
    rows = [json.loads(line) for line in data.splitlines()]
    columns = []
    for field in schema:
        wanted = python_type(model_type(field.type))
        values = [msgspec.convert(row[field.name], wanted, strict=True) for row in rows]
        columns.append(pa.array(values, field.type))
    return pa.table(columns, schema=schema)


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
