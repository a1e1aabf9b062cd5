"""Calls in FROM and in expressions that stand for queries: functions of the script, and Snowflake's RESULT_SCAN."""

from collections.abc import Sequence
from typing import TypeAlias

from sqlglot import exp

from headwater.errors import IssueCode
from headwater.model import relation as rel
from headwater.model.names import TableName
from headwater.sql.items import DerivedItem, ItemColumn, OpaqueItem, renamed
from headwater.sql.lowering import Lowering, Node, Query, Scope
from headwater.sql.query_functions import QueryFunction, choose
from headwater.sql.split import Piece, parse_piece
from headwater.sql.tables import add_opaque, alias_names, beside, name_item, store
from headwater.text import Span

_Names: TypeAlias = Sequence[tuple[str, str, Span | None]]


def called(lowering: Lowering, function: Node) -> QueryFunction | None:
    """The function of the script that a call means; None when it defines none of that name."""
    function = _unqualified(function)
    if not isinstance(function, exp.Anonymous) or not lowering.query_functions:
        return None
    return choose(lowering.query_functions, owner_of(function), function.name.lower(), len(function.expressions))


def owner_of(function: Node) -> str:
    """The schema before the name of a function that is called, in lower case; empty when there is none."""
    around = function.parent
    if isinstance(around, exp.Dot) and around.expression is function:
        return str(around.this.name).lower()
    return str(around.text("db")).lower() if isinstance(around, exp.Table) else ""


def _unqualified(function: Node) -> Node:
    """The call in `schema.function(…)`."""
    while isinstance(function, exp.Dot):
        function = function.expression
    return function


def add_call(
    lowering: Lowering, node: Node, function: Node, scope: Scope, before: rel.Relation | None
) -> rel.Relation | None:
    """A call in FROM: the rows of the function's queries; None when the script defines no such function."""
    routine = called(lowering, function)
    if routine is None:
        return _add_given(lowering, node, function, scope, before)
    function = _unqualified(function)
    declared = _declared(lowering, routine)
    entered = _enter(lowering, routine, function, scope) if routine.queries else None
    if entered is None:
        return add_opaque(lowering, node, scope, before, columns=declared)
    _report_doubt(lowering, routine, function)
    query, bindings = entered
    columns = renamed(renamed(query.columns, declared), alias_names(lowering, node.args.get("alias")))
    item = DerivedItem(columns, query.below)
    scope.items.append(name_item(lowering, node, item, (lowering.key_of(function.name),), function.name))
    return beside(rel.Generate(before, bindings) if bindings else before, query.relation)


def _report_doubt(lowering: Lowering, routine: QueryFunction, function: Node) -> None:
    if routine.doubt is not None:
        message = f"{routine.doubt}: lineage through it may be incomplete"
        lowering.report(IssueCode.APPROXIMATE_LINEAGE, message, span=lowering.span(function))


def _add_given(
    lowering: Lowering, node: Node, function: Node, scope: Scope, before: rel.Relation | None
) -> rel.Relation | None:
    """A function that the schema gives: a source with columns of its own, whose rows its arguments decide."""
    if not isinstance(function, exp.Anonymous | exp.Dot):
        return None
    parts = [
        each.name for each in (node.args.get("catalog"), node.args.get("db")) if isinstance(each, exp.Identifier)
    ]
    while isinstance(function, exp.Dot):
        parts += (
            [part.name for part in function.this.flatten()]
            if isinstance(function.this, exp.Dot)
            else [function.this.name]
        )
        function = function.expression
    known = lowering.resolver.function(TableName((*parts, function.name))) if function.name else None
    if known is None:
        return None
    args = tuple(lowering.expression(each, scope) for each in function.expressions)
    stored = store(lowering, known, lowering.span(function))
    item = DerivedItem(renamed(stored.star(), alias_names(lowering, node.args.get("alias"))))
    scope.items.append(name_item(lowering, node, item, (lowering.key_of(function.name),), function.name))
    relation = beside(before, stored.scan)
    return rel.Filter(relation, rel.Call(function.name.lower(), args)) if args else relation


def lower_call(lowering: Lowering, function: Node, scope: Scope) -> rel.Expression | None:
    """A call in an expression: the value that the function's query gives; None when it is not such a function."""
    routine = called(lowering, function)
    if routine is None or routine.is_foreign:
        return None
    entered = _enter(lowering, routine, function, scope) if routine.queries else None
    _report_doubt(lowering, routine, function)
    if entered is None or not entered[0].columns:
        return None
    query, bindings = entered
    columns = renamed(query.columns, _declared(lowering, routine))
    if any(column.is_wildcard for column in columns):
        lowering.report(IssueCode.APPROXIMATE_LINEAGE, f"not all columns of `{routine.name}` are known")
    if len(columns) > 1:  # a row: (f(x)).a is one of its fields
        row = rel.MakeStruct(tuple((column.name, column.expression) for column in columns))
        query.columns = [ItemColumn(routine.name, routine.name, row)]
    id = query.output_id(lowering, 0)
    return rel.Let(bindings, rel.Subquery(rel.SubqueryKind.SCALAR, query.rows, id))


def _declared(lowering: Lowering, routine: QueryFunction) -> _Names:
    """The columns that a function says it has."""
    names = list(routine.columns)
    if not names and routine.like:
        known = lowering.resolver.resolve(lowering.table_name(_table(routine.like))[0])
        names = [column.name for column in known.columns] if known.complete else []
    return [(name, lowering.key_of(name), None) for name in names]


def _table(parts: Sequence[str]) -> Node:
    return exp.Table(**dict(zip(("this", "db", "catalog"), map(exp.to_identifier, reversed(parts)))))


def _enter(
    lowering: Lowering, routine: QueryFunction, function: Node, scope: Scope
) -> tuple[Query, tuple[rel.Computed, ...]] | None:
    """The rows of a function's queries and the columns that hold its arguments."""
    lowering.check_time()
    inner, bindings = _bind(lowering, routine, function, scope)
    others = lowering.query_functions
    lowering.query_functions = {
        name: those for name, those in others.items() if name != routine.name
    }  # not entered again
    try:
        queries = [query for each in routine.queries if (query := _lower(lowering, each, inner, routine)) is not None]
    finally:
        lowering.query_functions = others
    if len(queries) != len(routine.queries):
        return None
    return (queries[0] if len(queries) == 1 else _united(lowering, queries)), bindings


def _bind(
    lowering: Lowering, routine: QueryFunction, function: Node, scope: Scope
) -> tuple[Scope, tuple[rel.Computed, ...]]:
    """A scope in which parameters are arguments, by name and by number."""
    given: dict[str, rel.Expression] = {}
    for at, each in enumerate(function.expressions):
        named = isinstance(each, exp.Kwarg | exp.PropertyEQ)
        key = lowering.key_of(each.this.name) if named else f"${at + 1}"
        given[key] = lowering.expression(each, scope)
    inner = Scope(outer=Scope())
    bindings = []
    for at, name in enumerate(routine.parameters):
        number, key = f"${at + 1}", lowering.key_of(name)
        value = given.get(number) or given.get(key) or rel.Literal()
        id = lowering.new_id()
        bindings.append(rel.Computed(rel.Attribute(id, name or number), value))
        for each in (key, number) if name else (number,):
            inner.locals[each] = ItemColumn(name or number, each, rel.Ref(id))
    for name in routine.variables:
        inner.locals[lowering.key_of(name)] = ItemColumn(name, lowering.key_of(name), rel.Literal())
    return inner, tuple(bindings)


def _lower(lowering: Lowering, piece: Piece, scope: Scope, routine: QueryFunction) -> Query | None:
    """One query of a function; None when it cannot be read."""
    try:
        tree = routine.trees[id(piece)] = routine.trees.get(id(piece)) or parse_piece(piece, lowering.dialect)
    except Exception:  # the parser fails in many ways on what is not SQL
        return None
    listed: list[Node] = []
    if isinstance(tree, exp.Insert):  # into the table variable that the function returns
        listed = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
        tree = tree.expression
    if not isinstance(tree, exp.Query):
        return None
    with lowering.placeless() if routine.is_given else lowering.reading(piece):
        query = lowering.query(tree, scope)
    if listed:
        by_key = {lowering.key_of(each.name): at for at, each in enumerate(listed)}
        order = [by_key.get(lowering.key_of(name)) for name in routine.columns]
        query.columns = [
            query.columns[at] if at is not None and at < len(query.columns) else ItemColumn(name, name, rel.Literal())
            for at, name in zip(order, routine.columns)
        ]
    return query


def _united(lowering: Lowering, queries: Sequence[Query]) -> Query:
    """The rows of several queries, column by column."""
    names = queries[0].columns
    attributes = tuple(rel.Attribute(lowering.new_id(), column.name) for column in names)
    branches = []
    for query in queries:
        ids: list[int | None] = [query.output_id(lowering, at) for at in range(len(query.columns))]
        branches.append(rel.Branch(query.rows, tuple((ids + [None] * len(names))[: len(names)])))
    columns = [ItemColumn(column.name, column.key, rel.Ref(each.id)) for column, each in zip(names, attributes)]
    below = tuple(query.item for query in queries if query.below)
    return Query(rel.SetOp("union", attributes, tuple(branches)), columns, below, merged=bool(below))


# ----------------------------------------------------------------------------------------------------- RESULT_SCAN


_RESULT_SCAN = "result_scan"


def is_result_scan(function: Node) -> bool:
    """Return whether a function gives the rows of an earlier statement."""
    return isinstance(function, exp.Anonymous) and function.name.lower() == _RESULT_SCAN


def add_result_scan(
    lowering: Lowering, node: Node, function: Node, scope: Scope, before: rel.Relation | None
) -> rel.Relation | None:
    """The query whose rows are meant; None when it cannot be told or is no query."""
    piece = _meant(lowering, function)
    if piece is None:
        return None
    try:
        tree = parse_piece(piece, lowering.dialect)
    except Exception:  # the parser fails in many ways on what is not SQL
        return None
    if isinstance(tree, exp.Show | exp.Describe) or (isinstance(tree, exp.Command) and tree.name.upper() == "SHOW"):
        # the rows that SHOW lists: they come from no table
        scope.items.append(name_item(lowering, node, OpaqueItem(rel.Literal()), (_RESULT_SCAN,), _RESULT_SCAN))
        return beside(before, rel.Values((), ()))
    if not isinstance(tree, exp.Query):
        return None
    with lowering.reading(piece):
        query = lowering.query(tree, Scope())
    item = DerivedItem(renamed(query.columns, alias_names(lowering, node.args.get("alias"))), query.below)
    scope.items.append(name_item(lowering, node, item, (_RESULT_SCAN,), _RESULT_SCAN))
    return beside(before, query.relation)


def _meant(lowering: Lowering, function: Node) -> Piece | None:
    """The statement that LAST_QUERY_ID(), LAST_QUERY_ID(-2) or -2 means; None for an id."""
    given = function.expressions[0] if function.expressions else None
    if isinstance(given, exp.Anonymous) and given.name.lower() == "last_query_id":
        given = given.expressions[0] if given.expressions else exp.Literal.number(-1)
    steps = 0
    if isinstance(given, exp.Neg) and isinstance(given.this, exp.Literal) and given.this.name.isdigit():
        steps = int(given.this.name)
    elif isinstance(given, exp.Literal) and given.name.lstrip("-").isdigit() and given.name.startswith("-"):
        steps = -int(given.name)
    return lowering.earlier[-steps] if 0 < steps <= len(lowering.earlier) else None
