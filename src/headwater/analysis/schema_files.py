"""Schemas in files of the kinds that people keep, and in folders of them.

| kind of file | what is read |
|---|---|
| `.json` | a schema, `information_schema` rows, BigQuery fields, dbt's catalog.json, Avro, JSON Schema |
| `.yaml`, `.yml` | BigQuery fields, the columns of a dbt properties file |
| `.avsc` | Avro |
| `.csv`, `.parquet` | rows of `information_schema.columns` |
| `.sql`, `.ddl` | definitions |

A file that does not name its table is named by its path: `project/dataset/table/schema.yaml` and
`project/dataset/table.json` both describe `project.dataset.table`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, TypeAlias

import msgspec

from headwater.analysis.described_tables import find_tables
from headwater.analysis.engines import open_front_end
from headwater.analysis.texts import SQL_SUFFIXES, read_sql, read_text
from headwater.errors import HeadwaterError, InputError, SchemaError, Severity
from headwater.lineage.imports import is_wire_schema, schema_of_csv, schema_of_rows, schema_of_value
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.schema import ColumnSchema, SchemaFunction, SchemaMetadata, SchemaTable, convert_schema
from headwater.lineage.script import analyze_script
from headwater.safe_yaml import read_yaml
from headwater.sql.frontend import SqlFrontEnd
from headwater.text import Source

Warn: TypeAlias = Callable[[str], None]

_YAML = (".yaml", ".yml")
_KINDS = (".json", *_YAML, ".avsc", ".csv", ".parquet", *SQL_SUFFIXES)
_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)
_DEFINES = re.compile(r"\b(?:CREATE|ALTER|DROP|RENAME)\b[\w\s]*\bTABLE\b", re.IGNORECASE)
_QUERIES = re.compile(r"\b(?:SELECT|INSERT|MERGE|UPDATE\s+\S+\s+SET|DELETE\s+FROM)\b", re.IGNORECASE)
_DESCRIBES = re.compile(r"\b(?:fields|columns)\b")
_NUMBERS = re.compile(r"(\d+)")
_DUMP = {"table_name", "column_name"}


def schema_of_file(path: Path, dialect: str | None = None) -> SchemaMetadata:
    """The schema in a file, which is of one of the kinds above.
    RAISES: InputError when it cannot be read, SchemaError when it is not a schema."""
    match path.suffix.lower():
        case ".json" | ".avsc":
            value = _json(path)
            return _described(value, path.stem.split("."), dialect) or schema_of_value(value, name=path.stem)
        case ".yaml" | ".yml":
            found = _described(_yaml(path), path.stem.split("."), dialect)
            if found is None:
                raise SchemaError(
                    f"{path} describes no tables", hint="a list `fields:`, or dbt's `models:`, `sources:`"
                )
            return found
        case ".csv":
            return schema_of_csv(read_text(path))
        case ".parquet":
            return schema_of_rows(_rows(path))
        case ".sql" | ".ddl":
            return schema_of_ddl([Source(read_sql(path, lambda message: None), str(path))], dialect)
    raise SchemaError(
        f"the kind of the schema file {path} is not known",
        hint="it may be JSON, YAML, Avro (.avsc), CSV or Parquet of information_schema, or SQL definitions",
    )


def schema_of_folder(root: Path, dialect: str | None = None, warn: Warn | None = None) -> SchemaMetadata:
    """The schemas in all files below a folder. Files that describe no tables are passed over.
    `warn` is told of files that cannot be read. Without it, the first of them is an error.
    RAISES: SchemaError when there is no schema at all."""
    found: dict[tuple[str, ...], tuple[SchemaTable, PurePath]] = {}
    functions: list[SchemaFunction] = []
    files = sorted(file for file in root.rglob("*") if file.suffix.lower() in _KINDS and file.is_file())
    for file in files:
        try:
            schema = _schema_in(file, root, dialect)
        except HeadwaterError as err:
            if warn is None:
                raise SchemaError(f"{file}: {err.message}", hint=err.hint) from err
            warn(f"{file} was left out: {err.message}")
            continue
        functions += schema.functions
        for table in schema.tables:
            _add(found, table, file, warn)
    for table in _definitions(files, dialect, warn).tables:
        _add(found, table, root, warn)
    if not found:
        raise SchemaError(f"no file in {root} describes tables", hint=f"looked at {', '.join(_KINDS)}")
    return SchemaMetadata(tables=tuple(table for table, _ in found.values()), functions=tuple(functions))


def _add(
    found: dict[tuple[str, ...], tuple[SchemaTable, PurePath]], table: SchemaTable, file: PurePath, warn: Warn | None
) -> None:
    """Keep a table. Of two descriptions the complete one counts; of two complete ones, the first."""
    before, where = found.get(table.parts, (None, file))
    if before is None or (table.complete and not before.complete):
        found[table.parts] = table, file
    elif not table.complete and not before.complete:
        names = {column.name for column in before.columns}
        more = tuple(column for column in table.columns if column.name not in names)
        found[table.parts] = msgspec.structs.replace(before, columns=(*before.columns, *more)), where
    elif table.complete and table.columns != before.columns and warn is not None:
        warn(f"{'.'.join(table.parts)} is described by {where} and, differently, by {file}: the first counts")


def _schema_in(file: Path, root: Path, dialect: str | None) -> SchemaMetadata:
    """The schema in one file of a folder; an empty one if it describes no tables, or is one of definitions."""
    inside = file.relative_to(root)
    path = (*inside.parts[:-1], *(() if inside.stem in ("schema", "schemas") else inside.stem.split(".")))
    match file.suffix.lower():
        case ".json" | ".avsc":
            found = _described(_json(file), path, dialect)
        case ".yaml" | ".yml" if not _DESCRIBES.search(read_text(file)):  # reading YAML takes a hundred times as long
            found = None
        case ".yaml" | ".yml":
            found = _described(_yaml(file), path, dialect)
        case ".csv":
            header = read_text(file).partition("\n")[0].lower()
            found = schema_of_csv(read_text(file)) if all(name in header for name in _DUMP) else None
        case ".parquet":
            rows = _rows(file)
            found = schema_of_rows(rows) if rows else None
        case _:
            found = None
    return found or SchemaMetadata()


def _described(value: Any, path: Sequence[str], dialect: str | None) -> SchemaMetadata | None:
    if isinstance(value, Mapping) and isinstance(value.get("tables"), list) and is_wire_schema(value):
        return convert_schema(value)
    tables = find_tables(value, tuple(path[-3:]), dialect)
    return None if tables is None else SchemaMetadata(tables=tuple(tables))


def _definitions(files: Sequence[Path], dialect: str | None, warn: Warn | None) -> SchemaMetadata:
    """The tables that files of definitions leave, read in the order of the numbers in their names."""
    sources = []
    for file in sorted((file for file in files if file.suffix.lower() in SQL_SUFFIXES), key=_numbered):
        text = read_sql(file, warn or (lambda message: None))
        lower = text.lower()
        may_define = "table" in lower and any(verb in lower for verb in ("create", "alter", "drop", "rename"))
        plain = _COMMENTS.sub(" ", text) if may_define else ""
        if _DEFINES.search(plain) and not _QUERIES.search(plain):
            sources.append(Source(text, str(file)))
    return schema_of_ddl(sources, dialect, warn)


def _numbered(file: Path) -> list[Any]:
    """A key that sorts `V2__a.sql` before `V10__b.sql`."""
    return [(part.isdigit(), int(part) if part.isdigit() else part) for part in _NUMBERS.split(str(file))]


def schema_of_ddl(sources: Sequence[Source], dialect: str | None = None, warn: Warn | None = None) -> SchemaMetadata:
    """The tables that scripts of definitions leave behind: CREATE, ALTER, DROP and so on, in order.
    RAISES: SchemaError at the first statement that cannot be read, unless there is a `warn` to tell."""
    resolver = SchemaResolver(dialect=dialect)
    for source in sources:
        front_end = open_front_end(dialect)[0] if dialect == "spanner" else SqlFrontEnd(dialect)
        for statement in analyze_script(source, front_end, resolver):
            for issue in statement.issues:
                if issue.severity is Severity.ERROR:
                    if warn is None:
                        raise SchemaError(issue.message, hint=issue.hint, span=issue.span, source=source)
                    warn(f"{source.name}:{issue.span or 1}: {issue.message}; this statement was left out")
    return SchemaMetadata(tables=tuple(_tables_of(resolver)))


def _tables_of(resolver: SchemaResolver) -> Iterator[SchemaTable]:
    for table in resolver.resolved().tables:
        columns = tuple(ColumnSchema(name=column.name, data_type=column.data_type) for column in table.columns)
        yield SchemaTable(
            catalog=table.catalog, schema=table.schema, name=table.name, columns=columns, complete=table.complete
        )


def _json(path: Path) -> Any:
    try:
        return msgspec.json.decode(read_text(path))
    except (msgspec.DecodeError, RecursionError) as err:
        raise SchemaError(f"it is not JSON: {err}") from err


def _yaml(path: Path) -> Any:
    text = read_text(path)
    try:
        return read_yaml(text)
    except InputError as err:
        raise SchemaError(str(err)) from err


def _rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file with the columns of `information_schema.columns`; none if it has others."""
    parquet = import_module("pyarrow.parquet")  # Arrow takes longer to load than most schemas to read
    try:
        names = {name.lower() for name in parquet.read_schema(path).names}
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist() if names >= _DUMP else []
        return rows
    except (OSError, ValueError, NotImplementedError) as err:
        raise SchemaError(f"it is not Parquet: {err}") from err
