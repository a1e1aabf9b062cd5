"""A warehouse: databases of tables below one location.

{database}/database.json        the database is there
{database}/{table}.table        the table is there, and where its folder is
{database}/{view}.view          the view is there, and its query
{database}/{table}/             its folder (with a suffix, if something was there before)

Creating a table, replacing it, dropping it and renaming it each take effect in one step, the one that touches the
entry.
"""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from headwater.errors import AlreadyExistsError, NotFoundError, SchemaError, StorageError
from headwater.files import Files, open_files
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.stored_json import encode_json
from headwater.lake.engine.types import schema_of
from headwater.lake.metadata.entries import (
    DatabaseEntry,
    TableEntry,
    new_metadata,
    now_millis,
    read_database_entry,
    read_table_entry,
)
from headwater.lake.metadata.expire import DAY, Removal
from headwater.lake.metadata.schemas import SchemaManager
from headwater.lake.metadata.store_clock import store_time
from headwater.lake.tables.maintenance import forget_folder, remove_leftovers
from headwater.lake.tables.names import (
    DEFAULT_DATABASE,
    OWN_DATABASES,
    TableIdentifier,
    check_name,
    is_name,
    naming,
    parse_name,
)
from headwater.lake.tables.shape import check_new
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.table import Table
from headwater.lake.tables.views import Views
from headwater.model.schema import Field, Schema, check_schema
from headwater.model.types import DataType, parse_type
from headwater.text import nearest, suggest

_DATABASE = "database.json"
_ENTRY = ".table"

Columns: TypeAlias = Any
"""A `Schema`, an Arrow schema, or a mapping of names to types (`"BIGINT NOT NULL"`)."""


class Warehouse:
    """Databases and tables in a folder, `s3://`, `gs://`, `az://` or any `Files`; made when first written to."""

    def __init__(self, location: str | Path | Files, options: dict[str, str] | None = None) -> None:
        self.files = open_files(location, options) if isinstance(location, str | Path) else location
        self.views = Views(self.files)

    @property
    def url(self) -> str:
        return self.files.url

    def __repr__(self) -> str:
        return f"Warehouse({self.url!r})"

    # ---------------------------------------------------------------------------------------------- databases

    def create_database(self, name: str, *, comment: str | None = None, if_not_exists: bool = False) -> None:
        """RAISES: AlreadyExistsError unless `if_not_exists`."""
        if if_not_exists and self.has_database(name):
            return  # nothing is written, so it goes on a full disk and where we may only read
        entry = DatabaseEntry(created_millis=now_millis(), comment=comment)
        try:
            self.files.put_if_absent(_database_path(name), encode_json(entry))
        except AlreadyExistsError as err:
            if not if_not_exists:
                raise AlreadyExistsError(f"there is a database `{name}` already") from err

    def list_databases(self, *, own: bool = True) -> list[str]:
        """The names of all databases, in order; without `own`, those of our own books are left out."""
        folders = [entry.name for entry in self.files.list() if entry.is_folder and is_name(entry.name)]
        return sorted(name for name in folders if (own or name not in OWN_DATABASES) and self.has_database(name))

    def has_database(self, name: str) -> bool:
        try:
            read_database_entry(self.files, _database_path(name))
        except NotFoundError:
            return False
        return True

    def drop_database(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> None:
        """Remove a database, with `cascade` its tables too.
        RAISES: NotFoundError unless `if_exists`, StorageError when it has tables."""
        if not self.has_database(name):
            if if_exists:
                return
            raise self._no_database(name)
        tables, views = self.list_tables(name), self.views.list(name)
        if (tables or views) and not cascade:
            has = f"{len(tables)} tables" + (f" and {len(views)} views" if views else "")
            raise StorageError(f"database `{name}` has {has}", hint="drop them first, or cascade")
        for view in views:
            self.views.drop(TableIdentifier(name, view))
        for table in tables:
            self.drop_table(TableIdentifier(name, table))
        self.files.delete(_database_path(name))

    # ------------------------------------------------------------------------------------------------- tables

    def create_table(
        self,
        name: str | TableIdentifier,
        schema: Columns,
        *,
        primary_key: Sequence[str] | str | None = None,
        partition_by: Sequence[str] | str | None = None,
        options: Mapping[str, str] | None = None,
        comment: str | None = None,
        if_not_exists: bool = False,
    ) -> Table:
        """Make a table: with a primary key rows are upserted, without one they are appended. RAISES:
        AlreadyExistsError unless `if_not_exists`, NotFoundError when there is no such database, SchemaError."""
        table = parse_name(name)
        if if_not_exists and self.has_table(table):
            return self.table(table)
        self._require_database(table.database)
        with naming(table):
            wanted = _whole_schema(schema, _names(primary_key), _names(partition_by), dict(options or {}), comment)
        try:
            if self.has_table(table):
                raise AlreadyExistsError(f"there is a table {table} already")
            return self.publish_table(self.begin_table(table, wanted))
        except AlreadyExistsError:  # also of somebody who made it since we looked
            if if_not_exists:
                return self.table(table)
            raise

    def begin_table(self, name: str | TableIdentifier, schema: Schema) -> Table:
        """A table that has a folder and no name yet: fill it, then publish it. Nobody else sees it before.
        RAISES: NotFoundError when there is no such database, SchemaError."""
        table = parse_name(name)
        self._require_database(table.database)
        with naming(table):
            checked = check_new(check_schema(schema))
        folder = self._make_folder(table, checked)
        return Table(TableStore(table, self.files, folder))

    def publish_table(self, table: Table, *, replace: bool = False) -> Table:
        """Give a table that was begun its name, in one step; with `replace`, the name of the table that has it.
        RAISES: AlreadyExistsError when the name is taken; then the table is given up."""
        store, path = table.store, _entry_path(table.name)
        entry = encode_json(TableEntry(folder=store.paths.folder, table_uuid=table.metadata.table_uuid))
        old = self.table(table.name).store if replace and self.has_table(table.name) else None
        if replace:
            self.files.put(path, entry)
        else:
            try:
                self.files.put_if_absent(path, entry)
            except AlreadyExistsError as err:
                forget_folder(store)
                raise AlreadyExistsError(f"there is a table {table.name} already") from err
        if old is not None and old.paths.folder not in self._folders():
            forget_folder(old)
        return table

    def table(self, name: str | TableIdentifier) -> Table:
        """Open a table. RAISES: NotFoundError with the nearest name."""
        table = parse_name(name)
        return Table(TableStore(table, self.files, self.entry(table).folder))

    def entry(self, table: TableIdentifier) -> TableEntry:
        """Return the catalog's entry of a table. RAISES: NotFoundError with the nearest name."""
        try:
            return read_table_entry(self.files, _entry_path(table))
        except NotFoundError as err:
            raise self._no_table(table) from err

    def has_table(self, name: str | TableIdentifier) -> bool:
        try:
            read_table_entry(self.files, _entry_path(parse_name(name)))
        except NotFoundError:
            return False
        return True

    def list_tables(self, database: str = DEFAULT_DATABASE) -> list[str]:
        """The names of the tables of a database, in order. RAISES: NotFoundError when there is no such database."""
        if database != DEFAULT_DATABASE and not self.has_database(database):
            raise self._no_database(database)
        entries = self.files.list(check_name(database, "database"))
        return [entry.name.removesuffix(_ENTRY) for entry in entries if entry.name.endswith(_ENTRY)]

    def drop_table(self, name: str | TableIdentifier, *, if_exists: bool = False) -> None:
        """Remove a table and its files. RAISES: NotFoundError unless `if_exists`.
        A rename that died halfway leaves one table with two names: dropping the first of them keeps the files."""
        table = parse_name(name)
        if if_exists and not self.has_table(table):
            return
        store = self.table(table).store
        self.files.delete(_entry_path(table))
        if store.paths.folder not in self._folders():
            forget_folder(store)

    def rename_table(self, name: str | TableIdentifier, new_name: str | TableIdentifier) -> Table:
        """Give a table another name, perhaps in another database; its files stay where they are.
        RAISES: NotFoundError, AlreadyExistsError."""
        old, new = parse_name(name), parse_name(new_name)
        self._require_database(new.database)
        try:
            entry = read_table_entry(self.files, _entry_path(old))
        except NotFoundError as err:
            raise self._no_table(old) from err
        try:
            self.files.put_if_absent(_entry_path(new), encode_json(entry))
        except AlreadyExistsError as err:
            raise AlreadyExistsError(f"there is a table {new} already") from err
        self.files.delete(_entry_path(old))
        return self.table(new)

    def remove_orphans(self, *, older_than: float = DAY, dry_run: bool = True) -> Removal:
        """Find, and without `dry_run` remove, folders that processes left who died making or dropping a table.
        Files inside the folder of a table are that table's own to clean up: `Table.remove_orphans`."""
        databases = [entry.name for entry in self.files.list() if entry.is_folder]
        before = store_time(self.files, "") - older_than
        return remove_leftovers(self.files, databases, self._folders, before=before, dry_run=dry_run)

    # ----------------------------------------------------------------------------------------------- internals

    def _make_folder(self, table: TableIdentifier, schema: Schema) -> str:
        """Write the first files of a table into a folder that nobody else has."""
        metadata = new_metadata()
        folder = f"{table.database}/{table.table}"
        if self.files.list(folder):
            folder = f"{folder}-{uuid.uuid4().hex[:8]}"
        try:
            SchemaManager(self.files, PathFactory(folder)).create_schema(schema)
        except AlreadyExistsError:  # somebody makes the same table at this moment: the entry decides
            folder = f"{table.database}/{table.table}-{uuid.uuid4().hex[:8]}"
            SchemaManager(self.files, PathFactory(folder)).create_schema(schema)
        self.files.put(PathFactory(folder).metadata, encode_json(metadata))
        return folder

    def _folders(self) -> set[str]:
        """The folders that tables have."""
        folders = set()
        for database in self.list_databases():
            for name in self.list_tables(database):
                with suppress(NotFoundError):  # dropped by somebody else just now
                    folders.add(read_table_entry(self.files, _entry_path(TableIdentifier(database, name))).folder)
        return folders

    def _require_database(self, name: str) -> None:
        if name == DEFAULT_DATABASE:
            self.create_database(name, if_not_exists=True)
        elif not self.has_database(name):
            raise self._no_database(name)

    def _no_database(self, name: str) -> NotFoundError:
        hint = suggest(name, self.list_databases(), self._known("databases", self.list_databases(own=False)))
        return NotFoundError(f"there is no database `{name}`", hint=hint)

    def _no_table(self, table: TableIdentifier) -> NotFoundError:
        if table.database != DEFAULT_DATABASE and not self.has_database(table.database):
            return self._no_database(table.database)
        names = self.list_tables(table.database)
        others = {name: base for base in self.list_databases(own=False) for name in self.list_tables(base)}
        close = nearest(table.table, names)
        base = table.database if close else others.get(close := nearest(table.table, others) or "")
        if close:
            hint = f"did you mean `{base}.{close}`?"
        elif names or not others:
            hint = self._known("tables", names)
        else:
            hint = f"{table.database} has no tables; databases that have: {', '.join(sorted(set(others.values())))}"
        return NotFoundError(f"there is no table {table}", hint=hint)

    def _known(self, what: str, names: list[str]) -> str:
        """Return what there is; where there is nothing, the place that was looked at, which may be the wrong one."""
        return f"{what}: {', '.join(names)}" if names else f"there are no {what} in the warehouse {self.url}"


def _database_path(name: str) -> str:
    return f"{check_name(name, 'database')}/{_DATABASE}"


def _entry_path(table: TableIdentifier) -> str:
    return f"{table.database}/{table.table}{_ENTRY}"


def _names(given: Sequence[str] | str | None) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)


def _whole_schema(
    given: Columns, key: tuple[str, ...], partitions: tuple[str, ...], options: dict[str, str], comment: str | None
) -> Schema:
    """One schema out of columns and what was said beside them."""
    if isinstance(given, Schema):
        schema = given
    elif isinstance(given, pa.Schema):
        schema = schema_of(given)
    else:
        if not isinstance(given, Mapping):
            raise SchemaError(f"{given!r} is not a schema", hint="a Schema, an Arrow schema, or names with types")
        schema = Schema(tuple(_column(at, name, type) for at, (name, type) in enumerate(given.items())))
    key = key or schema.primary_keys
    fields = tuple(replace(field, nullable=field.nullable and field.name not in key) for field in schema.fields)
    return replace(
        schema,
        fields=fields,
        primary_keys=key,
        partition_keys=partitions or schema.partition_keys,
        options=schema.options | {name: str(value) for name, value in options.items()},
        comment=comment if comment is not None else schema.comment,
    )


def _column(at: int, name: str, type: str | DataType) -> Field:
    if not isinstance(type, str):
        return Field(at, name, type)
    text = type.strip()
    bare = text[: -len("NOT NULL")].rstrip() if text.upper().endswith("NOT NULL") else text
    return Field(at, name, parse_type(bare), nullable=bare == text)


class KnownTables:
    """Tables of a warehouse by name. The catalog is asked each time: a name may stand for another table by now."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._tables: dict[TableIdentifier, tuple[TableEntry, Table]] = {}

    def get(self, name: TableIdentifier) -> Table:
        """Open a table. RAISES: NotFoundError with the nearest name."""
        entry = self._warehouse.entry(name)
        known = self._tables.get(name)
        if known is None or known[0] != entry:
            known = self._tables[name] = entry, Table(TableStore(name, self._warehouse.files, entry.folder))
        return known[1]
