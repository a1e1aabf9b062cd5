"""Lineage as trees: what a person wants to read in a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from headwater.lineage.statement import StatementLineage
from headwater.model.edges import Edge, InfluenceClass

_LONGEST = 60  # characters of an expression shown


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
    children = [
        (name, [_edge_line(edge) for edge in edges] or ["(no column)"])
        for name, edges in into.items()
        if edges or name not in written
    ]
    if rows:
        children.append(
            ("rows decided by", [f"{edge.source}  {edge.kind.value}{_doubt(edge.approximate)}" for edge in rows])
        )
    if not children:
        children = [(f"{source.name}  (table)", []) for source in statement.sources]
    yield from _branches(children)


def _title(statement: StatementLineage) -> str:
    target = str(statement.target) if statement.target else "SELECT" if statement.columns else ""
    place = f"{statement.source_name or ''}:{statement.span}" if statement.span else statement.source_name or ""
    kind = statement.statement_type if target != statement.statement_type else ""
    note = "" if statement.status.value == "resolved" else f"[{statement.status.value}]"
    return "  ".join(part for part in (target, kind, place.lstrip(":"), note) if part)


def _edge_line(edge: Edge) -> str:
    parts = [str(edge.source), edge.kind.value]
    if edge.expression and edge.kind.value != "IDENTITY":
        text = " ".join(edge.expression.split())
        parts.append(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
    return "  ".join(parts) + (" (masked)" if edge.masking else "") + _doubt(edge.approximate)


def _doubt(reason: str | None) -> str:
    return f"  ~ {reason}" if reason else ""


def _branches(children: Iterable[tuple[str, list[str]]]) -> Iterator[str]:
    children = list(children)
    for number, (name, leaves) in enumerate(children, 1):
        last = number == len(children)
        yield f"{'└─' if last else '├─'} {name}"
        for place, leaf in enumerate(leaves, 1):
            yield f"{'  ' if last else '│ '} {'└─' if place == len(leaves) else '├─'} {leaf}"
