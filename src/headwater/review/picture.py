"""The changed part of a graph as a picture: before, after, or both in one."""

from collections.abc import Iterable

from headwater.graph.tables import WHOLE, root_column
from headwater.model.edges import InfluenceClass
from headwater.review.changes import Change, ChangeKind
from headwater.review.reach import Reach
from headwater.review.review import Review
from headwater.review.side import Flow, Side
from headwater.view.diagram import Box, Diagram, Emphasis, End, Line, Port, Style

_MOST_BOXES, _MOST_PORTS = 14, 12
_STYLES = {
    InfluenceClass.VALUE: Style.VALUE,
    InfluenceClass.CONDITION: Style.CONDITION,
    InfluenceClass.ROW: Style.ROW,
}
_STATES = {
    ChangeKind.TABLE_REMOVED: Emphasis.REMOVED,
    ChangeKind.COLUMN_REMOVED: Emphasis.REMOVED,
    ChangeKind.TABLE_ADDED: Emphasis.ADDED,
    ChangeKind.COLUMN_ADDED: Emphasis.ADDED,
}


def picture_of(review: Review, sides: Iterable[Side]) -> tuple[Diagram, int]:
    """The changed columns with what they are made of and who reads them, on some sides together; and how many
    changed datasets are left out."""
    changes: dict[str, list[Change]] = {}
    for change in review.changes:
        changes.setdefault(change.dataset, []).append(change)
    shown = dict(list(changes.items())[:_MOST_BOXES])
    ports: dict[str, dict[str, Emphasis]] = {name: {} for name in shown}
    lines: dict[tuple[End, End], Line] = {}
    for side in sides:
        reach = Reach(side)
        for name, those in shown.items():
            wanted = {each.column for each in those}
            for flow in _near(side, reach, name, wanted):
                _draw(flow, ports, lines)
            if name in side.made:
                _mark(ports[name], those, set(side.tables[name].columns) if name in side.tables else set())
    boxes = [_box(name, list(columns.items()), shown.get(name, [])) for name, columns in ports.items()]
    drawn = {box.id: {port.id for port in box.ports} for box in boxes}
    whole = tuple(line for line in lines.values() if all(_is_there(end, drawn) for end in (line.source, line.target)))
    return Diagram(tuple(boxes), whole), len(changes) - len(shown)


def _near(side: Side, reach: Reach, name: str, wanted: set[str | None]) -> Iterable[Flow]:
    """The edges into and out of the wanted columns of a dataset; None stands for its rows."""
    for unit in side.writers.get(name, ()):
        for flow in side.flows(unit):
            column = None if flow.target_column == WHOLE else root_column(flow.target_column)
            if flow.target == name and column in wanted:
                yield flow
    for flow in reach.flows_from(name):
        if root_column(flow.source_column) in wanted:
            yield flow


def _draw(flow: Flow, ports: dict[str, dict[str, Emphasis]], lines: dict[tuple[End, End], Line]) -> None:
    ends = []
    for name, column in ((flow.source, flow.source_column), (flow.target, flow.target_column)):
        columns = ports.setdefault(name, {})
        if column != WHOLE:
            columns.setdefault(root_column(column), Emphasis.PLAIN)
        ends.append(End(name, None if column == WHOLE else root_column(column)))
    if ends[0] != ends[1]:
        title = f"{flow.kind} {flow.expression or ''}".strip()
        lines.setdefault((ends[0], ends[1]), Line(ends[0], ends[1], _STYLES[flow.influence], title))


def _mark(ports: dict[str, Emphasis], changes: list[Change], there: set[str]) -> None:
    for change in changes:
        if change.column is not None and (change.column in there or change.column in ports):
            ports[change.column] = _STATES.get(change.kind, Emphasis.CHANGED)
        if change.kind is ChangeKind.COLUMN_RENAMED and change.after in there:
            ports[change.after] = Emphasis.ADDED


def _box(name: str, columns: list[tuple[str, Emphasis]], changes: list[Change]) -> Box:
    columns.sort(key=lambda each: each[1] is Emphasis.PLAIN)
    ports = tuple(Port(column, column, state) for column, state in columns[:_MOST_PORTS])
    states = [_STATES.get(each.kind, Emphasis.CHANGED) for each in changes if each.column is None]
    state = states[0] if states else Emphasis.CHANGED if changes else Emphasis.PLAIN
    return Box(name, name, ports, state=state, more=len(columns) - len(ports))


def _is_there(end: End, drawn: dict[str, set[str]]) -> bool:
    return end.box in drawn and (end.port is None or end.port in drawn[end.box])
