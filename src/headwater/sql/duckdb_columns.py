"""DuckDB's COLUMNS(…) in a select list: an expression once for each column that a pattern means."""

import re
from collections.abc import Callable

from sqlglot import exp

from headwater.errors import IssueCode
from headwater.sql.items import ItemColumn
from headwater.sql.lowering import Lowering, Node, Scope


def columns_call(item: Node) -> Node | None:
    """The COLUMNS(…) of a select item, if it has one."""
    if (
        isinstance(item, exp.Alias)
        and isinstance(item.this, exp.Column)
        and isinstance(item.this.this, exp.Identifier)
    ):
        return None  # most items are such: they need no walk
    return item.find(exp.Columns) if isinstance(item, exp.Columns | exp.Func | exp.Alias | exp.Binary) else None


def expand_columns(lowering: Lowering, item: Node, call: Node, scope: Scope) -> list[tuple[str, Node]]:
    """The item for each column that its COLUMNS(…) means, under the name that it gets."""
    wanted = _wanted(lowering, call)
    alias = item.args.get("alias") if isinstance(item, exp.Alias) else None
    value = item.this if alias is not None else item
    found = []
    seen: dict[str, ItemColumn] = dict(scope.merged)
    for each in scope.items:
        for column in each.item.star() if each.listed else ():
            seen.setdefault(column.key, column)
    for column in seen.values():
        if column.is_wildcard or wanted(column.name):
            node = exp.Column(this=exp.Identifier(this=column.name, quoted=True))
            one = value.transform(lambda each, node=node: node.copy() if isinstance(each, exp.Columns) else each)
            found.append((alias.name if alias is not None else column.name, one))
    return found


def _wanted(lowering: Lowering, call: Node) -> Callable[[str], bool]:
    """Return which columns a call means: all, those like a pattern, those in a list; of a lambda, all, and it is
    said."""
    what = call.this
    if isinstance(what, exp.Literal) and what.is_string:
        try:
            pattern = re.compile(what.name)
        except re.error:
            return lambda name: False
        return lambda name: pattern.search(name) is not None
    if isinstance(what, exp.Array):
        names = {lowering.key_of(each.name) for each in what.expressions}
        return lambda name: lowering.key_of(name) in names
    if isinstance(what, exp.Star):
        dropped = {lowering.key_of(each.name) for each in what.args.get("except_") or ()}
        return lambda name: lowering.key_of(name) not in dropped
    lowering.report(
        IssueCode.APPROXIMATE_LINEAGE,
        "COLUMNS takes a function here, which is not evaluated: all columns are taken",
        span=lowering.span(call),
    )
    return lambda name: True
