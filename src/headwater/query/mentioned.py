"""The columns that a query can read of its tables, by its text, and whether it reads more than the first rows."""

from sqlglot import exp

from headwater.query.names import TableRef
from headwater.query.parse import Node

_ALL_COLUMNS = (exp.Columns, exp.Pivot, exp.Summarize, exp.Describe, exp.PositionalColumn)
_NEEDS_ALL_ROWS = (
    "where",
    "group",
    "having",
    "order",
    "distinct",
    "windows",
    "qualify",
    "joins",
    "laterals",
    "sample",
)


def mentioned_names(tree: Node, refs: list[TableRef]) -> frozenset[str] | None:
    """Every name in a query, folded: columns that are not among them are not read. None if any column may be."""
    if any(ref.renames_columns for ref in refs):
        return None
    tables = {ref.alias.casefold() for ref in refs}
    for node in tree.walk():
        if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
            return None
        if isinstance(node, _ALL_COLUMNS) or (isinstance(node, exp.Join) and node.args.get("method")):
            return None
        if isinstance(node, exp.With) and node.args.get("recursive"):  # DuckDB then reads more than it needs
            return None
        if isinstance(node, exp.Column) and node.name.casefold() in tables:  # a whole row as a value
            return None
    return frozenset(node.name.casefold() for node in tree.find_all(exp.Identifier))


def takes_first_rows(ref: TableRef) -> bool:
    """Return whether a query takes the first rows of a table and leaves the others: LIMIT and nothing else."""
    select = ref.node.parent.parent if isinstance(ref.node.parent, exp.From) else None
    if not isinstance(select, exp.Select) or select.args.get("limit") is None:
        return False
    return not any(select.args.get(part) for part in _NEEDS_ALL_ROWS) and not any(
        isinstance(node, exp.AggFunc | exp.Window | exp.Anonymous) for node in select.walk()
    )
