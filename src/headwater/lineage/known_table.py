"""A table as the analysis knows it at one point of a script, and where two accounts of it differ."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headwater.errors import SchemaError
from headwater.lineage.effects import AlterColumns, ColumnDefinition
from headwater.lineage.schema import (
    ConstraintType,
    ForeignKey,
    ResolvedColumnSchema,
    ResolvedSchemaTable,
    TableConstraintInfo,
    TableOrigin,
)
from headwater.model.names import CaseFolding, TableName, fold
from headwater.model.relation import Resolution
from headwater.model.types import parse_type


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table and what is known of its columns. `complete` False means there may be columns beside those listed.
    `doubts` maps a column's name to the reason why edges from it are approximate; `disputed` are columns that only
    the losing account has: they are no part of `*`, but can be referred to."""

    name: TableName
    columns: tuple[ColumnDefinition, ...] = ()
    resolution: Resolution = Resolution.UNKNOWN
    complete: bool = False
    doubts: Mapping[str, str] = field(default_factory=dict)
    disputed: tuple[ColumnDefinition, ...] = ()
    temporary: bool = False
    constraints: tuple[TableConstraintInfo, ...] = ()
    statement_index: int | None = None
    updated_at: str = ""
    _index: dict[CaseFolding, dict[str, ColumnDefinition]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    @property
    def origin(self) -> TableOrigin:
        return TableOrigin.IMPORTED if self.resolution is Resolution.IMPORTED else TableOrigin.IMPLIED

    @property
    def approximate(self) -> str | None:
        """Why `*` over this table is in doubt, None when it is not."""
        if self.complete:
            return None
        what = "some columns" if self.columns else "the columns"
        return f"{what} of `{self.name}` are not known"

    def column(self, name: str, case: CaseFolding, *, quoted: bool = False) -> ColumnDefinition | None:
        """The column that a name in the text means."""
        return self.index(case).get(fold(name, case, quoted=quoted))

    def index(self, case: CaseFolding) -> dict[str, ColumnDefinition]:
        """The columns by folded name; a name in a schema stands for itself and for what the dialect makes of it."""
        index = self._index.get(case)
        if index is None:
            columns = (*self.columns, *self.disputed)
            index = {column.name: column for column in reversed(columns)}
            index |= {fold(column.name, case, quoted=column.quoted): column for column in reversed(columns)}
            self._index[case] = index
        return index


@dataclass(frozen=True, slots=True)
class Difference:
    """A disagreement between the given schema and the DDL: the sentence to show, and the reason by column."""

    message: str
    doubts: dict[str, str]
    disputed: tuple[ColumnDefinition, ...]


def compare(given: KnownTable, defined: Iterable[ColumnDefinition], case: CaseFolding) -> Difference | None:
    """Return how DDL differs from the given columns of a table, by name and type; None when it does not."""
    ours = {fold(column.name, case): column for column in given.columns}
    theirs = {fold(column.name, case): column for column in defined}
    missing = [column for key, column in ours.items() if key not in theirs]
    added = [column for key, column in theirs.items() if key not in ours] if given.complete else []
    retyped = [
        (column, theirs[key]) for key, column in ours.items() if key in theirs and _differ(column, theirs[key])
    ]
    if not (missing or added or retyped):
        return None
    parts = []
    if missing:
        parts.append(f"the DDL lacks {_names(missing)}")
    if added:
        parts.append(f"the given schema lacks {_names(added)}")
    parts += [f"`{one.name}` is {one.type} in the given schema and {other.type} in the DDL" for one, other in retyped]
    doubts = {column.name: "the DDL has no such column" for column in missing}
    doubts |= {column.name: "only the DDL has this column" for column in added}
    doubts |= {one.name: f"the DDL has type {other.type}" for one, other in retyped}
    return Difference("; ".join(parts), doubts, tuple(added))


def alter_columns(
    columns: tuple[ColumnDefinition, ...], effect: AlterColumns, case: CaseFolding
) -> tuple[ColumnDefinition, ...]:
    """The columns after an ALTER TABLE; adding one that is there changes nothing."""
    result = {fold(column.name, case): column for column in columns}
    for name in effect.drop:
        result.pop(fold(name, case), None)
    for column in effect.add:
        result.setdefault(fold(column.name, case), column)
    for column in effect.retype:
        known = result.get(fold(column.name, case))
        if known is not None:
            result[fold(column.name, case)] = dataclasses.replace(known, type=column.type)
    renamed = {fold(old, case): new for old, new in effect.rename}
    return tuple(
        dataclasses.replace(column, name=renamed[key]) if key in renamed else column for key, column in result.items()
    )


def on_the_wire(table: KnownTable) -> ResolvedSchemaTable:
    """A table of the effective schema, as it goes on the wire. Keys are told both of the columns and of the table."""
    constraints = all_constraints(table)
    primary: set[str] = set()
    references: dict[str, tuple[str, str]] = {}
    for each in constraints:
        names = [name.lower() for name in each.columns]
        if each.constraint_type is ConstraintType.PRIMARY_KEY:
            primary.update(names)
        elif each.constraint_type is ConstraintType.FOREIGN_KEY and each.referenced_table:
            for name, to in zip(names, each.referenced_columns or each.columns):
                references.setdefault(name, (each.referenced_table, to))
    return ResolvedSchemaTable(
        catalog=table.name.catalog,
        schema=table.name.schema,
        name=table.name.name,
        columns=tuple(
            ResolvedColumnSchema(
                name=column.name,
                data_type=column.type,
                origin=table.origin,
                is_primary_key=column.name.lower() in primary or None,
                foreign_key=_foreign_key(column.references or references.get(column.name.lower())),
            )
            for column in table.columns
        ),
        origin=table.origin,
        source_statement_index=table.statement_index,
        updated_at=table.updated_at,
        temporary=table.temporary or None,
        constraints=constraints,
        complete=table.complete,
    )


def all_constraints(table: KnownTable) -> tuple[TableConstraintInfo, ...]:
    """The constraints of a table, those that stand at its columns among them."""
    found = list(table.constraints)
    kinds = {each.constraint_type for each in found}
    keys = tuple(column.name for column in table.columns if column.primary_key)
    if keys and ConstraintType.PRIMARY_KEY not in kinds:
        found.append(TableConstraintInfo(constraint_type=ConstraintType.PRIMARY_KEY, columns=keys))
    for column in table.columns:
        if column.references:
            other, name = column.references
            found.append(
                TableConstraintInfo(
                    constraint_type=ConstraintType.FOREIGN_KEY,
                    columns=(column.name,),
                    referenced_table=other,
                    referenced_columns=(name,),
                )
            )
    return tuple(found)


def _foreign_key(target: tuple[str, str] | None) -> ForeignKey | None:
    return None if target is None else ForeignKey(table=target[0], column=target[1])


def _names(columns: list[ColumnDefinition]) -> str:
    return ", ".join(f"`{column.name}`" for column in columns)


def _differ(one: ColumnDefinition, other: ColumnDefinition) -> bool:
    return one.type is not None and other.type is not None and _plain(one.type) != _plain(other.type)


def _plain(type_text: str) -> str:
    """A type in one spelling, so that INTEGER and INT are the same."""
    try:
        return str(parse_type(type_text, foreign=True))
    except SchemaError:
        return type_text.upper()
