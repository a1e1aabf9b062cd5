"""INSERT, UPDATE, MERGE, DELETE, TRUNCATE."""

from collections.abc import Iterable, Iterator
from typing import Any

from headwater.lineage.script import Lowered
from headwater.model import relation as rel
from headwater.model.edges import ELEMENT, Kind
from headwater.zetasql.lower.lowering import ResolvedLowering, message_type, unwrap
from headwater.zetasql.lower.outputs import expand
from headwater.zetasql.lower.queries import lower_table
from headwater.zetasql.lower.statements import states
from headwater.zetasql.messages import enums

_ACTIONS = enums.ResolvedMergeWhenEnums
_COLUMN_REF, _GET_FIELD, _JSON_FIELD = map(message_type, ("ColumnRef", "GetStructField", "GetJsonField"))


@states("InsertStmt")
def lower_insert(low: ResolvedLowering, node: Any) -> Lowered:
    target = lower_table(low, node.table_scan)
    columns = [column.name for column in node.insert_column_list]
    relations: tuple[rel.Relation, ...] = ()
    if unwrap(node.query) is not None:
        relations = (low.scan(node.query),)
        values: Iterable[rel.Expression] = [low.ref(column) for column in node.query_output_column_list]
        assignments = [rel.Assignment(name, value) for name, value in zip(columns, values)]
        assignments = expand(low, assignments, [column.type for column in node.insert_column_list])
    else:
        assignments = list(_inserted_rows(low, columns, node.row_list))
    for item in node.on_conflict_clause.update_item_list:
        assignments += _updates(low, item)
    write = rel.Write("INSERT", target.table, tuple(assignments), relations, (), target, target_span=target.span)
    return Lowered("INSERT", (write,))


def _inserted_rows(low: ResolvedLowering, columns: list[str], rows: Any) -> Iterator[rel.Assignment]:
    """VALUES: each column gets one of the values in its place."""
    for at, name in enumerate(columns):
        values = [row.value_list[at].value for row in rows if at < len(row.value_list)]
        lowered = tuple(low.expression(value) for value in values)
        span = low.span(values[0]) if len(values) == 1 else None
        yield rel.Assignment(name, lowered[0] if len(lowered) == 1 else rel.OneOf(lowered), span=span)


@states("UpdateStmt")
def lower_update(low: ResolvedLowering, node: Any) -> Lowered:
    target = lower_table(low, node.table_scan)
    relations = (low.scan(node.from_scan),) if unwrap(node.from_scan) is not None else ()
    assignments = tuple(each for item in node.update_item_list for each in _updates(low, item))
    influences = tuple(_filters(low, node))
    write = rel.Write("UPDATE", target.table, assignments, relations, influences, target, target_span=target.span)
    return Lowered("UPDATE", (write,))


@states("DeleteStmt")
def lower_delete(low: ResolvedLowering, node: Any) -> Lowered:
    target = lower_table(low, node.table_scan)
    influences = tuple(_filters(low, node))
    return Lowered(
        "DELETE", (rel.Write("DELETE", target.table, (), (), influences, target, target_span=target.span),)
    )


@states("TruncateStmt")
def lower_truncate(low: ResolvedLowering, node: Any) -> Lowered:
    target = lower_table(low, node.table_scan)
    write = rel.Write("TRUNCATE", target.table, (), (), tuple(_filters(low, node)), target, target_span=target.span)
    return Lowered("TRUNCATE", (write,))


@states("MergeStmt")
def lower_merge(low: ResolvedLowering, node: Any) -> Lowered:
    target = lower_table(low, node.table_scan)
    source = low.scan(node.from_scan)
    influences = [rel.Influence(Kind.MERGE, low.expression(node.merge_expr), low.span(node.merge_expr))]
    assignments: list[rel.Assignment] = []
    for when in node.when_clause_list:
        if unwrap(when.match_expr) is not None:
            influences.append(rel.Influence(Kind.MERGE, low.expression(when.match_expr), low.span(when.match_expr)))
        if when.action_type == _ACTIONS.INSERT:
            for column, value in zip(when.insert_column_list, when.insert_row.value_list):
                assignments.append(
                    rel.Assignment(column.name, low.expression(value.value), span=low.span(value.value))
                )
        for item in when.update_item_list:
            assignments += _updates(low, item)
    write = rel.Write(
        "MERGE", target.table, tuple(assignments), (source,), tuple(influences), target, target_span=target.span
    )
    return Lowered("MERGE", (write,))


def _filters(low: ResolvedLowering, node: Any) -> Iterator[rel.Influence]:
    if unwrap(node.where_expr) is not None:
        yield rel.Influence(Kind.FILTER, low.expression(node.where_expr), low.span(node.where_expr))


# --------------------------------------------------------------------------------------------- SET clauses


def _updates(low: ResolvedLowering, item: Any) -> Iterator[rel.Assignment]:
    """The assignments of one SET item: a column, a field inside it, an element, or a nested statement on an array."""
    place = _target(low, item.target)
    if place is None:
        return
    column, path = place
    if item.HasField("set_value"):
        value = item.set_value.value
        yield rel.Assignment(column, low.expression(value), path, low.span(value), low.span(item.target))
    if item.HasField("element_column"):
        whole = low.expression(item.target)
        element = rel.Computed(low.attribute(item.element_column.column), rel.Element(whole))
        for inner in _inside(low, item):
            step = (ELEMENT, *inner.path)
            yield rel.Assignment(
                column, rel.Let((element,), inner.expression), (*path, *step), inner.span, inner.target_span
            )
    for insert in item.insert_list:
        yield from _nested_insert(low, insert, column, path)


def _inside(low: ResolvedLowering, item: Any) -> Iterator[rel.Assignment]:
    """Yield what is assigned inside the elements of an array: `arr[OFFSET(0)].x = …`, `UPDATE arr SET x = …`."""
    for each in item.update_item_element_list:
        yield from _updates(low, each.update_item)
    for update in item.update_list:
        for inner in update.update_item_list:
            yield from _updates(low, inner)


def _nested_insert(
    low: ResolvedLowering, insert: Any, column: str, path: tuple[str, ...]
) -> Iterator[rel.Assignment]:
    """`INSERT arr (…)`: new elements of an array."""
    if unwrap(insert.query) is not None:
        relation = low.scan(insert.query)
        for given in insert.query_output_column_list:
            value = rel.Subquery(rel.SubqueryKind.SCALAR, relation, low.id(given))
            yield rel.Assignment(column, value, (*path, ELEMENT))
    for row in insert.row_list:
        for given in row.value_list:
            yield rel.Assignment(column, low.expression(given.value), (*path, ELEMENT), low.span(given.value))


def _target(low: ResolvedLowering, target: Any) -> tuple[str, tuple[str, ...]] | None:
    """The column a SET item assigns to and the path inside it; an element of an array stands for its array."""
    node = unwrap(target)
    path: list[str] = []
    while type(node) is not _COLUMN_REF:
        lowered = low.expression(node) if type(node) in (_GET_FIELD, _JSON_FIELD) else None
        if not isinstance(lowered, rel.GetField):
            return None
        path.insert(0, lowered.name)
        node = unwrap(node.expr)
    return node.column.name, tuple(path)
