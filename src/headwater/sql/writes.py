"""Statements that write rows: SELECT, INSERT, UPDATE, DELETE."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from sqlglot import exp

from headwater.errors import IssueCode
from headwater.lineage.effects import ColumnDefinition, CreateTable, SchemaEffect
from headwater.lineage.script import Lowered
from headwater.model.edges import Kind
from headwater.model.names import TableName
from headwater.model.relation import (
    WILDCARD,
    Assignment,
    Expression,
    Influence,
    Ref,
    Relation,
    Subquery,
    SubqueryKind,
    Values,
    With,
    Write,
)
from headwater.sql.items import Column, DerivedItem, Named, StoredItem
from headwater.sql.lowering import Lowering, Node, Query, Scope
from headwater.sql.queries import build_ctes
from headwater.sql.tables import add_item, add_join, open_table
from headwater.text import Span

_LowerStatement: TypeAlias = Callable[[Lowering, Node], Lowered]
STATEMENTS: dict[type, _LowerStatement] = {}


def states(*types: type) -> Callable[[_LowerStatement], _LowerStatement]:
    """Register a function that lowers statements of these types and, unless they have their own, of subtypes."""

    def register(function: _LowerStatement) -> _LowerStatement:
        STATEMENTS.update((type, function) for type in types)
        return function

    return register


# ---------------------------------------------------------------------------------------------------- queries


@states(exp.Query, exp.Pivot)
def lower_select(lowering: Lowering, node: Node) -> Lowered:
    into = node.args.get("into")
    query = lowering.query(node, None)
    if into is not None and into.this is not None:
        name, _ = lowering.table_name(into.this)
        write = Write(
            "SELECT_INTO",
            lowering.resolver.resolve(name).name,
            assignments_by_name(query),
            (query.relation,),
            target_span=lowering.cover(into.this.this),
        )
        temporary = bool(into.args.get("temporary")) or name.name.startswith("#")
        return Lowered("SELECT_INTO", (write,), (created(name, query, temporary=temporary),))
    return Lowered("SELECT", (Write("SELECT", None, assignments_by_name(query), (query.relation,)),))


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
        result.append(_assign(name, column))
    return tuple(result)


def _assign(name: str, column: Column, target_span: Span | None = None) -> Assignment:
    span = column.expression.span if isinstance(column.expression, Ref) else None
    return Assignment(name, column.expression, span=span or column.span, target_span=target_span or column.span)


def created(name: TableName, query: Query, *, temporary: bool = False, keeps_existing: bool = False) -> SchemaEffect:
    """The table that a query's result becomes."""
    columns = tuple(
        ColumnDefinition(assignment.column, column.type)
        for assignment, column in zip(assignments_by_name(query), query.columns)
        if not column.is_wildcard
    )
    complete = not any(column.is_wildcard for column in query.columns)
    return CreateTable(name, columns, temporary=temporary, keeps_existing=keeps_existing, complete=complete)


def identifier_of(node: Node) -> Node:
    """The name in a column list, whichever way the parser wraps it."""
    return node if isinstance(node, exp.Identifier) else node.this


# ---------------------------------------------------------------------------------------------------- INSERT


@states(exp.Insert)
def lower_insert(lowering: Lowering, node: Node) -> Lowered:
    scope = Scope()
    ctes = build_ctes(lowering, node.args.get("with_"), scope)
    query = _inserted_query(lowering, node, scope)
    if ctes:
        query.relation = With(ctes, query.relation)
    write = insert_write(lowering, node, query, scope)
    return Lowered("INSERT", (write,))


def _inserted_query(lowering: Lowering, node: Node, scope: Scope) -> Query:
    body = node.expression
    if body is None:  # DEFAULT VALUES, or a file
        return Query(Values((), ()), [])
    return lowering.query(body, scope)


def insert_write(
    lowering: Lowering, node: Node, query: Query, scope: Scope, influences: Sequence[Influence] = ()
) -> Write:
    """The write of an INSERT whose query is already lowered."""
    schema = node.this
    table = schema.this if isinstance(schema, exp.Schema) else schema
    if not isinstance(table, exp.Table):  # INSERT OVERWRITE DIRECTORY '…'
        directory = TableName.of(table.this.name if isinstance(table.this, exp.Expr) else str(table.this))
        return Write("INSERT", directory, assignments_by_name(query), (query.relation,), tuple(influences))
    target = open_table(lowering, table, report=False)
    listed = list(schema.expressions) if isinstance(schema, exp.Schema) else list(node.args.get("columns") or ())
    if node.args.get("by_name"):
        assignments = _by_target_name(lowering, target, query)
    elif listed:
        assignments = _by_list(lowering, target, listed, query)
    else:
        assignments = _by_position(lowering, target, query, _partition_columns(node, table))
    conflict = node.args.get("conflict")
    if conflict is not None:
        assignments += _on_conflict(lowering, conflict, target=target, assignments=assignments, scope=scope)
    return Write(
        "INSERT",
        target.table.name,
        assignments,
        (query.relation,),
        tuple(influences),
        target_scan=target.scan if conflict is not None else None,
        target_span=target.scan.span,
    )


def _by_list(lowering: Lowering, target: StoredItem, listed: Sequence[Node], query: Query) -> tuple[Assignment, ...]:
    assignments = []
    for at, node in enumerate(listed):
        identifier = identifier_of(node)
        known = target.ask(identifier.name, lowering.key(identifier))
        name = known.name if known is not None else identifier.name
        if known is None:
            lowering.report(
                IssueCode.UNKNOWN_COLUMN,
                f"`{identifier.name}` is not a column of `{target.table.name}`",
                span=lowering.span(identifier),
            )
        column = _nth(query, at)
        if column is not None:
            assignments.append(_assign(name, column, lowering.span(identifier)))
    return tuple(assignments)


def _nth(query: Query, at: int) -> Column | None:
    """The output at a position; from a star whose columns are not known on, it is the star."""
    for index, column in enumerate(query.columns):
        if index == at or column.is_wildcard:
            return column
    return None


def _by_position(
    lowering: Lowering, target: StoredItem, query: Query, static: Sequence[str]
) -> tuple[Assignment, ...]:
    """Into the columns of the target in their order, when they are known; else into those of the same name."""
    fixed = {lowering.key_of(name) for name in static}
    names = [column.name for column in target.table.columns if lowering.key_of(column.name) not in fixed]
    if not target.table.complete or not names:
        return assignments_by_name(query)
    if any(column.is_wildcard for column in query.columns):
        return tuple(_assign(column.name, column) for column in query.columns)
    return tuple(_assign(name, column) for name, column in zip(names, query.columns))


def _partition_columns(node: Node, table: Node) -> list[str]:
    """The columns that PARTITION (ds = '…') fixes: they take nothing from the query."""
    partition = table.args.get("partition") or node.args.get("partition")
    if not isinstance(partition, exp.Partition):
        return []
    return [each.this.name for each in partition.expressions if isinstance(each, exp.EQ)]


def _by_target_name(lowering: Lowering, target: StoredItem, query: Query) -> tuple[Assignment, ...]:
    result = []
    for column in query.columns:
        known = target.ask(column.name, column.key) if not column.is_wildcard else None
        result.append(_assign(known.name if known is not None else column.name, column))
    return tuple(result)


def _on_conflict(
    lowering: Lowering, node: Node, *, target: StoredItem, assignments: tuple[Assignment, ...], scope: Scope
) -> tuple[Assignment, ...]:
    """ON CONFLICT DO UPDATE, ON DUPLICATE KEY UPDATE: `excluded.x` and `VALUES(x)` are what was to be inserted."""
    offered = [
        Column(each.column, lowering.key_of(each.column), each.expression) for each in assignments if not each.path
    ]
    inside = Scope(outer=scope)
    inside.items.append(Named(("excluded",), DerivedItem(offered), shown="excluded"))
    inside.items.append(Named((lowering.key_of(target.table.name.name),), target, shown=str(target.table.name)))
    result = []
    for each in node.args.get("expressions") or ():
        if not isinstance(each, exp.EQ):
            continue
        value = each.expression
        if isinstance(value, exp.Anonymous) and value.name.upper() == "VALUES" and value.expressions:
            value = exp.Column(this=value.expressions[0], table=exp.to_identifier("excluded"))
        identifier = each.this.this if isinstance(each.this, exp.Column) else each.this
        own = Scope(outer=inside)
        own.items.append(inside.items[1])
        expression = lowering.expression(value, own)
        result.append(Assignment(identifier.name, expression, target_span=lowering.span(identifier)))
    return tuple(result)


# ---------------------------------------------------------------------------------------------------- UPDATE


@states(exp.Update)
def lower_update(lowering: Lowering, node: Node) -> Lowered:
    scope = Scope()
    ctes = build_ctes(lowering, node.args.get("with_"), scope)
    target, relation, influences = _target_and_from(lowering, node, node.this, scope)
    assignments: list[Assignment] = []
    for each in node.expressions:
        assignments += set_assignments(lowering, each, target, scope)
    influences += _where(lowering, node.args.get("where"), scope)
    relations = () if relation is None else (With(ctes, relation) if ctes else relation,)
    write = Write(
        "UPDATE",
        target.table.name,
        tuple(assignments),
        relations,
        tuple(influences),
        target_scan=target.scan,
        target_span=target.scan.span,
    )
    return Lowered("UPDATE", (write,))


def set_assignments(lowering: Lowering, node: Node, target: StoredItem, scope: Scope) -> list[Assignment]:
    """`SET a = x`, `SET s.f = x`, `SET (a, b) = (SELECT x, y …)`."""
    if not isinstance(node, exp.EQ):
        return []
    left, right = node.this, node.expression
    if isinstance(left, exp.Tuple | exp.Paren):
        return _set_several(lowering, left, right, target=target, scope=scope)
    column, path, span = _set_target(lowering, left, target, scope)
    lowering.leftmost = None
    claimed = lowering.claim(left.this._meta.get("start")) if _has_place(left) else None
    expression = lowering.expression(right, scope)
    value_span = _right_side(lowering, claimed) or (expression.span if isinstance(expression, Ref) else None)
    return [Assignment(column, expression, path, value_span, span)]


def _has_place(left: Node) -> bool:
    return isinstance(left, exp.Column) and isinstance(left.this, exp.Expr) and bool(left.this._meta)


def _right_side(lowering: Lowering, whole: Span | None) -> Span | None:
    if whole is None:
        return None
    text = lowering.source.excerpt(whole)
    at = text.find("=")
    if at < 0:
        return None
    rest = text[at + 1 :]
    start = whole.start + at + 1 + len(rest) - len(rest.lstrip())
    return lowering.source.span(start, whole.end)


def _set_several(
    lowering: Lowering, left: Node, right: Node, *, target: StoredItem, scope: Scope
) -> list[Assignment]:
    columns = left.expressions if isinstance(left, exp.Tuple) else [left.this]
    inner = right.this if isinstance(right, exp.Subquery | exp.Paren) else right
    values: list[Expression]
    if isinstance(inner, exp.Query):
        query = lowering.query(inner, scope)
        values = [
            Subquery(SubqueryKind.SCALAR, query.relation, column.expression.column)
            if isinstance(column.expression, Ref)
            else column.expression
            for column in query.columns
        ]
    else:
        items = inner.expressions if isinstance(inner, exp.Tuple) else [inner]
        values = [lowering.expression(each, scope) for each in items]
    result = []
    for column, value in zip(columns, values):
        name, path, span = _set_target(lowering, column, target, scope)
        result.append(Assignment(name, value, path, target_span=span))
    return result


def _set_target(
    lowering: Lowering, node: Node, target: StoredItem, scope: Scope
) -> tuple[str, tuple[str, ...], Span | None]:
    """The column that SET assigns, and the path inside it: `t.s.f` is field f of column s, if t is the target."""
    parts: list[Node] = []
    while isinstance(node, exp.Dot | exp.Bracket):
        if isinstance(node, exp.Dot):
            parts.insert(0, node.expression)
        node = node.this
    if isinstance(node, exp.Column):
        args = node.args
        parts = [part for part in (args.get("catalog"), args.get("db"), args.get("table"), node.this) if part] + parts
    else:
        parts.insert(0, node)
    keys = tuple(lowering.key(part) if isinstance(part, exp.Identifier) else part.name for part in parts)
    first = 0
    for count in range(len(parts) - 1, 0, -1):
        if any(named.item is target and named.answers_to(keys[:count]) for named in scope.items):
            first = count
            break
    known = target.ask(parts[first].name, keys[first])
    name = known.name if known is not None else parts[first].name
    span = lowering.cover(parts[first], parts[-1])
    if known is None:
        lowering.report(IssueCode.UNKNOWN_COLUMN, f"`{name}` is not a column of `{target.table.name}`", span=span)
    return name, tuple(part.name for part in parts[first + 1 :]), span


def _where(lowering: Lowering, clause: Node | None, scope: Scope) -> list[Influence]:
    if clause is None:
        return []
    span = lowering.claim(lowering.first_position(clause.this))
    return [Influence(Kind.FILTER, lowering.expression(clause.this, scope), span)]


def _target_and_from(
    lowering: Lowering, node: Node, table: Node, scope: Scope, others: Sequence[Node] = ()
) -> tuple[StoredItem, Relation | None, list[Influence]]:
    """The target and what stands beside it; the target may be named by its alias in FROM (T-SQL)."""
    clause = node.args.get("from_")
    relation: Relation | None = None
    named_in_from = None
    if clause is not None:
        relation = add_item(lowering, clause.this, scope, None)
        key = lowering.key(table.this) if isinstance(table.this, exp.Identifier) else ""
        named_in_from = _alias_of(scope, key) if table.args.get("db") is None else None
    if named_in_from is None:
        target = open_table(lowering, table)
        alias = table.args.get("alias")
        names = tuple(lowering.key_of(part) for part in lowering.table_name(table)[0].parts)
        if alias is not None and alias.this is not None:
            names = (lowering.key(alias.this),)
        scope.items.insert(0, Named(names, target, shown=str(target.table.name)))
    else:
        target = named_in_from
    for each in (*(table.args.get("joins") or ()), *(node.args.get("joins") or ())):
        relation = add_join(lowering, each, scope, relation)
    for each in others:
        relation = add_item(lowering, each, scope, relation)
    return target, relation, []


def _alias_of(scope: Scope, key: str) -> StoredItem | None:
    for named in scope.items:
        if named.answers_to((key,)) and isinstance(named.item, StoredItem):
            return named.item
    return None


# ---------------------------------------------------------------------------------------------------- DELETE


@states(exp.Delete)
def lower_delete(lowering: Lowering, node: Node) -> Lowered:
    scope = Scope()
    ctes = build_ctes(lowering, node.args.get("with_"), scope)
    using = node.args.get("using") or ()
    target, relation, influences = _target_and_from(lowering, node, node.this, scope, using or ())
    influences += _where(lowering, node.args.get("where"), scope)
    relations = () if relation is None else (With(ctes, relation) if ctes else relation,)
    write = Write(
        "DELETE",
        target.table.name,
        (),
        relations,
        tuple(influences),
        target_scan=target.scan,
        target_span=target.scan.span,
    )
    return Lowered("DELETE", (write,))
