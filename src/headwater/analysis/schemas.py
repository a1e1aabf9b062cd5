"""Schemas from wherever users have them: Python values and files."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from headwater.analysis.texts import read_text
from headwater.errors import SchemaError, Severity
from headwater.lineage.imports import schema_of_csv, schema_of_json, schema_of_mapping
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.schema import ColumnSchema, SchemaMetadata, SchemaTable
from headwater.lineage.script import analyze_script
from headwater.sql.front import SqlFrontEnd
from headwater.text import Source

SchemaLike: TypeAlias = SchemaMetadata | Mapping[str, Any] | str | PathLike[str] | None


def import_schema(schema: SchemaLike, dialect: str | None = None) -> SchemaMetadata:
    """A schema from a mapping of tables, a file (JSON, an `information_schema` CSV, DDL), or a lake warehouse.

    A folder, or the URL of an object store, is a warehouse.

    RAISES: InputError when the file cannot be read, SchemaError when it is not a schema.
    """
    match schema:
        case None:
            return SchemaMetadata()
        case SchemaMetadata():
            return schema
        case Mapping():
            return schema_of_mapping(schema)
        case _ if "://" in str(schema) or Path(schema).is_dir():
            return _schema_of_warehouse(str(schema), dialect)
        case _:
            return _schema_of_file(Path(schema), dialect)


def with_tables(schema: SchemaMetadata, tables: Iterable[SchemaTable]) -> SchemaMetadata:
    """A schema with more tables; of one that it has already, what it has counts."""
    known = {tuple(map(str.lower, table.parts)) for table in schema.tables}
    more = tuple(table for table in tables if tuple(map(str.lower, table.parts)) not in known)
    return msgspec.structs.replace(schema, tables=(*schema.tables, *more)) if more else schema


def _schema_of_warehouse(location: str, dialect: str | None) -> SchemaMetadata:
    # imported when it is first needed: the lake stands on Arrow, which takes longer to load than most texts to read
    found: SchemaMetadata = import_module("headwater.analysis.warehouses").schema_at(location, dialect)
    return found


def _schema_of_file(path: Path, dialect: str | None) -> SchemaMetadata:
    text = read_text(path)
    match path.suffix.lower():
        case ".json":
            return schema_of_json(text, name=path.stem)
        case ".csv":
            return schema_of_csv(text)
        case ".sql" | ".ddl":
            return schema_of_ddl(Source(text, str(path)), dialect)
    raise SchemaError(
        f"the kind of the schema file {path} is not known",
        hint="name it .json, .csv (information_schema) or .sql (DDL), or name a warehouse folder",
    )


def schema_of_ddl(source: Source, dialect: str | None = None) -> SchemaMetadata:
    """The tables that a script of definitions leaves behind: CREATE, ALTER, DROP and so on, in order.

    RAISES: SchemaError at the first statement that cannot be read.
    """
    resolver = SchemaResolver(dialect=dialect)
    for statement in analyze_script(source, SqlFrontEnd(dialect), resolver):
        for issue in statement.issues:
            if issue.severity is Severity.ERROR:
                raise SchemaError(issue.message, hint=issue.hint, span=issue.span, source=source)
    tables = (
        SchemaTable(
            catalog=table.catalog,
            schema=table.schema,
            name=table.name,
            columns=tuple(ColumnSchema(name=column.name, data_type=column.data_type) for column in table.columns),
            complete=table.complete,
        )
        for table in resolver.resolved().tables
    )
    return SchemaMetadata(tables=tuple(tables))
