"""Queries: SELECT, set operations, WITH, VALUES."""

from collections.abc import Sequence

from sqlglot import exp

from headwater.model import relation as rel
from headwater.sql import lowering as state
from headwater.sql.items import DerivedItem, ItemColumn, Named, renamed
from headwater.sql.lowering import Lowering, Node, Query, Scope, builds
from headwater.sql.pivots import add_match
from headwater.sql.selection import SelectList, group_keys, lower_key, lower_select_list
from headwater.sql.tables import alias_names, from_clause
from headwater.text import Span

_ALIASES_IN_WHERE = frozenset({"snowflake", "clickhouse", "duckdb", "sqlite", "teradata", "redshift"})
_RECURSIVE_WITHOUT_SAYING = frozenset({"tsql", "fabric", "oracle", "teradata", "snowflake", "exasol"})


@builds(exp.Select)
def build_select(lowering: Lowering, node: Node, outer: Scope | None) -> Query:
    args = node.args
    scope = Scope(outer)
    ctes = build_ctes(lowering, args.get("with_"), scope)
    relation = from_clause(lowering, node, scope)
    if args.get("match") is not None and scope.items:
        relation = add_match(lowering, args["match"], scope, relation)
    scope.windows = {lowering.key_of(each.this.name): each for each in args.get("windows") or ()}
    _lower_scalars(lowering, args.get("with_"), scope)
    where_first = lowering.dialect not in _ALIASES_IN_WHERE
    if where_first:
        relation = _filter(lowering, args.get("where"), relation, scope)
    selected = lower_select_list(lowering, node, scope)
    if not where_first:
        relation = _filter(lowering, args.get("where"), relation, scope)
    relation = _filter(lowering, args.get("prewhere"), relation, scope)
    relation = _filter(lowering, args.get("connect"), relation, scope)
    keys = group_keys(lowering, args.get("group"), scope, selected)
    if keys:
        relation = rel.Aggregate(relation, keys, ())
    if selected.computed:
        relation = rel.Project(relation, tuple(selected.computed))
    if scope.expanded:
        relation = rel.Generate(relation, (), tuple(scope.expanded))
    relation = _filter(lowering, args.get("having"), relation, scope)
    relation = _filter(lowering, args.get("qualify"), relation, scope)
    relation = _distinct(lowering, args.get("distinct"), relation, scope, selected)
    for clause in ("order", "sort", "cluster"):
        relation = _order(lowering, args.get(clause), relation, scope, selected.columns)
    if ctes:
        relation = rel.With(ctes, relation)
    return Query(relation, selected.columns, selected.below, as_struct=args.get("kind") == "STRUCT", scope=scope)


def _filter(lowering: Lowering, clause: Node | None, relation: rel.Relation, scope: Scope) -> rel.Relation:
    if clause is None:
        return relation
    condition = clause.args.get("connect") if isinstance(clause, exp.Connect) else clause.this
    span = lowering.claim(lowering.first_position(condition))
    return rel.Filter(relation, lowering.expression(condition, scope), span)


def _distinct(
    lowering: Lowering, clause: Node | None, relation: rel.Relation, scope: Scope, selected: SelectList
) -> rel.Relation:
    """DISTINCT keeps one row per combination of the selected columns, DISTINCT ON of the keys it names."""
    if clause is None:
        return relation
    on = clause.args.get("on")
    if on is not None:
        nodes = on.expressions if isinstance(on, exp.Tuple) else [on]
        keys = [lower_key(lowering, each, scope, selected.columns) for each in nodes]
    else:
        keys = [column.expression for column in selected.columns]
    computed = [rel.Computed(rel.Attribute(lowering.new_id(), "key"), key, _span_of(key)) for key in keys]
    return rel.Aggregate(relation, tuple(computed), ())


def _order(
    lowering: Lowering, clause: Node | None, relation: rel.Relation, scope: Scope, columns: Sequence[ItemColumn]
) -> rel.Relation:
    if clause is None:
        return relation
    if any(isinstance(each.this, exp.Var) and each.name.upper() == "ALL" for each in clause.expressions):
        keys = tuple(column.expression for column in columns)
    else:
        keys = tuple(lower_key(lowering, each, scope, columns, alias_first=True) for each in clause.expressions)
    spans = [span for span in map(_span_of, keys) if span is not None]
    return rel.Sort(relation, keys, spans[0].cover(spans[-1]) if spans else None)


def _span_of(expression: rel.Expression) -> Span | None:
    return expression.span if isinstance(expression, rel.Ref) else None


# ------------------------------------------------------------------------------------------------------ WITH


def build_ctes(lowering: Lowering, clause: Node | None, scope: Scope) -> tuple[rel.Cte, ...]:
    """Lower the queries of a WITH clause, in order, into the scope."""
    if clause is None:
        return ()
    recursive = bool(clause.args.get("recursive")) or lowering.dialect in _RECURSIVE_WITHOUT_SAYING
    queries = [
        each for each in clause.expressions if isinstance(each.this, exp.Query) and not each.args.get("scalar")
    ]
    return tuple(_build_cte(lowering, each, scope, recursive) for each in queries)


def _lower_scalars(lowering: Lowering, clause: Node | None, scope: Scope) -> None:
    """WITH <expression> AS <name> (ClickHouse): a name for a value, over the columns of FROM."""
    for each in clause.expressions if clause is not None else ():
        if not isinstance(each.this, exp.Query) or each.args.get("scalar"):
            alias = each.args["alias"].this
            key = lowering.key(alias)
            scope.aliases[key] = ItemColumn(alias.name, key, lowering.expression(each.this, scope))


def _build_cte(lowering: Lowering, node: Node, scope: Scope, recursive: bool) -> rel.Cte:
    alias = node.args["alias"]
    id, key = lowering.new_id(), lowering.key(alias.this)
    names = alias_names(lowering, alias)
    body = node.this
    while isinstance(body, exp.Subquery) and not body.args.get("with_") and isinstance(body.this, exp.Query):
        body = body.this
    if recursive and isinstance(body, exp.SetOperation):
        query = _build_set_operation(lowering, body, scope, recursive_as=(id, key, names))
    else:
        query = lowering.query(body, scope)
    columns = renamed(query.columns, names)
    scope.ctes[key] = state.CteInScope(id, type(query.item)(columns, query.below))
    ids = tuple(column.expression.column for column in columns if isinstance(column.expression, rel.Ref))
    return rel.Cte(id, alias.this.name, query.relation, ids)


# ------------------------------------------------------------------------------------------------- set operations

_RecursiveAs = tuple[int, str, Sequence[tuple[str, str, Span | None]]]


@builds(exp.SetOperation)
def build_set_operation(lowering: Lowering, node: Node, outer: Scope | None) -> Query:
    return _build_set_operation(lowering, node, outer, recursive_as=None)


def _build_set_operation(
    lowering: Lowering, node: Node, outer: Scope | None, *, recursive_as: _RecursiveAs | None
) -> Query:
    scope = Scope(outer)
    ctes = build_ctes(lowering, node.args.get("with_"), scope)
    branches = _branches(node)
    first = lowering.query(branches[0], scope)
    attributes: list[rel.Attribute] = []
    if recursive_as is not None:
        attributes = _register_recursive(lowering, first, outer or scope, recursive_as)
    queries = [first, *(lowering.query(branch, scope) for branch in branches[1:])]
    if node.args.get("by_name"):
        columns, attributes, positions = _by_name(lowering, queries, common=node.args.get("kind") == "INNER")
    else:
        columns, attributes, positions = _by_position(lowering, queries, attributes)
    relation: rel.Relation = rel.SetOp(
        node.key,
        tuple(attributes),
        tuple(rel.Branch(query.rows, tuple(ids)) for query, ids in zip(queries, positions)),
        _compares_rows(node),
    )
    scope.items.append(Named(("",), DerivedItem(columns)))
    relation = _order(lowering, node.args.get("order"), relation, scope, columns)
    below = tuple(query.item for query in queries if query.below)
    return Query(rel.With(ctes, relation) if ctes else relation, columns, below, merged=bool(below))


def _branches(node: Node) -> list[Node]:
    """The branches of a chain of set operations, left to right. The parser nests a long UNION to the left."""
    branches: list[Node] = []
    top = node
    while _is_link(node, top):
        branches.append(node.expression)
        node = node.this
    branches.append(node)
    branches.reverse()
    return branches


def _compares_rows(node: Node) -> bool:
    """Return whether a set operation of the chain that `_branches` flattens compares rows: any but UNION ALL."""
    top = node
    while _is_link(node, top):
        if node.args.get("distinct") or not isinstance(node, exp.Union):
            return True
        node = node.this
    return False


def _is_link(node: Node, top: Node) -> bool:
    """Return whether a node belongs to the chain of set operations below `top`; EXCEPT stands in no other's chain."""
    if node is top or not isinstance(node, exp.SetOperation):
        return node is top
    plain = not any(node.args.get(each) for each in ("with_", "by_name", "order", "limit"))
    return plain and isinstance(node, exp.Except) == isinstance(top, exp.Except)


def _register_recursive(
    lowering: Lowering, first: Query, scope: Scope, recursive_as: _RecursiveAs
) -> list[rel.Attribute]:
    """Make the CTE visible to its own recursive branches, with the columns of its first branch."""
    id, key, names = recursive_as
    columns = renamed(first.columns, names)
    attributes = [rel.Attribute(lowering.new_id(), column.name) for column in columns]
    own = [
        ItemColumn(column.name, column.key, rel.Ref(attribute.id)) for column, attribute in zip(columns, attributes)
    ]
    scope.ctes[key] = state.CteInScope(id, DerivedItem(own, first.below))
    return attributes


def _by_position(
    lowering: Lowering, queries: list[Query], attributes: list[rel.Attribute]
) -> tuple[list[ItemColumn], list[rel.Attribute], list[list[int | None]]]:
    names = queries[0].columns
    attributes = attributes or [rel.Attribute(lowering.new_id(), column.name) for column in names]
    positions: list[list[int | None]] = []
    for query in queries:
        ids = [query.output_id(lowering, at) for at in range(len(query.columns))]
        wild = next((at for at, column in enumerate(query.columns) if column.is_wildcard), None)
        if wild is not None:  # where the columns of a star end is not known: from there on, any may be meant
            ids = ids[:wild] + [ids[wild]] * max(0, len(attributes) - wild)
        positions.append((ids + [None] * len(attributes))[: len(attributes)])
    columns = [
        ItemColumn(column.name, column.key, rel.Ref(attribute.id), column.span, column.type)
        for column, attribute in zip(names, attributes)
    ]
    return columns, attributes, positions


def _by_name(
    lowering: Lowering, queries: list[Query], *, common: bool
) -> tuple[list[ItemColumn], list[rel.Attribute], list[list[int | None]]]:
    seen: dict[str, ItemColumn] = {}
    for query in queries:
        for column in query.columns:
            seen.setdefault(column.key, column)
    if common:  # CORRESPONDING: only the columns that every branch has
        shared = set.intersection(*({column.key for column in query.columns} for query in queries))
        seen = {key: column for key, column in seen.items() if key in shared}
    attributes = [rel.Attribute(lowering.new_id(), column.name) for column in seen.values()]
    columns = [
        ItemColumn(column.name, column.key, rel.Ref(attribute.id), column.span, column.type)
        for column, attribute in zip(seen.values(), attributes)
    ]
    positions: list[list[int | None]] = []
    for query in queries:
        by_key = {column.key: at for at, column in enumerate(query.columns)}
        positions.append([query.output_id(lowering, by_key[key]) if key in by_key else None for key in seen])
    return columns, attributes, positions


# ---------------------------------------------------------------------------------------------------- the rest


@builds(exp.Subquery, exp.Paren)
def build_subquery(lowering: Lowering, node: Node, outer: Scope | None) -> Query:
    scope = Scope(outer)
    ctes = build_ctes(lowering, node.args.get("with_"), scope)
    query = lowering.query(node.this, scope)
    relation = query.relation
    if node.args.get("order") is not None:
        scope.items.append(Named(("",), query.item))
        relation = _order(lowering, node.args["order"], relation, scope, query.columns)
    query.relation = rel.With(ctes, relation) if ctes else relation
    return query


@builds(exp.Values)
def build_values(lowering: Lowering, node: Node, outer: Scope | None) -> Query:
    scope = outer or Scope()
    rows = tuple(
        tuple(lowering.expression(each, scope) for each in (row.expressions if isinstance(row, exp.Tuple) else [row]))
        for row in node.expressions
    )
    width = max((len(row) for row in rows), default=0)
    attributes = tuple(rel.Attribute(lowering.new_id(), f"column{at + 1}") for at in range(width))
    columns = [ItemColumn(each.name, lowering.key_of(each.name), rel.Ref(each.id)) for each in attributes]
    names = alias_names(lowering, node.args.get("alias"))
    return Query(rel.Values(attributes, rows), renamed(columns, names))


@builds(exp.Table)
def build_table(lowering: Lowering, node: Node, outer: Scope | None) -> Query:
    """`TABLE t`, and a table where a query could stand."""
    scope = Scope(outer)
    relation = from_clause(lowering, exp.Select(from_=exp.From(this=node)), scope)
    columns = [column for named in scope.items for column in named.item.star()]
    return Query(relation, columns, tuple(named.item for named in scope.items if named.item.is_open))


@builds(exp.Expr)
def build_anything(lowering: Lowering, node: Node, outer: Scope | None) -> Query:
    """Return what is not a query gives one column."""
    expression = lowering.expression(node, outer or Scope())
    column = rel.Computed(rel.Attribute(lowering.new_id(), "value"), expression)
    relation = rel.Project(rel.Values((), ()), (column,))
    return Query(relation, [ItemColumn("value", "value", rel.Ref(column.attribute.id))])
