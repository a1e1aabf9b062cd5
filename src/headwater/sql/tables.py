"""The FROM clause: tables, joins, subqueries; what generates rows is in `generators`."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from sqlglot import exp

from headwater.errors import IssueCode
from headwater.lineage.known_table import KnownTable
from headwater.model import relation as rel
from headwater.model.names import TableName
from headwater.sql.dialects import MYSQL
from headwater.sql.external import external_source
from headwater.sql.items import DerivedItem, Item, ItemColumn, Named, OpaqueItem, StoredItem, renamed
from headwater.sql.lowering import Lowering, Node, Query, Scope
from headwater.text import Span

_AddItem: TypeAlias = Callable[[Lowering, Node, Scope, rel.Relation | None], rel.Relation]
_ITEMS: dict[type, _AddItem] = {}


def adds(*types: type) -> Callable[[_AddItem], _AddItem]:
    """Register a function that adds a FROM item of these types to the scope.
    It gets the relation so far, which it may refer to (LATERAL) and then must contain, and returns the new one."""

    def register(function: _AddItem) -> _AddItem:
        _ITEMS.update((type, function) for type in types)
        return function

    return register


def from_clause(lowering: Lowering, node: Node, scope: Scope) -> rel.Relation:
    """Lower FROM, joins and lateral views; their items become visible in the scope."""
    args = node.args
    clause = args.get("from_")
    relation: rel.Relation | None = None
    if clause is not None:
        relation = add_item(lowering, clause.this, scope, None)
    for join in args.get("joins") or ():
        relation = add_join(lowering, join, scope, relation)
    for lateral in args.get("laterals") or ():
        relation = add_item(lowering, lateral, scope, relation)
    return relation if relation is not None else rel.Values((), ())


def add_item(lowering: Lowering, node: Node, scope: Scope, before: rel.Relation | None) -> rel.Relation:
    """Add one FROM item, with the joins and pivots that hang on it."""
    add = _ITEMS.get(type(node)) or add_opaque
    relation = add(lowering, node, scope, before)
    pivots = node.args.get("pivots")
    if pivots:
        for pivot in pivots:
            relation = _ITEMS[exp.Pivot](lowering, pivot, scope, relation)
    for join in node.args.get("joins") or ():
        relation = add_join(lowering, join, scope, relation)
    for lateral in node.args.get("laterals") or ():
        relation = add_item(lowering, lateral, scope, relation)
    return relation


def beside(before: rel.Relation | None, relation: rel.Relation) -> rel.Relation:
    """A relation next to those before it, without a condition."""
    return relation if before is None else rel.Join(before, relation)


def name_item(lowering: Lowering, node: Node, item: Item, names: tuple[str, ...], shown: str) -> Named:
    """An item under its alias, or under its own name when it has none."""
    alias = node.args.get("alias")
    if alias is not None and alias.this is not None:
        return Named((lowering.key(alias.this),), item, shown=alias.name)
    return Named(names, item, shown=shown)


def alias_names(lowering: Lowering, alias: Node | None) -> list[tuple[str, str, Span | None]]:
    """The column names of an alias: `AS t (a, b)`."""
    if not isinstance(alias, exp.TableAlias):
        return []
    names = [each.this if isinstance(each, exp.ColumnDef) else each for each in alias.args.get("columns") or ()]
    return [(each.name, lowering.key(each), lowering.span(each)) for each in names]


# ---------------------------------------------------------------------------------------------------- tables


_WITH_DUAL = MYSQL | {"oracle", "snowflake", "exasol", "dremio"}


@adds(exp.Table)
def add_table(lowering: Lowering, node: Node, scope: Scope, before: rel.Relation | None) -> rel.Relation:
    this = node.this
    if isinstance(this, exp.Func) and not isinstance(this, exp.Identifier | exp.DynamicIdentifier):
        return _ITEMS[exp.Func](lowering, node, scope, before)
    name, _ = lowering.table_name(node)
    if len(name.parts) == 1 and isinstance(this, exp.Identifier):
        cte = scope.cte(lowering.key(this))
        if cte is not None:
            item = _with_names(lowering, node, cte.item)
            scope.items.append(name_item(lowering, node, item, (lowering.key(this),), this.name))
            return beside(before, rel.CteRef(cte.id, ()))
    if lowering.dialect in _WITH_DUAL and name.name.upper() == "DUAL":  # one row, which no one has written
        column = ItemColumn("DUMMY", lowering.key_of("DUMMY"), rel.Literal())
        scope.items.append(
            name_item(lowering, node, DerivedItem([column], ()), (lowering.key_of(name.name),), "DUAL")
        )
        return beside(before, rel.Values((), ()))
    stored = open_table(lowering, node)
    item = _with_names(lowering, node, stored)
    scope.items.append(name_item(lowering, node, item, lowering.table_keys(node), str(stored.table.name)))
    return beside(before, stored.scan)


def open_table(lowering: Lowering, node: Node, *, report: bool = True) -> StoredItem:
    """The stored table that a name means here; one that is not known is reported."""
    name, quoted = lowering.table_name(node)
    known = lowering.resolver.resolve(name, quoted=quoted)
    span = lowering.table_span(node)
    is_stage = name.name.startswith("@")  # files, of which nobody expects a schema
    if report and known.resolution is rel.Resolution.UNKNOWN and not is_stage:
        lowering.add_issue(lowering.resolver.unknown_table(known, span))
    return store(lowering, known, span)


def store(lowering: Lowering, table: KnownTable, span: Span | None) -> StoredItem:
    """A stored table as an item of this statement."""
    case = lowering.resolver.case.columns
    item = StoredItem(table, case, new_id=lowering.new_id, types=lowering.types, span=span)
    lowering.stored.append(item)
    return item


def _with_names(lowering: Lowering, node: Node, item: Item) -> Item:
    names = alias_names(lowering, node.args.get("alias"))
    below = item.below if isinstance(item, DerivedItem) else (item,) if item.is_open else ()
    return DerivedItem(renamed(item.star(), names), below) if names else item


@adds(exp.Subquery, exp.Paren, exp.Values, exp.SetOperation, exp.Select)
def add_subquery(lowering: Lowering, node: Node, scope: Scope, before: rel.Relation | None) -> rel.Relation:
    inner = node.this
    if isinstance(node, exp.Subquery | exp.Paren) and _is_join(inner):
        alias = node.args.get("alias")
        if alias is not None and isinstance(inner, exp.Table) and not inner.args.get("joins") and not inner.alias:
            inner, alias = inner.copy(), None  # (a) AS x
            inner.set("alias", node.args["alias"])
        if alias is None:
            return beside(before, add_item(lowering, inner, scope, None))  # (a JOIN b ON …)
        node = exp.Subquery(this=exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner)), alias=alias)
    around = Scope(outer=scope.outer, ctes=scope.ctes, aliases={})
    return _add_query(lowering, node, lowering.query(node, around), scope, before)


def _add_query(
    lowering: Lowering, node: Node, query: Query, scope: Scope, before: rel.Relation | None
) -> rel.Relation:
    names = alias_names(lowering, node.args.get("alias"))
    item = query.item if not names else type(query.item)(renamed(query.columns, names), query.below)
    scope.items.append(name_item(lowering, node, item, (), "the subquery"))
    return beside(before, query.relation)


def _is_join(node: Node) -> bool:
    """Return whether what stands in brackets, however many there are, is an item of FROM with its joins."""
    while isinstance(node, exp.Subquery | exp.Paren):
        if node.args.get("alias") is not None or node.args.get("joins"):
            return True
        node = node.this
    return isinstance(node, exp.Table | exp.Join)


def add_opaque(
    lowering: Lowering,
    node: Node,
    scope: Scope,
    before: rel.Relation | None,
    *,
    columns: Sequence[tuple[str, str, Span | None]] = (),
) -> rel.Relation:
    """A table function whose body is not known: every column depends on all arguments. `columns` are its own."""
    function = node.this if isinstance(node, exp.Table | exp.Lateral | exp.TableFromRows) else node
    if isinstance(function, exp.Anonymous) and function.name.upper() == "TABLE" and function.expressions:
        function = function.expressions[0]
    keys: list[Node] = []
    place = [part.name for part in (node.args.get("catalog"), node.args.get("db")) if part]  # of its name
    while isinstance(function, exp.Dot | exp.Window):  # package.function, function(…) OVER (PARTITION BY …)
        keys += function.args.get("partition_by") or ()
        place += [function.this.name] if isinstance(function, exp.Dot) else []
        function = function.expression if isinstance(function, exp.Dot) else function.this
    external = external_source(lowering, function)
    if external is not None and external[1] is not None:
        with lowering.placeless():
            query = lowering.query(external[1], Scope(outer=None, ctes={}, aliases={}))
        return _add_query(lowering, node, query, scope, before)
    name = function.name.lower() if isinstance(function, exp.Anonymous) else function.key
    args = tuple(lowering.expression(each, scope) for each in (*_given(function), *keys))
    names = alias_names(lowering, node.args.get("alias"))
    names += columns[len(names) :]
    wild = rel.Attribute(lowering.new_id(), "*")
    attributes = [rel.Attribute(lowering.new_id(), given, span) for given, _, span in names]
    made = [ItemColumn(each.name, key, rel.Ref(each.id), span) for each, (_, key, span) in zip(attributes, names)]
    item = DerivedItem(made) if made else OpaqueItem(rel.Ref(wild.id))
    scope.items.append(name_item(lowering, node, item, (lowering.key_of(name),), name))
    lowering.report(
        IssueCode.APPROXIMATE_LINEAGE,
        f"the table function `{name}` cannot be seen through: its columns depend on all its arguments",
        span=lowering.span(function),
    )
    if external is None and args:
        return beside(before, rel.TableFunction(name, (*attributes, wild), args))
    source = TableName((*place, name)) if external is None else external[0]  # it has its rows from somewhere else
    doubt = f"what `{name}` gives is not known"
    return beside(before, rel.Scan(source, (*attributes, wild), lowering.span(function), approximate=doubt))


def _given(function: Node) -> Iterator[Node]:
    """The arguments of a table function; a table among them stands for its rows, but the first of them is a model."""
    for name, value in function.args.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, exp.Table):
                if name != "this":
                    yield exp.Subquery(this=exp.Select(expressions=[exp.Star()], from_=exp.From(this=each)))
            elif isinstance(each, exp.Expr):
                yield each


# ----------------------------------------------------------------------------------------------------- joins


def add_join(lowering: Lowering, node: Node, scope: Scope, left: rel.Relation | None) -> rel.Relation:
    """Add the right side of a join and its condition."""
    args = node.args
    kind, side, method = (str(args.get(each) or "").upper() for each in ("kind", "side", "method"))
    if kind == "ARRAY":
        return _ITEMS[exp.Join](lowering, node, scope, left)
    first = len(scope.items)
    whole = add_item(lowering, node.this, scope, left)
    hidden = kind in ("SEMI", "ANTI") and lowering.dialect != "clickhouse"
    using = args.get("using")
    merged: list[rel.Computed] = []
    condition: rel.Expression | None = None
    span: Span | None = None
    if using or method == "NATURAL":
        left_keys = {each.key for named in scope.items[:first] for each in named.item.star() if not each.is_wildcard}
        both = (each for named in scope.items[first:] for each in named.item.star() if each.key in left_keys)
        names = using or [exp.to_identifier(each.name) for each in both]
        condition, merged = _merge(lowering, names, scope=scope, first=first, side=side)
        span = lowering.cover(*using) if using else None
    elif args.get("on") is not None:
        span = lowering.claim(lowering.first_position(args["on"]))
        condition = lowering.expression(args["on"], scope)
    match = args.get("match_condition")
    if match is not None:
        extra = lowering.expression(match, scope)
        condition = extra if condition is None else rel.Call("and", (condition, extra))
    if hidden:  # only the condition sees the right side of a semi-join
        del scope.items[first:]
    if isinstance(whole, rel.Join) and left is not None and whole.left is left and whole.condition is None:
        return rel.Join(left, whole.right, condition, tuple(merged), span)
    if condition is None and not merged:
        return whole
    return rel.Join(whole, rel.Values((), ()), condition, tuple(merged), span)


def _merge(
    lowering: Lowering, names: Sequence[Node], *, scope: Scope, first: int, side: str
) -> tuple[rel.Expression | None, list[rel.Computed]]:
    """The columns that USING makes of two: the left one, but the right of a RIGHT JOIN and either of a FULL JOIN."""
    compared: list[rel.Expression] = []
    merged: list[rel.Computed] = []
    for name in names:
        identifier = name.this if isinstance(name, exp.Column) else name
        key, span = lowering.key(identifier), lowering.span(identifier)
        left = scope.merged.get(key) or _find(scope.items[:first], identifier.name, key)
        right = _find(scope.items[first:], identifier.name, key)
        options = [column for column in (left, right) if column is not None]
        compared += [_at(column.expression, span) for column in options]
        chosen = {"RIGHT": right, "FULL": None}.get(side, left) or (options[0] if len(options) == 1 else None)
        if not options:
            continue
        value: rel.Expression = rel.Call("coalesce", tuple(_at(column.expression, span) for column in options))
        if chosen is not None:
            value = chosen.expression
        computed = rel.Computed(rel.Attribute(lowering.new_id(), identifier.name), value)
        merged.append(computed)
        scope.merged[key] = ItemColumn(identifier.name, key, rel.Ref(computed.attribute.id))
    return (rel.Call("=", tuple(compared)) if compared else None), merged


def _at(expression: rel.Expression, span: Span | None) -> rel.Expression:
    return (
        rel.Ref(expression.column, span)
        if isinstance(expression, rel.Ref) and expression.span is None
        else expression
    )


def _find(items: Sequence[Named], name: str, key: str) -> ItemColumn | None:
    for named in items:
        column = named.item.find(key)
        if column is not None:
            return column
    for named in items:
        if named.item.is_open:
            return named.item.ask(name, key)
    return None
