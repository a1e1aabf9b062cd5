"""The catalog of a script: the tables its statements name, at the very paths they are named by, and what it defines.
ZetaSQL looks a path up as it is written: `` `p.ds.t` `` is one name, `p.ds.t` is three nested ones. So a table is put
at each path that the text uses for it, and its `full_name` says which table it is."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from headwater.errors import SchemaError
from headwater.lineage.effects import ColumnDefinition
from headwater.lineage.known_table import KnownTable
from headwater.lineage.resolver import SchemaResolver
from headwater.model.names import TableName
from headwater.model.relation import Resolution
from headwater.zetasql import builtins
from headwater.zetasql.engine import RegisteredCatalog
from headwater.zetasql.messages import catalog as messages
from headwater.zetasql.messages import function_enums, types
from headwater.zetasql.provider import TableProvider
from headwater.zetasql.types import type_bytes

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A table at a path."""

    path: Path
    full_name: str
    columns: tuple[tuple[str, str | None], ...]
    wildcard: bool = False


class CatalogKey(NamedTuple):
    """The key of a catalog's content: equal for equal content."""

    dialect: str
    entries: frozenset[CatalogEntry]
    hidden: frozenset[int]
    connections: frozenset[Path]
    functions: frozenset[tuple[Path, bytes]]
    table_functions: frozenset[tuple[Path, bytes]]
    procedures: frozenset[tuple[Path, bytes]]
    variables: frozenset[tuple[str, bytes]]


@dataclass(slots=True)
class ScriptCatalog:
    """Everything that names can mean at one point of a script."""

    dialect: str = "bigquery"
    entries: dict[Path, CatalogEntry] = field(default_factory=dict)
    known: dict[str, KnownTable] = field(default_factory=dict)  # by full name
    functions: dict[Path, bytes] = field(default_factory=dict)  # FunctionProto
    table_functions: dict[Path, bytes] = field(default_factory=dict)  # TableValuedFunctionProto
    procedures: dict[Path, bytes] = field(default_factory=dict)  # ProcedureProto
    variables: dict[str, bytes] = field(default_factory=dict)  # name → TypeProto
    hidden: frozenset[int] = frozenset()  # builtin signatures that give way to functions of the script
    provider: TableProvider | None = None  # asked for tables that are not known
    connections: set[Path] = field(default_factory=set)
    built: RegisteredCatalog | None = None  # the catalog last made, of whichever script

    def add_tables(self, paths: Iterable[Path], resolver: SchemaResolver) -> list[TableName]:
        """Put the tables named by `paths` in place; returns those that are not known."""
        unknown = []
        for path in paths:
            table = find_table(path, resolver) or self._ask(path, resolver)
            key = tuple(part.lower() for part in path)
            if table is None:
                unknown.append(TableName(split_path(path)))
                self.entries.pop(key, None)
                continue
            full_name = str(table.name)
            columns = tuple((column.name, column.type) for column in table.columns if column.name)
            entry = CatalogEntry(path, full_name, columns, full_name.endswith("*"))
            self.known[full_name] = table
            if self.entries.get(key) != entry:
                self.entries[key] = entry
        return unknown

    def _ask(self, path: Path, resolver: SchemaResolver) -> KnownTable | None:
        name = TableName(split_path(path))
        found = self.provider.table(name) if self.provider is not None else None
        return None if found is None or not found.columns else resolver.learn(found)

    def catalog(self) -> RegisteredCatalog:
        """The catalog for ZetaSQL; the same object as long as nothing changed."""
        key = self._key()
        if self.built is None or self.built.key != key:
            self.built = RegisteredCatalog(key, builtins.base_catalog(self.dialect) + self._content())
        return self.built

    def catalog_for(self, text: str) -> RegisteredCatalog:
        """The catalog last made if it has all that a text can name, else a new one: registering one takes 30 ms.
        What was defined since then must not be named in the text. A body that the text does not show may name it all
        the same: whoever is refused with this catalog asks again with `catalog()`."""
        built, now = self.built, self._key()
        if built is None or built.key == now:
            return self.catalog()
        before = built.key
        assert isinstance(before, CatalogKey)
        pairs: list[tuple[frozenset[Any], frozenset[Any]]] = list(zip(before[4:], now[4:]))
        if before[:4] != now[:4] or not all(old <= new for old, new in pairs):
            return self.catalog()
        added = {last_word(path) for old, new in pairs for path, _ in new - old}
        return built if added.isdisjoint(_WORD.findall(text.lower())) else self.catalog()

    def _key(self) -> "CatalogKey":
        return CatalogKey(
            self.dialect,
            frozenset(self.entries.values()),
            self.hidden,
            frozenset(self.connections),
            frozenset(self.functions.items()),
            frozenset(self.table_functions.items()),
            frozenset(self.procedures.items()),
            frozenset(self.variables.items()),
        )

    def _content(self) -> bytes:
        root = messages.SimpleCatalogProto()
        root.builtin_function_options.exclude_function_ids.extend(sorted(self.hidden))
        folders: dict[Path, Any] = {(): root}
        for entry in self.entries.values():
            if _is_free(entry.path):
                _fill_table(_folder(folders, entry.path[:-1]).table.add(), entry)
        for path, content in filter(_is_free_item, self.functions.items()):
            _folder(folders, path[:-1]).custom_function.add().MergeFromString(content)
        for path, content in filter(_is_free_item, self.table_functions.items()):
            _folder(folders, path[:-1]).custom_tvf.add().MergeFromString(content)
        for path, content in filter(_is_free_item, self.procedures.items()):
            _folder(folders, path[:-1]).procedure.add().MergeFromString(content)
        for name, kinds in builtins.PROCEDURES.items():
            path = ("BQ", *name.split("."))
            procedure = _folder(folders, path[:-1]).procedure.add(name_path=path)
            signature = procedure.signature
            signature.return_type.kind = function_enums.ARG_TYPE_FIXED  # ZetaSQL stops at a CALL when there is none
            signature.return_type.type.type_kind = types.TYPE_INT64
            for kind in kinds:
                signature.argument.add(kind=function_enums.ARG_TYPE_FIXED, num_occurrences=1).type.type_kind = kind
        for path in sorted(self.connections):
            _folder(folders, path[:-1]).connection.add(name=path[-1])
        for name, content in self.variables.items():
            root.constant.add(name_path=[name]).type.MergeFromString(content)
        return bytes(root.SerializeToString())


_WORD = re.compile(r"\w+")


def last_word(path: Path | str) -> str:
    """The last word of a name, in lower case: who names it by any path has this word."""
    text = path if isinstance(path, str) else path[-1]
    words: list[str] = _WORD.findall(text.lower())
    return words[-1] if words else ""


def find_table(path: Path, resolver: SchemaResolver) -> KnownTable | None:
    """The table that a path means, if all its columns are known."""
    parts = split_path(path)
    if len(parts) > 1 and parts[-2].upper() == "INFORMATION_SCHEMA":
        columns = builtins.information_schema_columns(parts[-1])
        if columns is None:
            return None
        definitions = tuple(ColumnDefinition(name, kind) for name, kind in columns)
        return KnownTable(TableName(parts), definitions, Resolution.IMPORTED, complete=True)
    name = TableName(parts)
    for spelling in (name, TableName.of(".".join(parts))):  # some schemas have the whole path as one name
        table = resolver.resolve(spelling)
        if table.resolution is not Resolution.UNKNOWN and table.complete:
            return table
    return _matching(name, resolver) if parts[-1].endswith("*") else None


def split_path(path: Path) -> Path:
    """The parts of a table's name; a quoted path is split at its dots."""
    return tuple(part for part in ".".join(path).split(".") if part)


def _matching(name: TableName, resolver: SchemaResolver) -> KnownTable | None:
    """A wildcard table has the columns of the last table it matches, as BigQuery takes those of the newest."""
    prefix = resolver.resolve(TableName((*name.parts[:-1], name.name[:-1]))).name
    best: KnownTable | None = None
    for table in resolver.tables(like=prefix):
        same = table.name.parts[:-1] == prefix.parts[:-1] and table.name.name.startswith(prefix.name)
        if same and table.complete and (best is None or table.name.name > best.name.name):
            best = table
    if best is None:
        return None
    return KnownTable(TableName((*prefix.parts[:-1], name.name)), best.columns, best.resolution, complete=True)


def _is_free(path: Path) -> bool:
    """Return whether something may be put at a path: not in a folder of ZetaSQL's own."""
    return len(path) == 1 or path[0].lower() not in builtins.BUILTIN_FOLDERS


def _is_free_item(item: tuple[Path, bytes]) -> bool:
    return _is_free(item[0])


def _folder(folders: dict[Path, Any], path: Path) -> Any:
    key = tuple(part.lower() for part in path)
    found = folders.get(key)
    if found is None:
        found = folders[key] = _folder(folders, path[:-1]).catalog.add(name=path[-1])
    return found


def _fill_table(table: Any, entry: CatalogEntry) -> None:
    table.name = entry.path[-1]
    table.full_name = entry.full_name
    seen: set[str] = set()
    for name, kind in entry.columns:
        if name.lower() in seen:  # wrong DDL: the engine would refuse the catalog, and with it every statement
            continue
        seen.add(name.lower())
        table.column.add(name=name).type.MergeFromString(_type_or_string(kind))
    pseudo = builtins.PARTITION_COLUMNS + (builtins.WILDCARD_COLUMNS if entry.wildcard else ())
    for name, kind in pseudo:
        if name.lower() not in seen:
            table.column.add(name=name, is_pseudo_column=True).type.MergeFromString(type_bytes(kind))


def _type_or_string(kind: str | None) -> bytes:
    """A type that GoogleSQL does not have is taken for a STRING: names matter for lineage, types seldom do."""
    try:
        return type_bytes(kind)
    except SchemaError:
        return type_bytes(None)
