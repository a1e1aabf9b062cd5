"""The catalog of a database: tables, definitions, and the statements that it ran."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from headwater.lineage.schema import ColumnSchema, ForeignKey, SchemaMetadata, SchemaNamespaceHint, SchemaTable

Say = Callable[[str], None]
MARK = "/* headwater pull */"
"""Begins each query of a pull, so that none is taken for a query of the history."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A view, function, procedure, trigger or macro, with the statement that makes it."""

    kind: str
    schema: str | None
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """A statement of the history: who ran it, when last, and how often, as far as the server knows."""

    id: str
    query: str
    user: str | None = None
    time: datetime | None = None  # None: some time before now
    schema_name: str | None = None  # of names that have none
    calls: int = 0


@dataclass(frozen=True, slots=True)
class DatabaseCatalog:
    """A database as it was read."""

    dialect: str
    schema: SchemaMetadata
    definitions: tuple[Definition, ...] = ()
    history: tuple[LoggedQuery, ...] = ()
    notes: tuple[str, ...] = ()  # what was not read, and what to do about it
    is_local: bool = False  # short names in a definition mean tables of its own schema

    @property
    def tables(self) -> list[SchemaTable]:
        """The tables that are no views."""
        views = {(each.schema, each.name) for each in self.definitions if each.kind.endswith("view")}
        return [table for table in self.schema.tables if (table.schema, table.name) not in views]


@dataclass(frozen=True, slots=True)
class Selection:
    """The schemas and tables that are wanted, by patterns: `sales`, `sales.*`, `*_old`."""

    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    history: bool = True

    def takes(self, schema: str | None, name: str) -> bool:
        """Return whether an object is wanted; its whole name and its schema alone are compared."""
        words = (schema, f"{schema}.{name}") if schema else (name,)

        def matches(patterns: Iterable[str]) -> bool:
            return any(fnmatchcase(word.lower(), pattern.lower()) for word in words for pattern in patterns)

        return (not self.only or matches(self.only)) and not matches(self.exclude)


def tables_of(
    columns: Iterable[Sequence[Any]], keys: Iterable[Sequence[Any]], wanted: Selection
) -> list[SchemaTable]:
    """The tables that rows describe, in their order.

    A row of `columns` is schema, table, column (None for a table without columns), type and comment; one of `keys` is
    schema, table, column, and what it refers to: table and column, or None in a primary key.
    """
    primary = {tuple(row[:3]) for row in keys if row[3] is None}
    foreign = {tuple(row[:3]): ForeignKey(table=row[3], column=row[4]) for row in keys if row[3] and row[4]}
    found: dict[tuple[str | None, str], list[ColumnSchema]] = {}
    for *place, type, comment in columns:
        schema, table, column = key = tuple(place)
        if wanted.takes(schema, table):
            described = ColumnSchema(
                name=column or "",
                data_type=type or None,
                is_primary_key=key in primary or None,
                foreign_key=foreign.get(key),
                description=comment or None,
            )
            found.setdefault((schema, table), []).extend([described] if column is not None else [])
    return [SchemaTable(schema=schema, name=name, columns=tuple(each)) for (schema, name), each in found.items()]


def schema_of(tables: list[SchemaTable], path: Sequence[str]) -> SchemaMetadata:
    """Tables with where short names are looked for: along a path, then in every other schema."""
    others = sorted({table.schema for table in tables if table.schema} - set(path))
    hints = (SchemaNamespaceHint(schema=schema) for schema in (*path[1:], *others))
    return SchemaMetadata(default_schema=next(iter(path), None), search_path=tuple(hints), tables=tuple(tables))


_READS_OR_WRITES = re.compile(
    r"""(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(?:(?:SELECT|WITH)\b.*?\bFROM|INSERT|UPDATE|DELETE|MERGE|REPLACE
      | CREATE\s+(?:OR\s+REPLACE\s+)?(?:UNLOGGED\s+)?TABLE\b.*?\b(?:SELECT|AS\s+TABLE))\b""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_OF_THE_SYSTEM = re.compile(
    r"""\b(?:information_schema|performance_schema|pg_catalog|pg_stat_statements)\b
      | \b(?:FROM|JOIN)\s+(?:pg_\w+|[`]?mysql[`]?\s*\.)""",
    re.IGNORECASE | re.VERBOSE,
)


def moves_data(text: str) -> bool:
    """Return whether a statement of a history reads or writes tables of users.

    Definitions and calls do not count: what is defined is read from the catalog, with the bodies of procedures.
    """
    return bool(_READS_OR_WRITES.match(text)) and MARK not in text and not _OF_THE_SYSTEM.search(text)
