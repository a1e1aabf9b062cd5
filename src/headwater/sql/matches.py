"""MATCH_RECOGNIZE: rows in order that fit a pattern become one row of measures."""

import re

from sqlglot import exp

from headwater.model.relation import Attribute, Computed, Filter, Project, Ref, Relation, Sort
from headwater.sql.items import Column, DerivedItem, Named
from headwater.sql.lowering import Lowering, Node, Scope
from headwater.sql.tables import name_item


def add_match(lowering: Lowering, node: Node, scope: Scope, before: Relation) -> Relation:
    """Put the measures in the place of the last item of FROM, which they are made of.

    The names of the pattern stand for rows of that item. DEFINE decides which rows match, ORDER BY in which order.
    """
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
    kept = named.item.star() if "ALL ROWS" in _rows(node) else _partition(lowering, node, own)
    columns = [*kept, *(Column(_name(each), lowering.key_of(_name(each)), Ref(each.attribute.id)) for each in made)]
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


def _partition(lowering: Lowering, node: Node, scope: Scope) -> list[Column]:
    """The columns that PARTITION BY names, which a match keeps."""
    return [
        Column(each.name, lowering.key_of(each.name), lowering.expression(each, scope))
        for each in node.args.get("partition_by") or ()
        if isinstance(each, exp.Column)
    ]
