"""The schema of tables, as it is given (imported) and as it is reported (resolved).
The classes are the wire format: Python spells the names in snake_case, JSON in camelCase. Optional values that are
not there are left out of the JSON."""

from enum import Enum
from typing import Any

import msgspec

from headwater.errors import SchemaError
from headwater.model.names import CaseFolding, CaseRule, case_rule


class CaseSensitivity(Enum):
    """The comparison of names: as the dialect does, folded to one case unless quoted, or exactly."""

    DIALECT = "dialect"
    LOWER = "lower"
    UPPER = "upper"
    EXACT = "exact"

    def rule(self, dialect: str | None) -> CaseRule:
        """The case rule to use for a dialect."""
        if self is CaseSensitivity.DIALECT:
            return case_rule(dialect)
        case = CaseFolding(self.value)
        return CaseRule(case, case)


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A fact with a JSON form."""


class SchemaNamespaceHint(Wire, frozen=True, kw_only=True):
    """The schema in which tables without one are looked up."""

    schema: str
    catalog: str | None = None


class ForeignKey(Wire, frozen=True, kw_only=True):
    """The column that a column refers to."""

    table: str
    column: str


class ColumnSchema(Wire, frozen=True, kw_only=True):
    """One column as it is given. The type is that of the engine, as text."""

    name: str
    data_type: str | None = None
    is_primary_key: bool | None = None
    foreign_key: ForeignKey | None = None
    description: str | None = None


class SchemaTable(Wire, frozen=True, kw_only=True):
    """One table as it is given. `complete` False: there may be columns beside those listed."""

    name: str
    schema: str | None = None
    catalog: str | None = None
    columns: tuple[ColumnSchema, ...] = ()
    complete: bool = True

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for part in (self.catalog, self.schema, self.name) if part)


class SchemaFunction(Wire, frozen=True, kw_only=True):
    """A function that gives rows, as it is given: its arguments and the columns of its rows."""

    name: str
    schema: str | None = None
    catalog: str | None = None
    arguments: tuple[ColumnSchema, ...] = ()
    columns: tuple[ColumnSchema, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for part in (self.catalog, self.schema, self.name) if part)


class SchemaConnection(Wire, frozen=True, kw_only=True):
    """Another database that queries are sent to (EXTERNAL_QUERY): its name, and the dialect of its SQL."""

    name: str
    dialect: str


class SchemaMetadata(Wire, frozen=True, kw_only=True):
    """A user's knowledge of tables and functions: their columns, where to look for them, how names compare."""

    default_catalog: str | None = None
    default_schema: str | None = None
    search_path: tuple[SchemaNamespaceHint, ...] = ()
    case_sensitivity: CaseSensitivity = CaseSensitivity.DIALECT
    tables: tuple[SchemaTable, ...] = ()
    functions: tuple[SchemaFunction, ...] = ()
    connections: tuple[SchemaConnection, ...] = ()
    allow_implied: bool = True


class TableOrigin(Enum):
    """Return whether a table of the resolved schema was given or inferred."""

    IMPORTED = "imported"
    IMPLIED = "implied"


class ConstraintType(Enum):
    """The kinds of constraint that say something about lineage."""

    PRIMARY_KEY = "primary_key"
    FOREIGN_KEY = "foreign_key"
    UNIQUE = "unique"


class TableConstraintInfo(Wire, frozen=True, kw_only=True):
    """A constraint over one or more columns."""

    constraint_type: ConstraintType
    columns: tuple[str, ...]
    referenced_table: str | None = None
    referenced_columns: tuple[str, ...] = ()


class ResolvedColumnSchema(Wire, frozen=True, kw_only=True):
    """One column as the analysis came to know it."""

    name: str
    data_type: str | None = None
    origin: TableOrigin | None = None
    is_primary_key: bool | None = None
    foreign_key: ForeignKey | None = None


class ResolvedSchemaTable(Wire, frozen=True, kw_only=True):
    """One table as the analysis came to know it. `complete` False: inferred from use, there may be more columns."""

    name: str
    columns: tuple[ResolvedColumnSchema, ...]
    origin: TableOrigin
    updated_at: str
    schema: str | None = None
    catalog: str | None = None
    source_statement_index: int | None = None
    temporary: bool | None = None
    constraints: tuple[TableConstraintInfo, ...] = ()
    complete: bool = True


class ResolvedSchemaMetadata(Wire, frozen=True, kw_only=True):
    """The effective schema: imported and implied."""

    tables: tuple[ResolvedSchemaTable, ...] = ()


def convert_schema(value: Any) -> SchemaMetadata:
    """Read a schema from JSON already decoded. RAISES: SchemaError saying what is wrong and where."""
    try:
        return msgspec.convert(value, SchemaMetadata)
    except msgspec.ValidationError as err:
        raise SchemaError(f"the schema is not of the expected form: {err}", hint=FORM) from err


FORM = '{"tables": [{"schema": "shop", "name": "orders", "columns": [{"name": "id", "dataType": "INT"}]}]}'
