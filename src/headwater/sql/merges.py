"""MERGE: each WHEN clause writes, ON and WHEN … AND decide which rows."""

import re
from collections.abc import Iterable

from sqlglot import exp

from headwater.lineage.script import Lowered
from headwater.model.edges import Kind
from headwater.model.relation import Assignment, Influence, Ref, With, Write
from headwater.sql.items import Named, StoredItem
from headwater.sql.lowering import Lowering, Node, Scope
from headwater.sql.output_into import output_writes
from headwater.sql.queries import build_ctes
from headwater.sql.tables import add_item
from headwater.sql.updates import open_target, set_assignments
from headwater.sql.writes import states
from headwater.text import Span


@states(exp.Merge)
def lower_merge(lowering: Lowering, node: Node) -> Lowered:
    scope = Scope()
    ctes = build_ctes(lowering, node.args.get("with_"), scope)
    relation = add_item(lowering, node.args["using"], scope, None)
    source = scope.items[0]
    target = open_target(lowering, node.this, scope)
    influences = _conditions(lowering, node, source, scope)
    assignments: list[Assignment] = []
    for when in node.args["whens"].expressions:
        seen = _visible(when, target=scope.items[0], source=source, scope=scope)
        assignments += _written(lowering, when.args.get("then"), target=target, source=source, scope=seen)
    write = Write(
        "MERGE",
        target.table.name,
        tuple(assignments),
        (With(ctes, relation) if ctes else relation,),
        tuple(influences),
        target_scan=target.scan,
        target_span=target.scan.span,
    )
    return Lowered("MERGE", output_writes(lowering, node, write, target=target, scope=scope))


def _visible(when: Node, *, target: Named, source: Named, scope: Scope) -> Scope:
    """Return the columns that a WHEN can name: a row that is missing on one side has none of that side."""
    if when.args.get("matched"):
        return scope
    return Scope(outer=scope.outer, items=[target if when.args.get("source") else source], ctes=scope.ctes)


def _conditions(lowering: Lowering, node: Node, source: Named, scope: Scope) -> list[Influence]:
    conditions = [(node.args.get("on"), scope)]
    for when in node.args["whens"].expressions:
        conditions.append(
            (when.args.get("condition"), _visible(when, target=scope.items[0], source=source, scope=scope))
        )
    result = []
    for condition, seen in conditions:
        if condition is not None:
            span = lowering.claim(lowering.first_position(condition))
            if span is not None and (match := _MATCHED.match(lowering.source.text, span.start, span.end)) is not None:
                span = lowering.source.span(match.end(), span.end)  # WHEN NOT MATCHED AND condition
            result.append(Influence(Kind.MERGE, lowering.expression(condition, seen), span))
    for when in node.args["whens"].expressions:  # Oracle: UPDATE … WHERE, INSERT … WHERE
        then = when.args.get("then")
        where = then.args.get("where") if isinstance(then, exp.Expr) else None
        if where is not None:
            result.append(Influence(Kind.MERGE, lowering.expression(where.this, scope)))
    return result


_MATCHED = re.compile(r"(?:NOT\s+)?MATCHED(?:\s+BY\s+\w+)?\s+AND\s+", re.IGNORECASE)


def _written(
    lowering: Lowering, then: Node, *, target: StoredItem, source: Named, scope: Scope
) -> Iterable[Assignment]:
    if isinstance(then, exp.Update):
        if not then.expressions or isinstance(then.expressions[0], exp.Star):
            return _whole_row(target, source)
        return [made for each in then.expressions for made in set_assignments(lowering, each, target, scope)]
    if isinstance(then, exp.Insert):
        return _inserted(lowering, then, target=target, source=source, scope=scope)
    return ()


def _inserted(
    lowering: Lowering, then: Node, *, target: StoredItem, source: Named, scope: Scope
) -> Iterable[Assignment]:
    values = then.expression
    if isinstance(then.this, exp.Var) and then.this.name.upper() == "ROW" and target.table.complete:
        pairs = zip(target.table.columns, source.item.star())  # INSERT ROW goes by position
        return [Assignment(known.name, column.expression) for known, column in pairs]
    if values is None or not isinstance(values, exp.Tuple):  # INSERT *, INSERT ROW
        return _whole_row(target, source)
    outside = Scope(outer=scope.outer, items=[source], ctes=scope.ctes)
    columns = then.this.expressions if isinstance(then.this, exp.Tuple | exp.Schema) else None
    claimed = [lowering.claim(lowering.first_position(value)) for value in values.expressions]
    lowered = [lowering.expression(value, outside) for value in values.expressions]
    names: list[tuple[str, Span | None]] = []
    if not columns:
        names += [(column.name, None) for column in target.table.columns]
    else:
        for each in columns:
            identifier = each.this if isinstance(each, exp.Column) else each
            known = target.ask(identifier.name, lowering.key(identifier))
            names.append((known.name if known is not None else identifier.name, lowering.span(identifier)))
    return [
        Assignment(name, value, span=whole or (value.span if isinstance(value, Ref) else None), target_span=span)
        for (name, span), value, whole in zip(names, lowered, claimed)
    ]


def _whole_row(target: StoredItem, source: Named) -> Iterable[Assignment]:
    """Every column of the source into the target's column of the same name (UPDATE *, INSERT ROW).
    What the target is known not to have is left out, as the engines do."""
    result = []
    for column in source.item.star():
        known = target.ask(column.name, column.key) if not column.is_wildcard else None
        if known is None and target.table.complete and not column.is_wildcard:
            continue
        result.append(Assignment(known.name if known is not None else column.name, column.expression))
    return result
