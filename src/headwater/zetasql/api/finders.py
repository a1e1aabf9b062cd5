"""Parents of single columns and expressions, as resolved columns."""

import dataclasses
from typing import Any

from headwater.lineage.trace import trace
from headwater.model.edges import ColumnRef, InfluenceClass
from headwater.model.names import TableName
from headwater.model.relation import Assignment, Attribute, Expression, Scan, Write
from headwater.text import Source
from headwater.zetasql.api.statements import is_wrapped, lower, to_message, write_of
from headwater.zetasql.api.walk import walk_resolved_tree
from headwater.zetasql.lower import Lowering, Place, Surroundings
from headwater.zetasql.lower.lowering import message_type

_COLUMN_REF, _TABLE_SCAN = map(message_type, ("ColumnRef", "TableScan"))
_HERE = TableName.of("$expression")


class ExpressionParentFinder:
    """The columns an expression's value is made of, one step up."""

    @staticmethod
    def find_direct_parents(expr: Any) -> list[Any]:
        """The columns that make the value of `expr`, in order of appearance.

        Conditions of CASE and IF are left out; a scalar or ARRAY subquery counts as its output column; a field of a
        struct is given as its column with the path, as `addr.city`.
        """
        message = to_message(expr)
        low = Lowering(Place(Source(""), exact=False), Surroundings())
        low.subqueries_as_columns = {}
        expression = low.expression(message)
        columns = {node.column.column_id: node.column for node in _nodes(message, _COLUMN_REF)}
        columns |= {column.column_id: column for column in low.subqueries_as_columns.values()}
        attributes = tuple(Attribute(low.id(column), str(id)) for id, column in columns.items())
        write = Write("", None, (Assignment("value", expression),), (Scan(_HERE, attributes),))
        found = [_with_path(columns[int(ref.column or 0)], ref.path) for ref in _value_sources(write)]
        return _as_given(found, expr)


class ParentColumnFinder:
    """The stored columns that a column or an expression of a statement comes from in the end."""

    @staticmethod
    def find_parents_for_column(statement: Any, column: Any) -> list[Any]:
        """The stored columns that `column`, one of the columns of the statement, is made of."""
        low, lowered = lower(statement)
        return _terminals(statement, write_of(lowered), low.ref(_column(column)))

    @staticmethod
    def find_parents_for_expression(statement: Any, expr: Any) -> list[Any]:
        """The stored columns that an expression of the statement is made of."""
        low, lowered = lower(statement)
        return _terminals(statement, write_of(lowered), low.expression(to_message(expr)))


def _column(column: Any) -> Any:
    message = column.to_proto() if hasattr(column, "to_proto") else column
    return message.column if hasattr(message, "column") else message


def _terminals(statement: Any, write: Write, value: Expression) -> list[Any]:
    refs = _value_sources(dataclasses.replace(write, assignments=(Assignment("value", value),)))
    stored = _stored_columns(to_message(statement))
    found = [_with_path(stored[key], ref.path) for ref in refs if (key := _key(ref)) in stored]
    return _as_given(found, statement)


def _key(ref: ColumnRef) -> tuple[str, str]:
    return str(ref.table), (ref.column or "").lower()


def _stored_columns(message: Any) -> dict[tuple[str, str], Any]:
    """The columns that scans read, by table and name; the first scan of a table stands for all."""
    columns: dict[tuple[str, str], Any] = {}
    for scan in _nodes(message, _TABLE_SCAN):
        for column in scan.parent.column_list:
            columns.setdefault((scan.table.full_name or scan.table.name, column.name.lower()), column)
    return columns


def _value_sources(write: Write) -> list[ColumnRef]:
    edges = trace(write).edges
    return list(dict.fromkeys(edge.source for edge in edges if edge.kind.influence is InfluenceClass.VALUE))


def _nodes(message: Any, kind: type) -> list[Any]:
    found: list[Any] = []
    walk_resolved_tree(message, lambda node: found.append(node) if type(node) is kind else None)
    return found


def _with_path(column: Any, path: tuple[str, ...]) -> Any:
    if not path:
        return column
    inner = type(column)()
    inner.CopyFrom(column)
    inner.name = ColumnRef(_HERE, column.name, path).name
    return inner


def _as_given(columns: list[Any], asked: Any) -> list[Any]:
    """Columns in the form in which the question was asked."""
    if not is_wrapped(asked):
        return columns
    from zetasql.types import parse_proto  # noqa: PLC0415  (takes a second: only for those who use it already)

    return [parse_proto(column) for column in columns]
