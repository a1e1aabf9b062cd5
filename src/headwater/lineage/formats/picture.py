"""Lineage as a picture: tables as boxes, columns as rows, edges as lines."""

from collections.abc import Iterable, Sequence

from headwater.lineage.statement import StatementLineage
from headwater.model.edges import ColumnRef, Edge, InfluenceClass
from headwater.model.names import TableName
from headwater.view.diagram import Box, Diagram, End, Line, Port, Style

_STYLES = {
    InfluenceClass.VALUE: Style.VALUE,
    InfluenceClass.CONDITION: Style.CONDITION,
    InfluenceClass.ROW: Style.ROW,
}


def diagram(statements: Sequence[StatementLineage], *, tables_only: bool = False) -> Diagram:
    """Every table that is read or written, the columns that take part, and a line for each pair of them."""
    ports: dict[TableName, dict[str, None]] = {}
    lines: dict[tuple[End, End], Line] = {}
    for statement in statements:
        for name in (*(source.name for source in statement.sources), statement.output):
            ports.setdefault(name, {})
        if tables_only:
            for source in statement.sources:
                line = Line(End(str(source.name)), End(str(statement.output)), title=statement.statement_type)
                lines.setdefault((line.source, line.target), line)
            continue
        for column in statement.columns:
            ports[statement.output].setdefault(column.name)
        _add_edges(statement.edges, ports, lines)
    return _diagram(ports, lines)


def diagram_of(edges: Iterable[Edge]) -> Diagram:
    """The tables and columns that edges join, whatever statements they are from."""
    ports: dict[TableName, dict[str, None]] = {}
    lines: dict[tuple[End, End], Line] = {}
    _add_edges(edges, ports, lines)
    return _diagram(ports, lines)


def _diagram(ports: dict[TableName, dict[str, None]], lines: dict[tuple[End, End], Line]) -> Diagram:
    boxes = tuple(Box(str(name), str(name), tuple(Port(port, port) for port in ids)) for name, ids in ports.items())
    return Diagram(boxes, tuple(lines.values()))


def _add_edges(
    edges: Iterable[Edge], ports: dict[TableName, dict[str, None]], lines: dict[tuple[End, End], Line]
) -> None:
    for edge in edges:
        for ref in (edge.source, edge.target):
            columns = ports.setdefault(ref.table, {})
            if ref.column is not None:
                columns.setdefault(ref.name)
        # one line between two ends: of several influences the strongest is drawn
        style = _STYLES[edge.kind.influence]
        source, target = _end(edge.source), _end(edge.target)
        known = lines.get((source, target))
        if known is None or list(Style).index(style) < list(Style).index(known.style):
            text = f": {edge.expression}" if edge.expression else ""
            title = f"{edge.source} → {edge.target} {edge.kind.value}{text}"
            lines[source, target] = Line(source, target, style, title)


def _end(ref: ColumnRef) -> End:
    return End(str(ref.table), None if ref.column is None else ref.name)
