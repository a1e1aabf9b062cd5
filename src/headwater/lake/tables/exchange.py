"""Files of others in and out: Parquet, CSV, JSON lines, Arrow."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet

from headwater.errors import InputError, MemoryLimitError, UsageError
from headwater.lake.engine.formats.jsonlines import write_json_lines
from headwater.lake.engine.sst.format import out_of_memory
from headwater.text import suggest

_KINDS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
}


def file_kind(path: str | Path) -> str:
    """The format of a file by the end of its name. RAISES: UsageError."""
    suffix = Path(path).suffix.lower()
    if suffix not in _KINDS:
        hint = suggest(suffix, _KINDS, f"known: {', '.join(_KINDS)}")
        raise UsageError(f"{path} has no ending that says its format", hint=hint)
    return _KINDS[suffix]


def file_schema(path: str | Path) -> pa.Schema:
    """The Arrow schema of a file; for CSV and JSON as its first rows suggest. RAISES: InputError."""
    batch = next(read_file(path), None)
    if batch is None:
        raise InputError(f"{path} has no rows to tell its columns by")
    return batch.schema


def read_file(path: str | Path, wanted: pa.Schema | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a file by the batch; text is read in the types of `wanted` where it names a column.
    RAISES: InputError when the file is missing or not of its format."""
    try:
        yield from _batches(Path(path), wanted)
    except FileNotFoundError as err:
        raise InputError(f"there is no file {path}") from err
    except MemoryError as err:
        raise out_of_memory(str(path)) from err
    except (pa.ArrowException, OSError) as err:
        raise InputError(f"{path} cannot be read: {err}") from err


def write_file(path: str | Path, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> int:
    """Write rows to a file in the format its name says; returns how many. RAISES: InputError."""
    kind, rows = file_kind(path), 0
    try:
        with Path(path).open("wb") as file:
            if kind == "json":
                for batch in batches:
                    file.write(write_json_lines(pa.Table.from_batches([batch])))
                    rows += len(batch)
                return rows
            with _writer(kind, file, schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
                    rows += len(batch)
    except MemoryError as err:
        raise MemoryLimitError(f"{path} cannot be written: there is not enough memory") from err
    except (pa.ArrowException, OSError) as err:
        raise InputError(f"{path} cannot be written: {err}") from err
    return rows


def _writer(kind: str, file: object, schema: pa.Schema) -> pa.ipc.RecordBatchFileWriter:
    match kind:
        case "parquet":
            return pa.parquet.ParquetWriter(file, schema, compression="zstd")
        case "csv":
            return pa.csv.CSVWriter(file, schema)
    return pa.ipc.new_file(file, schema)


def _json_field(field: pa.Field) -> pa.Field:
    """A column as Arrow's JSON reader takes it: dates are text there, and become dates when they are written."""
    type = pa.string() if pa.types.is_date(field.type) else field.type
    return pa.field(field.name, type)


def _batches(path: Path, wanted: pa.Schema | None) -> Iterator[pa.RecordBatch]:
    match file_kind(path):
        case "parquet":
            with pa.parquet.ParquetFile(path) as parquet:
                yield from parquet.iter_batches()
        case "csv":
            types = {field.name: field.type for field in wanted} if wanted is not None else None
            options = pa.csv.ConvertOptions(
                column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False
            )
            with pa.csv.open_csv(path, convert_options=options) as reader:
                yield from reader
        case "json":
            schema = None if wanted is None else pa.schema([_json_field(field) for field in wanted])
            options = pa.json.ParseOptions(explicit_schema=schema)
            yield from pa.json.read_json(path, parse_options=options).to_batches()
        case "arrow":
            with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as file:
                for at in range(file.num_record_batches):
                    yield file.get_batch(at)
