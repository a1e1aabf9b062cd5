"""UPDATE and DELETE of a query, named (T-SQL) or in brackets (Oracle): they change the tables below it."""

from sqlglot import exp

from headwater.lineage.script import Lowered
from headwater.model.edges import Kind
from headwater.model.relation import Assignment, Cte, CteRef, Influence, OneOf, Ref, Relation, With, Write
from headwater.sql.items import Item, Named, StoredItem
from headwater.sql.lowering import Lowering, Node, Scope
from headwater.sql.tables import add_item


def lower_view_change(
    lowering: Lowering, node: Node, table: Node, *, scope: Scope, ctes: tuple[Cte, ...]
) -> Lowered | None:
    """The statement, if what it changes is a query; None if it is a table."""
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier) or table.args.get("db"):
        return None
    key = lowering.key(table.this)
    cte = scope.cte(key)
    if cte is None:
        return None
    clause = node.args.get("from_")
    relation: Relation = CteRef(cte.id, ())
    if clause is not None:
        relation = add_item(lowering, clause.this, scope, None)
    view = next((named for named in scope.items if named.answers_to((key,))), None)
    if view is None:
        view = Named((key,), cte.item, shown=table.name)
        scope.items.insert(0, view)
    return _changed(lowering, node, view.item, scope=scope, relation=With(ctes, relation) if ctes else relation)


def _changed(lowering: Lowering, node: Node, view: Item, *, scope: Scope, relation: Relation) -> Lowered:
    kind = node.key.upper()
    written: dict[int, tuple[StoredItem, list[Assignment]]] = {}
    for each in node.expressions if isinstance(node, exp.Update) else ():
        if isinstance(each, exp.EQ) and isinstance(each.this, exp.Column):
            identifier = each.this.this
            found = _owner(lowering, view, identifier.name, lowering.key(identifier))
            if found is not None:
                value = lowering.expression(each.expression, scope)
                made = Assignment(found[1], value, target_span=lowering.span(identifier))
                written.setdefault(id(found[0]), (found[0], []))[1].append(made)
    if isinstance(node, exp.Delete):
        owners = [_owner(lowering, view, column.name, column.key) for column in view.star()]
        first = next((owner for owner in owners if owner is not None), None)
        if first is not None:
            written[id(first[0])] = (first[0], [])
    where = node.args.get("where")
    influences: tuple[Influence, ...] = ()
    if where is not None:
        span = lowering.claim(lowering.first_position(where.this))
        influences = (Influence(Kind.FILTER, lowering.expression(where.this, scope), span),)
    writes = [Write(kind, item.table.name, tuple(made), (relation,), influences) for item, made in written.values()]
    return Lowered(kind, tuple(writes))


def _owner(lowering: Lowering, view: Item, name: str, key: str) -> tuple[StoredItem, str] | None:
    """The stored column that a column of a query is."""
    column = view.ask(name, key)
    value = column.expression if column is not None else None
    if isinstance(value, OneOf) and len(value.options) == 1:
        value = value.options[0]
    if not isinstance(value, Ref):
        return None
    for item in lowering.stored:
        stored = item.name_of(value.column)
        if stored is not None:
            return item, stored
    return None
