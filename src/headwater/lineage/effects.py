"""The effects of a statement on the schema, as plain facts. Every front end can give them, and `SchemaResolver.apply`
is the only one that acts on them, in the order of the statements. Names are as written; the resolver qualifies
them."""

from dataclasses import dataclass
from typing import TypeAlias

from headwater.lineage.schema import TableConstraintInfo
from headwater.model.names import TableName
from headwater.text import Span


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column as DDL defines it; the type is the engine's, as text, None when it is not known."""

    name: str
    type: str | None = None
    primary_key: bool = False
    references: tuple[str, str] | None = None  # table, column
    quoted: bool = False  # the name is exactly this, whatever the dialect makes of names


@dataclass(frozen=True, slots=True)
class CreateTable:
    """A table or view comes into being. `complete` False: a star over an unknown table is among its columns."""

    name: TableName
    columns: tuple[ColumnDefinition, ...]
    temporary: bool = False
    keeps_existing: bool = False  # IF NOT EXISTS
    complete: bool = True
    constraints: tuple[TableConstraintInfo, ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class CopyTable:
    """A table comes into being with the columns of another: LIKE, CLONE, COPY, SNAPSHOT."""

    name: TableName
    original: TableName
    temporary: bool = False
    keeps_existing: bool = False
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class DropTable:
    """A table or view is gone."""

    name: TableName
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class RenameTable:
    """A table gets another name. A bare new name stays in the schema of the old one."""

    name: TableName
    to: TableName
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class SwapTables:
    """Two tables change names."""

    one: TableName
    other: TableName
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class AlterColumns:
    """Columns are added, dropped, renamed (old, new) or get another type."""

    name: TableName
    add: tuple[ColumnDefinition, ...] = ()
    drop: tuple[str, ...] = ()
    rename: tuple[tuple[str, str], ...] = ()
    retype: tuple[ColumnDefinition, ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class UseColumns:
    """A table that is not known must have these columns, because the text uses them."""

    name: TableName
    columns: tuple[str, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class UseNamespace:
    """Names without a schema mean another one from here on."""

    schema: str | None
    catalog: str | None = None


SchemaEffect: TypeAlias = (
    CreateTable | CopyTable | DropTable | RenameTable | SwapTables | AlterColumns | UseColumns | UseNamespace
)
