"""T-SQL's OUTPUT … INTO: the rows that a statement has changed, written into another table."""

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from headwater.model.names import TableName
from headwater.model.relation import Assignment, OneOf, Write
from headwater.sql.items import DerivedItem, ItemColumn, Named, StoredItem
from headwater.sql.lowering import Lowering, Node, Scope
from headwater.sql.selection import lower_select_list
from headwater.sql.tokens import read_name
from headwater.sql.writes import assign


def output_writes(
    lowering: Lowering, node: Node, write: Write, *, target: StoredItem, scope: Scope
) -> tuple[Write, ...]:
    """The write of a statement, with that of its OUTPUT … INTO.
    `deleted` is the row as it was; `inserted` has the values that were assigned, and is otherwise as it was."""
    returning = node.args.get("returning")
    found = _into(lowering.tokens) if returning is not None and returning.args.get("into") is not None else None
    if found is None:
        return (write,)
    parts, listed = found
    given: dict[str, list[Assignment]] = {}
    for each in write.assignments:
        given.setdefault(lowering.key_of(each.column), []).append(each)
    columns = [
        ItemColumn(made[0].column, key, OneOf(tuple(each.expression for each in made))) for key, made in given.items()
    ]
    below = () if isinstance(node, exp.Insert) else (target,)
    changed = Scope(outer=scope)
    changed.items += [
        Named((lowering.key_of("inserted"),), DerivedItem(columns, below), shown="inserted"),
        Named((lowering.key_of("deleted"),), target, shown="deleted"),
    ]
    selected = lower_select_list(lowering, returning, changed)
    values = {made.attribute.id: made.expression for made in selected.computed}
    made = [
        _assigned(name, column, values)
        for name, column in zip(listed or [column.name for column in selected.columns], selected.columns)
    ]
    name = lowering.resolver.resolve(TableName(parts)).name
    relations = (*write.relations, target.scan) if not isinstance(node, exp.Insert) else write.relations
    return (write, Write(write.statement_type, name, tuple(made), relations, write.influences))


def _assigned(name: str, column: ItemColumn, values: dict[int, Any]) -> Assignment:
    made = assign(name, column)
    known = values.get(getattr(column.expression, "column", -1))
    return made if known is None else Assignment(name, known, span=made.span)


def _into(tokens: Sequence[Any]) -> tuple[tuple[str, ...], list[str]] | None:
    """The table after OUTPUT … INTO and the columns that are listed: the parser may take the two for a function."""
    words = [token.text.upper() for token in tokens]
    if "OUTPUT" not in words or "INTO" not in words[words.index("OUTPUT") :]:
        return None
    at = words.index("INTO", words.index("OUTPUT")) + 1
    parts, end = read_name(tokens, at)
    listed: list[str] = []
    if (
        end < len(words)
        and words[end] == "("
        and (end + 1 >= len(words) or words[end + 1] not in ("SELECT", "VALUES"))
    ):
        close = words.index(")", end) if ")" in words[end:] else end
        listed = [token.text for token in tokens[end + 1 : close] if token.text != ","]
    return (tuple(parts), listed) if parts else None
