"""The columns a statement writes."""

import re
from collections.abc import Iterable
from typing import Any

from msgspec import structs

from headwater.lineage.effects import ColumnDefinition
from headwater.model.relation import Assignment, GetField, Ref
from headwater.zetasql.lower.expressions import field_names
from headwater.zetasql.lower.lowering import ResolvedLowering
from headwater.zetasql.messages import types
from headwater.zetasql.types import type_text

_ANONYMOUS = re.compile(r"\$|$")


def output_assignments(
    low: ResolvedLowering, columns: Iterable[Any], *, value_table: bool = False
) -> list[Assignment]:
    """One value per output column. The fields of SELECT AS STRUCT are columns."""
    given = list(columns)
    if value_table and len(given) == 1:
        column = given[0].column
        if column.type.type_kind == types.TYPE_STRUCT:
            whole = low.ref(column)
            return [Assignment(name, GetField(whole, name)) for name in field_names(column.type)]
    names = output_names(each.name for each in given)
    values = [Assignment(name, Ref(low.id(each.column))) for name, each in zip(names, given)]
    return expand(low, values, [each.column.type for each in given])


def expand(low: ResolvedLowering, assignments: list[Assignment], kinds: list[Any]) -> list[Assignment]:
    """The same assignments, of structs leaf by leaf if so asked; an array is a leaf."""
    if not low.expand_structs:
        return assignments
    result: list[Assignment] = []
    pending = list(zip(assignments, kinds))[::-1]
    while pending:
        each, kind = pending.pop()
        if kind.type_kind != types.TYPE_STRUCT:
            result.append(each)
            continue
        inside = [
            (structs.replace(each, expression=GetField(each.expression, name), path=(*each.path, name)), field)
            for name, field in zip(field_names(kind), (field.field_type for field in kind.struct_type.field))
        ]
        pending.extend(reversed(inside))
    return result


def output_names(names: Iterable[str]) -> list[str]:
    """The names of a result, as BigQuery gives them: columns without a name are f0_, f1_, …

    >>> output_names(["a", "$col2", "b", ""])
    ['a', 'f0_', 'b', 'f1_']
    """
    result, anonymous = [], 0
    for name in names:
        if _ANONYMOUS.match(name):
            result.append(f"f{anonymous}_")
            anonymous += 1
        else:
            result.append(name)
    return result


def output_definitions(columns: Iterable[Any], *, value_table: bool = False) -> tuple[ColumnDefinition, ...]:
    """The columns that a table made of a query's result has."""
    given = list(columns)
    if value_table and len(given) == 1 and given[0].column.type.type_kind == types.TYPE_STRUCT:
        struct = given[0].column.type
        return tuple(
            ColumnDefinition(name, type_text(field.field_type))
            for name, field in zip(field_names(struct), struct.struct_type.field)
        )
    names = output_names(each.name for each in given)
    return tuple(ColumnDefinition(name, type_text(each.column.type)) for name, each in zip(names, given))
