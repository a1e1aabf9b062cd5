"""PIVOT, UNPIVOT and MATCH_RECOGNIZE: what turns the rows of FROM into others."""

import re

import msgspec
from sqlglot import exp

from headwater.errors import IssueCode
from headwater.model.relation import (
    Aggregate,
    Attribute,
    Call,
    Computed,
    Expression,
    Filter,
    Literal,
    OneOf,
    Project,
    Ref,
    Relation,
    Sort,
    Values,
)
from headwater.sql.items import DerivedItem, ItemColumn, Named, renamed
from headwater.sql.lowering import Lowering, Node, Query, Scope, builds
from headwater.sql.tables import add_item, adds, alias_names, name_item


@adds(exp.Pivot)
def add_pivot(lowering: Lowering, node: Node, scope: Scope, before: Relation | None) -> Relation:
    """Turn the last item in scope, with what is pivoted inside it."""
    named = scope.items.pop()
    inside = Scope(outer=scope.outer, items=[named], ctes=scope.ctes)
    relation, columns = (_unpivot if node.args.get("unpivot") else _pivot)(lowering, node, inside, before)
    columns = renamed(columns, alias_names(lowering, node.args.get("alias")))
    below = (named.item,) if named.item.is_open else ()
    scope.items.append(name_item(lowering, node, DerivedItem(columns, below), named.names, named.shown))
    return relation


def _pivot(
    lowering: Lowering, node: Node, scope: Scope, before: Relation | None
) -> tuple[Relation, list[ItemColumn]]:
    """Each new column aggregates the rows that have its value; the columns not named are the groups."""
    aggregates = [each.this if isinstance(each, exp.Alias) else each for each in node.expressions]
    keys = [field.this for field in node.args.get("fields") or ()]
    used = {lowering.key(each.this) for part in (*aggregates, *keys) for each in part.find_all(exp.Column)}
    condition = Call("=", tuple(lowering.expression(each, scope) for each in keys))
    made: list[Computed] = []
    names = node.args.get("columns") or ()
    for at, name in enumerate(names):
        call = lowering.expression(aggregates[at % len(aggregates)], scope)
        if isinstance(call, Call):
            call = msgspec.structs.replace(call, condition=condition)
        made.append(Computed(Attribute(lowering.new_id(), name.name, lowering.span(name)), call))
    kept = [column for column in scope.items[0].item.star() if column.key not in used]
    group = node.args.get("group")
    if group is not None:
        keys_of_group = {lowering.key_of(each.name) for each in group.expressions}
        kept = [column for column in kept if column.key in keys_of_group]
    groups = [Computed(Attribute(lowering.new_id(), column.name), column.expression) for column in kept]
    columns = kept + [
        ItemColumn(each.attribute.name, lowering.key_of(each.attribute.name), Ref(each.attribute.id)) for each in made
    ]
    return Aggregate(before or Values((), ()), tuple(groups), tuple(made)), columns


def _unpivot(
    lowering: Lowering, node: Node, scope: Scope, before: Relation | None
) -> tuple[Relation, list[ItemColumn]]:
    """The columns named become rows: a column for their names, and one (or several) for their values."""
    sources: list[list[Node]] = []
    labels: list[Node] = []
    for field in node.args.get("fields") or ():
        labels.append(field.this)
        for each in field.expressions:
            inner = each.this if isinstance(each, exp.PivotAlias | exp.Alias) else each
            sources.append(list(inner.expressions) if isinstance(inner, exp.Tuple) else [inner])
    targets = [name for each in node.expressions for name in (each.expressions or [each])]
    used = {lowering.key_of(each.name) for group in sources for each in group}
    made: list[Computed] = []
    for at, target in enumerate(targets):
        options: tuple[Expression, ...] = tuple(
            lowering.expression(group[at], scope) for group in sources if at < len(group)
        )
        made.append(Computed(Attribute(lowering.new_id(), target.name, lowering.span(target)), OneOf(options)))
    named = [Computed(Attribute(lowering.new_id(), label.name), Literal()) for label in labels]
    made = made + named if lowering.dialect in _VALUES_FIRST else named + made
    kept = [column for column in scope.items[0].item.star() if column.key not in used]
    columns = kept + [
        ItemColumn(each.attribute.name, lowering.key_of(each.attribute.name), Ref(each.attribute.id)) for each in made
    ]
    relation: Relation = Project(before or Values((), ()), tuple(made))
    if not node.args.get("include_nulls"):  # a row whose values are all NULL is left out
        for each in made:
            relation = Filter(relation, Ref(each.attribute.id)) if isinstance(each.expression, OneOf) else relation
    return relation, columns


_VALUES_FIRST = frozenset({"bigquery", "tsql", "fabric"})  # elsewhere the names come before the values


@builds(exp.Pivot)
def build_pivot(lowering: Lowering, node: Node, outer: Scope | None) -> Query:
    """The PIVOT and UNPIVOT statements of DuckDB."""
    scope = Scope(outer)
    before = add_item(lowering, node.this, scope, None)
    if node.args.get("unpivot"):
        into = node.args.get("into")
        values = [exp.to_identifier(each.name) for each in into.expressions] if into else [exp.to_identifier("value")]
        label = exp.to_identifier(into.this.name if into is not None and into.this is not None else "name")
        fields = [exp.In(this=label, expressions=list(node.expressions))]
        plain = exp.Pivot(expressions=values, fields=fields, unpivot=True)
    else:
        plain = _plain_pivot(lowering, node)
    relation = add_pivot(lowering, plain, scope, before)
    item = scope.items[0].item
    return Query(relation, item.star(), (item,) if item.is_open else ())


def _plain_pivot(lowering: Lowering, node: Node) -> Node:
    """The same as a PIVOT clause. Without IN the new columns depend on the data: one stands for all of them."""
    fields = [each if isinstance(each, exp.In) else exp.In(this=each, expressions=[]) for each in node.expressions]
    aggregates = node.args.get("using") or [exp.Count(this=exp.Star())]
    values = [value.name for field in fields for value in field.expressions]
    names = [
        value if len(aggregates) == 1 else f"{value}_{each.alias_or_name or each.sql()}"
        for value in values
        for each in aggregates
    ]
    if not names:
        names = ["*"]
        lowering.report(
            IssueCode.APPROXIMATE_LINEAGE, "the columns that PIVOT makes depend on the data", hint="list them with IN"
        )
    columns = [exp.to_identifier(name, quoted=True) for name in names]
    return exp.Pivot(expressions=list(aggregates), fields=fields, columns=columns, group=node.args.get("group"))


# ------------------------------------------------------------------------------------------------- MATCH_RECOGNIZE


def add_match(lowering: Lowering, node: Node, scope: Scope, before: Relation) -> Relation:
    """Put the measures in the place of the last item of FROM, which they are made of.
    The names of the pattern stand for rows of that item. DEFINE decides which rows match, ORDER BY in which order."""
    named = scope.items.pop()
    inside = Scope(outer=scope.outer, items=[named], ctes=scope.ctes)
    symbols = {each.args["alias"].name for each in node.args.get("define") or () if isinstance(each, exp.Alias)}
    symbols |= set(re.findall(r"[A-Za-z_]\w*", node.args["pattern"].name)) if node.args.get("pattern") else set()
    inside.items += [Named((lowering.key_of(symbol),), named.item, listed=False) for symbol in sorted(symbols)]
    own = Scope(outer=scope.outer, items=[named], ctes=scope.ctes)
    relation = before
    order = node.args.get("order")
    if order is not None:
        relation = Sort(relation, tuple(lowering.expression(each, own) for each in order.expressions))
    for each in node.args.get("define") or ():
        relation = Filter(relation, lowering.expression(each.this, _with_symbols(own, inside)))
    made: list[Computed] = []
    for each in node.args.get("measures") or ():
        alias = each.this
        value = lowering.expression(alias.this if isinstance(alias, exp.Alias) else alias, _with_symbols(own, inside))
        made.append(Computed(Attribute(lowering.new_id(), alias.alias_or_name), value))
    kept = [
        ItemColumn(each.name, lowering.key_of(each.name), lowering.expression(each, own))
        for each in node.args.get("partition_by") or ()
        if isinstance(each, exp.Column)
    ]
    kept = named.item.star() if "ALL ROWS" in _rows(node) else kept
    columns = [
        *kept,
        *(ItemColumn(_name(each), lowering.key_of(_name(each)), Ref(each.attribute.id)) for each in made),
    ]
    below = (named.item,) if named.item.is_open and "ALL ROWS" in _rows(node) else ()
    scope.items.append(name_item(lowering, node, DerivedItem(columns, below), named.names, named.shown))
    return Project(relation, tuple(made))


def _with_symbols(own: Scope, inside: Scope) -> Scope:
    """Names without a qualifier are columns of the item; a symbol qualifies only."""
    around = Scope(outer=own.outer, items=inside.items[1:], ctes=own.ctes)
    return Scope(outer=around, items=own.items, ctes=own.ctes)


def _name(column: Computed) -> str:
    return column.attribute.name


def _rows(node: Node) -> str:
    rows = node.args.get("rows")
    return rows.name.upper() if isinstance(rows, exp.Expr) else ""
