"""UPDATE and DELETE, of tables and of queries."""

from collections.abc import Sequence

from sqlglot import exp

from headwater.errors import IssueCode
from headwater.lineage.script import Lowered
from headwater.model.edges import ELEMENT, Kind
from headwater.model.relation import (
    Assignment,
    Cte,
    CteRef,
    Expression,
    Influence,
    OneOf,
    Ref,
    Relation,
    Subquery,
    SubqueryKind,
    Values,
    With,
    Write,
)
from headwater.sql.dialects import MICROSOFT
from headwater.sql.items import Item, Named, StoredItem
from headwater.sql.lowering import Lowering, Node, Scope
from headwater.sql.output_into import output_writes
from headwater.sql.queries import build_ctes
from headwater.sql.tables import add_item, add_join, open_table
from headwater.sql.writes import states
from headwater.text import Span


@states(exp.Update)
def lower_update(lowering: Lowering, node: Node) -> Lowered:
    scope = Scope()
    ctes = build_ctes(lowering, node.args.get("with_"), scope)
    changed = lower_view_change(lowering, node, node.this, scope=scope, ctes=ctes)
    if changed is not None:
        return changed
    target, relation = _target_and_from(lowering, node, node.this, scope)
    written: dict[int, tuple[StoredItem, list[Assignment]]] = {id(target): (target, [])}
    for each in node.expressions:
        left = each.this if isinstance(each, exp.EQ) else None
        table = left.args.get("table") if isinstance(left, exp.Column) else None  # MySQL can update several at once
        item = (_item_called(scope, (lowering.key(table),)) if table is not None else None) or target
        made = set_assignments(lowering, each, item, scope)
        written.setdefault(id(item), (item, []))[1].extend(made)
    influences = _where(lowering, node.args.get("where"), scope)
    writes = [
        _write("UPDATE", item, tuple(made), relation=_read(item, target, ctes, relation), influences=influences)
        for item, made in written.values()
        if made
    ]
    if writes:
        writes = [*output_writes(lowering, node, writes[0], target=target, scope=scope), *writes[1:]]
    return Lowered("UPDATE", tuple(writes))


def _read(
    written: StoredItem, first: StoredItem, ctes: tuple[Cte, ...], relation: Relation | None
) -> tuple[Relation, ...]:
    """Return what is read beside the table that is written; when that is not the first table, the first is, too."""
    others = () if written is first else (first.scan,)
    if ctes:
        return (With(ctes, relation if relation is not None else Values((), ())), *others)
    return others if relation is None else (relation, *others)


def _write(
    statement_type: str,
    target: StoredItem,
    assignments: tuple[Assignment, ...],
    *,
    relation: tuple[Relation, ...],
    influences: Sequence[Influence],
) -> Write:
    scan = target.scan
    return Write(
        statement_type,
        target.table.name,
        assignments,
        relation,
        tuple(influences),
        target_scan=scan,
        target_span=scan.span,
    )


def set_assignments(lowering: Lowering, node: Node, target: StoredItem, scope: Scope) -> list[Assignment]:
    """`SET a = x`, `SET s.f = x`, `SET (a, b) = (SELECT x, y …)`."""
    if not isinstance(node, exp.EQ):
        return []
    left, right = node.this, node.expression
    if isinstance(left, exp.Tuple | exp.Paren):
        return _set_several(lowering, left, right, target=target, scope=scope)
    column, path, span = _set_target(lowering, left, target, scope)
    lowering.leftmost = None
    placed = isinstance(left, exp.Column) and isinstance(left.this, exp.Expr) and left.this._meta
    claimed = lowering.claim(placed.get("start")) if placed else None
    expression = lowering.expression(right, scope)
    value_span = _right_side(lowering, claimed) or (expression.span if isinstance(expression, Ref) else None)
    return [Assignment(column, expression, path, value_span, span)]


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
        ids = [query.output_id(lowering, at) for at in range(len(query.columns))]
        rows = query.rows
        values = [Subquery(SubqueryKind.SCALAR, rows, id) for id in ids]
    else:
        is_row = isinstance(inner, exp.Tuple | exp.Struct) or inner.name.upper() == "ROW"
        items = inner.expressions if is_row else [inner]
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
        parts.insert(0, node.expression if isinstance(node, exp.Dot) else exp.Var(this=ELEMENT))
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
) -> tuple[StoredItem, Relation | None]:
    """The target and what stands beside it."""
    clause = node.args.get("from_")
    relation: Relation | None = None
    target: StoredItem | None = None
    if clause is not None:
        relation = add_item(lowering, clause.this, scope, None)
        target = _target_in_from(lowering, table, scope)
    if target is None:
        target = open_target(lowering, table, scope)
    for each in (*(table.args.get("joins") or ()), *(node.args.get("joins") or ())):
        relation = add_join(lowering, each, scope, relation)
    for each in others:
        relation = add_item(lowering, each, scope, relation)
    return target, relation


def _target_in_from(lowering: Lowering, table: Node, scope: Scope) -> StoredItem | None:
    """The item of FROM that is the target: by its alias or its name, or the only one of that table (T-SQL)."""
    if not isinstance(table.this, exp.Identifier):
        return None
    found = _item_called(scope, lowering.table_keys(table))
    if found is None and lowering.dialect in MICROSOFT and table.args.get("alias") is None:
        known = lowering.resolver.resolve(lowering.table_name(table)[0]).name
        stored = [item for named in scope.items if isinstance(item := named.item, StoredItem)]
        same = [item for item in stored if item.table.name == known]
        found = same[0] if len(same) == 1 else None
    return found


def open_target(lowering: Lowering, table: Node, scope: Scope) -> StoredItem:
    """The table that is changed, as the first item of the scope, under its alias or its name."""
    target = open_table(lowering, table)
    alias = table.args.get("alias")
    is_aliased = alias is not None and alias.this is not None
    names = (lowering.key(alias.this),) if is_aliased else lowering.table_keys(table)
    scope.items.insert(0, Named(names, target, shown=str(target.table.name)))
    return target


def _item_called(scope: Scope, keys: tuple[str, ...]) -> StoredItem | None:
    for named in scope.items:
        if named.answers_to(keys) and isinstance(named.item, StoredItem):
            return named.item
    return None


# ---------------------------------------------------------------------------------------------------- DELETE


@states(exp.Delete)
def lower_delete(lowering: Lowering, node: Node) -> Lowered:
    scope = Scope()
    ctes = build_ctes(lowering, node.args.get("with_"), scope)
    named: list[Node] = list(node.args.get("tables") or [])
    table = node.this if isinstance(node.this, exp.Expr) else named[0]
    changed = lower_view_change(lowering, node, table, scope=scope, ctes=ctes)
    if changed is not None:
        return changed
    target, relation = _target_and_from(lowering, node, table, scope, node.args.get("using") or ())
    influences = _where(lowering, node.args.get("where"), scope)
    targets = [_item_called(scope, (lowering.key(each.this),)) or target for each in named] or [target]
    writes = [
        _write("DELETE", each, (), relation=_read(each, target, ctes, relation), influences=influences)
        for each in {id(item): item for item in targets}.values()
    ]
    return Lowered("DELETE", (*output_writes(lowering, node, writes[0], target=target, scope=scope), *writes[1:]))


# ------------------------------------------------------------------------------------ UPDATE and DELETE of a query


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
    influences = tuple(_where(lowering, node.args.get("where"), scope))
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
