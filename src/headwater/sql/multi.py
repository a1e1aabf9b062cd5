"""Inserts into several tables from one query: Hive's FROM … INSERT …, Oracle's INSERT ALL."""

from sqlglot import exp

from headwater.lineage.script import Lowered
from headwater.model.edges import Kind
from headwater.model.relation import Influence, Write
from headwater.sql.inserts import insert_write
from headwater.sql.items import Column, Named
from headwater.sql.lowering import Lowering, Node, Query, Scope
from headwater.sql.queries import build_ctes
from headwater.sql.writes import states


@states(exp.MultitableInserts)
def lower_multi_insert(lowering: Lowering, node: Node) -> Lowered:
    scope = Scope()
    build_ctes(lowering, node.args.get("with_"), scope)
    source = node.args["source"]
    if isinstance(node.expressions[0], exp.ConditionalInsert):
        writes = _from_query(lowering, node, source, scope)
    else:
        writes = [_from_table(lowering, insert, source, scope) for insert in node.expressions]
    return Lowered("INSERT", tuple(writes))


def _from_table(lowering: Lowering, insert: Node, source: Node, scope: Scope) -> Write:
    """Each SELECT of Hive's form reads the FROM before it."""
    select = insert.expression.copy()
    select.set("from_", exp.From(this=source.copy()))
    return insert_write(lowering, insert, lowering.query(select, scope), scope)


def _from_query(lowering: Lowering, node: Node, source: Node, scope: Scope) -> list[Write]:
    query = lowering.query(source, scope)
    inside = Scope(outer=scope, items=[Named(("",), query.item, shown="the query")])
    writes = []
    conditions: list[Influence] = []
    for each in node.expressions:
        insert = each.this if isinstance(each, exp.ConditionalInsert) else each
        influences: list[Influence] = []
        condition = each.args.get("expression") if isinstance(each, exp.ConditionalInsert) else None
        if condition is not None:
            influences = [Influence(Kind.FILTER, lowering.expression(condition, inside))]
            conditions += influences
        elif each.args.get("else_"):
            influences = conditions  # what no condition before it has taken
        given = Query(query.relation, _values(lowering, insert, query, inside))
        writes.append(insert_write(lowering, insert, given, inside, influences))
    return writes


def _values(lowering: Lowering, insert: Node, query: Query, scope: Scope) -> list[Column]:
    """The values of INTO … VALUES (…), or the whole row."""
    values = insert.expression
    if values is None:
        return query.columns
    row = values.expressions[0]
    items = row.expressions if isinstance(row, exp.Tuple) else [row]
    return [
        Column(each.output_name or f"_col_{at}", lowering.key_of(each.output_name), lowering.expression(each, scope))
        for at, each in enumerate(items)
    ]
