"""Lineage as diagram source: Mermaid and Graphviz DOT.

Node names never reach the diagram language as identifiers: nodes are numbered, and names are escaped labels.
"""

from collections.abc import Sequence

from headwater.lineage.statement import StatementLineage
from headwater.model.edges import ColumnRef, InfluenceClass
from headwater.model.names import TableName

End = ColumnRef | TableName
Arrow = tuple[End, End, bool]


def mermaid(statements: Sequence[StatementLineage], *, tables_only: bool = False) -> str:
    """A Mermaid flowchart: tables as boxes with their columns inside; what only decides is dashed."""
    arrows = _arrows(statements, tables_only)
    ids = _numbered(arrows)
    lines = ["flowchart LR"]
    for table, columns in _grouped(ids).items():
        label = _mermaid_text(str(table))
        if columns:
            lines.append(f'  subgraph {_id(ids, table)}["{label}"]')
            lines += [f'    {_id(ids, column)}["{_mermaid_text(column.name)}"]' for column in columns]
            lines.append("  end")
        else:
            lines.append(f'  {_id(ids, table)}["{label}"]')
    lines += [
        f"  {_id(ids, source)} {'-->' if direct else '-.->'} {_id(ids, target)}" for source, target, direct in arrows
    ]
    return "\n".join(lines)


def dot(statements: Sequence[StatementLineage], *, tables_only: bool = False) -> str:
    """A Graphviz digraph: tables as clusters of columns; what only decides is dashed."""
    arrows = _arrows(statements, tables_only)
    ids = _numbered(arrows)
    lines = ["digraph lineage {", "  rankdir=LR;", "  node [shape=box, fontname=Helvetica];"]
    for table, columns in _grouped(ids).items():
        label = _dot_text(str(table))
        if columns:
            lines += [f"  subgraph cluster_{_id(ids, table)} {{", f"    label={label};"]
            if table in {end for arrow in arrows for end in arrow[:2]}:
                lines.append(f"    {_id(ids, table)} [label={_dot_text('all rows')}, style=dashed];")
            lines += [f"    {_id(ids, column)} [label={_dot_text(column.name)}];" for column in columns]
            lines.append("  }")
        else:
            lines.append(f"  {_id(ids, table)} [label={label}];")
    lines += [
        f"  {_id(ids, source)} -> {_id(ids, target)}{'' if direct else ' [style=dashed]'};"
        for source, target, direct in arrows
    ]
    return "\n".join([*lines, "}"])


def _arrows(statements: Sequence[StatementLineage], tables_only: bool) -> list[Arrow]:
    """Distinct arrows in order of appearance; one that carries a value is solid even if it also decides."""
    direct: dict[tuple[End, End], bool] = {}
    for statement in statements:
        if tables_only:
            for source in statement.sources:
                direct[source.name, statement.output] = True
            continue
        for edge in statement.edges:
            ends = (_end(edge.source), _end(edge.target))
            is_value = edge.kind.influence is InfluenceClass.VALUE
            direct[ends] = direct.get(ends, False) or is_value
    return [(source, target, is_direct) for (source, target), is_direct in direct.items()]


def _end(ref: ColumnRef) -> End:
    return ref.table if ref.column is None else ref


def _numbered(arrows: list[Arrow]) -> dict[End, int]:
    ids: dict[End, int] = {}
    for source, target, _ in arrows:
        for end in (source, target):
            ids.setdefault(end.table if isinstance(end, ColumnRef) else end, len(ids))
            ids.setdefault(end, len(ids))
    return ids


def _grouped(ids: dict[End, int]) -> dict[TableName, list[ColumnRef]]:
    groups: dict[TableName, list[ColumnRef]] = {}
    for end in ids:
        if isinstance(end, ColumnRef):
            groups.setdefault(end.table, []).append(end)
        else:
            groups.setdefault(end, [])
    return groups


def _id(ids: dict[End, int], end: End) -> str:
    return f"n{ids[end]}"


def _mermaid_text(text: str) -> str:
    """Mermaid reads `#NN;` as a character: escape what could end the label, the line or start markup."""
    return "".join(f"#{ord(char)};" if char in '"#<>&\\`' or ord(char) < 32 else char for char in text)


def _dot_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
