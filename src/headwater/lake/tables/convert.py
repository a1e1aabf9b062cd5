"""Rows in any form that people have them in, as Arrow tables of a table's columns."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import pyarrow as pa

from headwater.errors import UsageError
from headwater.lake.engine.row import Row, RowCodec, rows_to_arrow
from headwater.lake.engine.types import arrow_schema, conform
from headwater.model.schema import Schema

_TABLE_BYTES = 1 << 30  # a larger table is taken in parts, so that Arrow's 32-bit offsets suffice
_STREAM_BYTES = 256 << 20  # of a stream, which needs memory only for what is gathered
_CHUNK_ROWS = 100_000  # of rows given one by one


def conforming(data: Any, schema: Schema) -> Iterator[pa.Table]:
    """Data in the columns and types of a schema, in parts of bounded size. Takes Arrow tables, batches and readers,
    anything with an Arrow stream (pandas, Polars, DuckDB), columns by name, and rows: mappings, tuples, `Row`s.
    RAISES: SchemaError naming the column that does not fit, UsageError for data of another kind."""
    for table in _tables(data, schema):
        whole = conform(table, schema)
        step = max(1, whole.num_rows * _TABLE_BYTES // max(1, whole.nbytes))
        for start in range(0, whole.num_rows, step):
            yield whole.slice(start, step)


def _tables(data: Any, schema: Schema) -> Iterator[pa.Table]:
    if isinstance(data, pa.Table):
        yield data
    elif isinstance(data, pa.RecordBatch):
        yield pa.Table.from_batches([data])
    elif hasattr(data, "__arrow_c_stream__"):
        yield from gathered(pa.RecordBatchReader.from_stream(data))
    elif isinstance(data, Mapping):
        # columns by name, in the types of the schema where Python values fit them, else as Arrow sees them
        types = {field.name: field.type for field in arrow_schema(schema.fields)}
        arrays = {}
        for name, values in data.items():
            try:
                arrays[name] = pa.array(values, types.get(name))
            except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
                arrays[name] = pa.array(values)
        yield pa.table(arrays)
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes):
        yield from _iterated(iter(data), schema)
    else:
        raise UsageError(
            f"cannot write {type(data).__name__}", hint="an Arrow table, a DataFrame, columns by name, or rows"
        )


def gathered(batches: Iterable[pa.RecordBatch], most: int = _STREAM_BYTES) -> Iterator[pa.Table]:
    """Batches put together until they have about so many bytes."""
    pending: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        pending.append(batch)
        size += batch.nbytes
        if size >= most:
            yield pa.Table.from_batches(pending)
            pending, size = [], 0
    if pending:
        yield pa.Table.from_batches(pending)


def _iterated(items: Iterator[Any], schema: Schema) -> Iterator[pa.Table]:
    first = next(items, None)
    if first is None:
        return
    if isinstance(first, pa.RecordBatch | pa.Table):
        yield from gathered(batch for item in _chain(first, items) for batch in _batches(item))
        return
    codec, rows = RowCodec(schema), _chain(first, items)
    while chunk := [codec.check(_row(row))[1] for row in islice(rows, _CHUNK_ROWS)]:
        yield pa.Table.from_batches([rows_to_arrow(chunk, schema.fields)])


def _row(row: Any) -> Any:
    if isinstance(row, Row):
        return dict(row.items())
    if isinstance(row, Mapping | tuple | list):
        return row
    raise UsageError(f"{row!r} is not a row", hint="a mapping, or a tuple of all columns in order")


def _batches(item: Any) -> list[pa.RecordBatch]:
    return item.to_batches() if isinstance(item, pa.Table) else [item]


def _chain(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest
