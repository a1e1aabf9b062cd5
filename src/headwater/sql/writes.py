"""Statements that write rows: what they have in common, SELECT, and WITH queries that write."""

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from headwater.lineage.effects import ColumnDefinition, CreateTable, SchemaEffect
from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.model.relation import WILDCARD, Assignment, OneOf, Ref, Write
from headwater.sql.items import ItemColumn
from headwater.sql.lowering import Lowering, Node, Query
from headwater.text import Span

_LowerStatement: TypeAlias = Callable[[Lowering, Node], Lowered]
STATEMENTS: dict[type, _LowerStatement] = {}


def states(*types: type) -> Callable[[_LowerStatement], _LowerStatement]:
    """Register a function that lowers statements of these types and, unless they have their own, of subtypes."""

    def register(function: _LowerStatement) -> _LowerStatement:
        STATEMENTS.update((type, function) for type in types)
        return function

    return register


@states(exp.Query, exp.Pivot)
def lower_select(lowering: Lowering, node: Node) -> Lowered:
    into = _into(node)
    query = lowering.query(node, None)
    if isinstance(into, exp.Into) and into.this is not None:
        name, _ = lowering.table_name(into.this)
        write = Write(
            "SELECT_INTO",
            lowering.resolver.resolve(name).name,
            assignments_by_name(query),
            (query.relation,),
            target_span=lowering.cover(into.this.this),
        )
        temporary = bool(into.args.get("temporary")) or name.name.startswith("#")
        return Lowered("SELECT_INTO", (write,), (created(lowering, name, query, temporary=temporary),))
    return Lowered("SELECT", (Write("SELECT", None, assignments_by_name(query), (query.relation,)),))


def _into(node: Node) -> Node | None:
    """The INTO of a query: of several that are united, the first has it."""
    while isinstance(node, exp.SetOperation | exp.Subquery) and node.args.get("into") is None:
        node = node.this
    return node.args.get("into")


def assignments_by_name(query: Query) -> tuple[Assignment, ...]:
    """Every output into the column of its own name; a name that comes twice is told apart by a number."""
    taken: set[str] = set()
    result = []
    for column in query.columns:
        name, number = column.name, 0
        while name in taken and name != WILDCARD:
            number += 1
            name = f"{column.name}_{number}"
        taken.add(name)
        result.append(assign(name, column))
    return tuple(result)


def assign(name: str, column: ItemColumn, target_span: Span | None = None) -> Assignment:
    """One output column into a column of the target."""
    span = column.expression.span if isinstance(column.expression, Ref) else None
    return Assignment(name, column.expression, span=span or column.span, target_span=target_span or column.span)


def created(
    lowering: Lowering, name: TableName, query: Query, *, temporary: bool = False, keeps_existing: bool = False
) -> SchemaEffect:
    """The table that a query's result becomes."""
    columns = tuple(
        ColumnDefinition(assignment.column, column.type or _type_of(lowering, column))
        for assignment, column in zip(assignments_by_name(query), query.columns)
        if not column.is_wildcard
    )
    complete = not any(column.is_wildcard for column in query.columns)
    return CreateTable(name, columns, temporary=temporary, keeps_existing=keeps_existing, complete=complete)


def _type_of(lowering: Lowering, column: ItemColumn) -> str | None:
    """The type of a column that is taken over as it is."""
    expression = column.expression
    if isinstance(expression, OneOf) and len(expression.options) == 1:
        expression = expression.options[0]
    return lowering.types.get(expression.column) if isinstance(expression, Ref) else None


def identifier_of(node: Node) -> Node:
    """The name in a column list, whichever way the parser wraps it."""
    if isinstance(node, exp.Identifier):
        return node
    return node.this if isinstance(node.this, exp.Expr) else exp.to_identifier(node.expressions[0].name)


# -------------------------------------------------------------------------------------------------- writes in WITH


_WRITING = (exp.Insert, exp.Update, exp.Delete, exp.Merge)


def take_out_writes(lowering: Lowering, tree: Node) -> tuple[Write, ...]:
    """The writes among the WITH queries of a statement, which then only read what those return."""
    clause = tree.args.get("with_")
    if clause is None or not any(isinstance(each.this, _WRITING) for each in clause.expressions):
        return ()
    writes: list[Write] = []
    before: list[Node] = []
    for each in clause.expressions:
        if isinstance(each.this, _WRITING):
            inner = each.this
            returned = _returned_rows(inner)
            if before:
                inner.set("with_", exp.With(expressions=[cte.copy() for cte in before]))
            writes += STATEMENTS[type(inner)](lowering, inner).writes
            each.set("this", returned)
        before.append(each)
    return tuple(writes)


def _returned_rows(node: Node) -> Node:
    """Return the result of RETURNING as a query over the table that was written."""
    table = node.this.this if isinstance(node.this, exp.Schema) else node.this
    returning = node.args.get("returning")
    items = returning.expressions if returning is not None else [exp.Star()]
    where = node.args.get("where")
    select = exp.Select(
        expressions=[each.copy() for each in items],
        from_=exp.From(this=table.copy()),
        where=where.copy() if isinstance(where, exp.Expr) else None,
    )
    source = node.args.get("from_")
    joined = [source.this] if isinstance(source, exp.From) else node.args.get("using") or []
    if isinstance(joined, list) and joined:
        select.set("joins", [exp.Join(this=each.copy()) for each in joined])
    return select
