"""Lineage as trees: what a person wants to read in a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from headwater.lineage.statement import StatementLineage
from headwater.model.edges import Edge, InfluenceClass, Kind

_LONGEST = 70  # characters of an expression shown


def column_tree(statements: Sequence[StatementLineage]) -> str:
    """Each statement with its output columns, and beneath each column where it comes from."""
    return "\n\n".join("\n".join(_statement_lines(statement)) for statement in statements)


def table_tree(statements: Sequence[StatementLineage]) -> str:
    """Each statement with the tables it reads."""
    blocks = []
    for statement in statements:
        names = [f"{source.name}{_doubt(source.approximate)}" for source in statement.sources]
        blocks.append("\n".join([_title(statement), *_branches([(name, []) for name in names])]))
    return "\n\n".join(blocks)


def _statement_lines(statement: StatementLineage) -> Iterator[str]:
    yield _title(statement)
    into: dict[str, list[Edge]] = {column.name: [] for column in statement.columns}
    rows: list[Edge] = []
    for edge in statement.edges:
        if edge.target.column is None and edge.kind.influence is InfluenceClass.ROW:
            rows.append(edge)
        else:
            into.setdefault(edge.target.name, []).append(edge)
    written = {name.split(".")[0].split("[")[0] for name, edges in into.items() if edges}
    children = [_column(name, edges) for name, edges in into.items() if edges or name not in written]
    if rows:
        children.append(
            ("rows decided by", [f"{edge.source}  {edge.kind.value}{_doubt(edge.approximate)}" for edge in rows])
        )
    if not children:
        children = [(f"{source.name}  (table)", []) for source in statement.sources]
    yield from _branches(children)


def _title(statement: StatementLineage) -> str:
    place = f"{statement.source_name or ''}:{statement.span}" if statement.span else statement.source_name or ""
    note = "" if statement.status.value == "resolved" else f"[{statement.status.value}]"
    parts = (str(statement.target or ""), statement.statement_type, place.lstrip(":"), note)
    return "  ".join(part for part in parts if part)


def _column(name: str, edges: list[Edge]) -> tuple[str, list[str]]:
    """A column and its sources; the expression stands once, with the column, if all sources share it."""
    shared = {edge.expression for edge in edges}
    one = edges[0].expression if len(shared) == 1 and any(edge.kind is not Kind.IDENTITY for edge in edges) else None
    title = f"{name} = {_short(one)}" if one else name
    return title, [_edge_line(edge, None if one else edge.expression) for edge in edges] or ["(no column)"]


def _edge_line(edge: Edge, expression: str | None) -> str:
    parts = [str(edge.source), edge.kind.value]
    if expression and edge.kind is not Kind.IDENTITY:
        parts.append(_short(expression))
    return "  ".join(parts) + (" (masked)" if edge.masking else "") + _doubt(edge.approximate)


def _short(expression: str) -> str:
    text = " ".join(expression.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _doubt(reason: str | None) -> str:
    return f"  ~ {reason}" if reason else ""


def _branches(children: Iterable[tuple[str, list[str]]]) -> Iterator[str]:
    children = list(children)
    for number, (name, leaves) in enumerate(children, 1):
        last = number == len(children)
        yield f"{'└─' if last else '├─'} {name}"
        for place, leaf in enumerate(leaves, 1):
            yield f"{'  ' if last else '│ '} {'└─' if place == len(leaves) else '├─'} {leaf}"
