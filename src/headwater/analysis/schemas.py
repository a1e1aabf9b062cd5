"""Schemas from wherever users have them: Python values, files, folders, warehouses."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.schema import SchemaMetadata, SchemaTable

SchemaLike: TypeAlias = SchemaMetadata | Mapping[str, Any] | str | PathLike[str] | None


def import_schema(
    schema: SchemaLike, dialect: str | None = None, *, warn: Callable[[str], None] | None = None
) -> SchemaMetadata:
    """A schema from a mapping of tables, a file, a folder of schema files, or a lake warehouse (a folder or a URL).

    A file is JSON, YAML, Avro, a dump of `information_schema.columns` (CSV or Parquet), or DDL. `warn` is told of
    files in a folder that cannot be read; without it, the first of them is an error.

    RAISES: InputError when the file cannot be read, SchemaError when it is not a schema.
    """
    match schema:
        case None:
            return SchemaMetadata()
        case SchemaMetadata():
            return schema
        case Mapping():
            return schema_of_mapping(schema)
        case _ if "://" in str(schema):
            return _schema_of_warehouse(str(schema), dialect)
        case _ if Path(schema).is_dir():
            return _schema_of_folder(Path(schema), dialect, warn)
        case _:
            found: SchemaMetadata = _files().schema_of_file(Path(schema), dialect)
            return found


def with_tables(schema: SchemaMetadata, tables: Iterable[SchemaTable]) -> SchemaMetadata:
    """A schema with more tables; of one that it has already, what it has counts."""
    known = {tuple(map(str.lower, table.parts)) for table in schema.tables}
    more = tuple(table for table in tables if tuple(map(str.lower, table.parts)) not in known)
    return msgspec.structs.replace(schema, tables=(*schema.tables, *more)) if more else schema


def _schema_of_warehouse(location: str, dialect: str | None) -> SchemaMetadata:
    # imported when it is first needed: the lake stands on Arrow, which takes longer to load than most texts to read
    found: SchemaMetadata = import_module("headwater.analysis.warehouses").schema_at(location, dialect)
    return found


def _schema_of_folder(folder: Path, dialect: str | None, warn: Callable[[str], None] | None) -> SchemaMetadata:
    if any(folder.glob("*/database.json")):
        return _schema_of_warehouse(str(folder), dialect)
    found: SchemaMetadata = _files().schema_of_folder(folder, dialect, warn)
    return found


def _files() -> Any:
    # imported when it is first needed: most texts come without a schema file
    return import_module("headwater.analysis.schema_files")
