"""Tables to bytes and back in formats of others, in groups of rows."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet

from headwater.lake.engine.formats.jsonlines import read_json_lines, write_json_lines
from headwater.lake.engine.temporal import is_beyond_nanoseconds, with_numbers
from headwater.lake.engine.types import arrow_schema
from headwater.model.schema import Schema

KIND_COLUMN = "_kind"
GROUP_ROWS = 16_384


def write_groups(file_format: str, table: pa.Table, compression: str) -> bytes | memoryview:
    """A whole file. REQUIRES: the format is parquet, orc or json."""
    sink = pa.BufferOutputStream()
    match file_format:
        case "parquet":
            pa.parquet.write_table(table, sink, row_group_size=GROUP_ROWS, compression=compression)
        case "orc":
            codec = "uncompressed" if compression == "none" else compression
            table = _readable_as_orc(table)
            pa.orc.write_table(table, sink, compression=codec, stripe_size=GROUP_ROWS << 6)
        case "json":
            return write_json_lines(table)
    return memoryview(sink.getvalue()).cast("B")


def _readable_as_orc(table: pa.Table) -> pa.Table:
    """The table with numbers in columns whose timestamps Arrow could write to ORC, and not read back."""
    for at, column in enumerate(table.columns):
        if is_beyond_nanoseconds(column):
            table = table.set_column(at, table.schema.names[at], column.cast(with_numbers(column.type)))
    return table


def read_groups(file_format: str, data: bytes, schema: Schema) -> Iterator[pa.Table]:
    """The groups of a file, in the table's types, all columns nullable."""
    wanted = pa.schema([field.with_nullable(True) for field in arrow_schema(schema.fields)])
    wanted = wanted.append(pa.field(KIND_COLUMN, pa.int8()))
    source = pa.BufferReader(data)
    match file_format:
        case "parquet":
            parquet = pa.parquet.ParquetFile(source)
            for group in range(parquet.num_row_groups):
                yield parquet.read_row_group(group).select(wanted.names).cast(wanted)
        case "orc":
            orc = pa.orc.ORCFile(source)
            for stripe in range(orc.nstripes):
                yield pa.Table.from_batches([orc.read_stripe(stripe)]).select(wanted.names).cast(wanted)
        case "json":
            yield read_json_lines(data, wanted)
