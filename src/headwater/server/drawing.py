"""A part of the graph as a picture that can be opened further.
What is drawn follows from a `Look` alone, which is what an address of the page says: the same address shows the same
picture to everybody. Boxes that were opened one after the other are laid out one after the other too, each picture
near the one before it, so that what was there keeps its order."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate

from headwater.errors import NotFoundError
from headwater.graph.compare import GraphDiff
from headwater.graph.index import Neighbours
from headwater.graph.questions import Node, Step
from headwater.graph.selector import parse_selector
from headwater.graph.tables import WHOLE
from headwater.model.edges import InfluenceClass, Kind
from headwater.server.service import KnownGraph
from headwater.view.diagram import Box, Diagram, End, Line, Port, State, Style
from headwater.view.layout import Layout, lay_out

_FEW_COLUMNS = 8  # in a box that does not show all
_FEW_TABLES = 12  # a picture with more opens without columns
_STEPS_BACK = 8  # pictures before this one that its order is taken from
_STYLES = dict(zip(InfluenceClass, Style))
_CHANGES = {"added": State.ADDED, "removed": State.REMOVED, "changed": State.CHANGED}


@dataclass(frozen=True, slots=True)
class Look:
    """What to draw: where to begin, what was opened, and how much of it to show."""

    select: str
    opened: tuple[str, ...] = ()  # `<dataset` opened to the left, `dataset>` to the right
    level: str = "auto"  # table, column, or auto: columns while there are few tables
    flipped: frozenset[str] = frozenset()  # boxes that show the other level
    whole: frozenset[str] = frozenset()  # boxes that show all their columns
    kinds: frozenset[Kind] = frozenset(Kind)
    grouped: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A diagram with its layout, and the steps that each of its lines stands for."""

    diagram: Diagram
    layout: Layout
    steps: tuple[tuple[Step, ...], ...]  # by line
    starts: tuple[Node, ...]
    cut: bool  # there were more tables than are drawn


def draw(known: KnownGraph, look: Look, diff: GraphDiff | None = None, *, most: int = 400) -> Picture:
    """Draw what a look says; with a difference, what it added and removed is marked.
    RAISES: NotFoundError, UsageError."""
    starts, first = _chosen(known, look)
    near = known.neighbours(look.kinds)
    stages = list(accumulate(look.opened, lambda seen, each: _opened(near, seen, each), initial=first))
    # the edges that are gone and touched what is shown
    inside = set(stages[-1])
    gone = [
        Step(change.source, change.target, change.kind, "", change.before)
        for change in (diff.of("removed") if diff is not None else ())
        if change.source.dataset in inside or change.target.dataset in inside
    ]
    wanted = list(
        dict.fromkeys([*stages[-1], *(node.dataset for step in gone for node in (step.source, step.target))])
    )
    shown = set(wanted[:most])
    steps = [*known.graph.steps(near.between(shown)), *gone]
    focus = {node.dataset for node in starts}
    layout: Layout | None = None
    for number, stage in enumerate(stages[:-1]):
        before = replace(look, opened=look.opened[:number])
        if number < len(stages) - 1 - _STEPS_BACK:
            continue
        there = known.layouts.get(before)
        if there is None:
            drawing = _Drawing(known, look, [name for name in stage if name in shown], steps, None)
            there = known.layouts[before] = lay_out(drawing.diagram(focus)[0], near=layout)
        layout = there
    diagram, lines = _Drawing(known, look, wanted[:most], steps, diff).diagram(focus)
    layout = lay_out(diagram, near=layout)
    if diff is None:
        known.layouts[look] = layout
    return Picture(diagram, layout, lines, starts, len(wanted) > len(shown))


def _chosen(known: KnownGraph, look: Look) -> tuple[tuple[Node, ...], list[str]]:
    """The nodes a picture begins with, and the datasets around them, nearest first."""
    influences = tuple(dict.fromkeys(kind.influence for kind in Kind if kind in look.kinds))
    try:
        answer = known.graph.select(look.select, influences=influences)
    except NotFoundError:
        name = parse_selector(look.select).pattern
        if name not in known.kinds:
            raise
        return (Node(name, WHOLE),), [name]  # known, and joined to nothing
    return answer.starts, list(dict.fromkeys(node.dataset for node in answer.distance))


def _opened(near: Neighbours, seen: list[str], item: str) -> list[str]:
    """The datasets of a picture after one of its boxes was opened to a side."""
    found: set[str] = set()
    if item.startswith("<"):
        found = near.upstream(item[1:])
    elif item.endswith(">"):
        found = near.downstream(item[:-1])
    return list(dict.fromkeys([*seen, *sorted(found)]))


class _Drawing:
    """One diagram in the making."""

    def __init__(
        self, known: KnownGraph, look: Look, names: list[str], steps: Iterable[Step], diff: GraphDiff | None
    ) -> None:
        self.known, self.look, self.names, self.diff = known, look, names, diff
        inside = set(names)
        self.steps = [step for step in steps if {step.source.dataset, step.target.dataset} <= inside]
        self.linked: dict[str, dict[str, None]] = {}
        for step in self.steps:
            for node in (step.source, step.target):
                if node.column != WHOLE:
                    self.linked.setdefault(node.dataset, {})[node.column] = None
        self.changed = {change.target.dataset for change in (diff.edges if diff is not None else ())}
        self.edge_states = {
            (change.source, change.target, change.kind): _CHANGES[change.change]
            for change in (diff.edges if diff is not None else ())
        }

    def diagram(self, focus: set[str]) -> tuple[Diagram, tuple[tuple[Step, ...], ...]]:
        boxes = tuple(self._box(name, name in focus) for name in self.names)
        ports = {box.id: {port.id for port in box.ports} for box in boxes}
        merged: dict[tuple[End, End], list[Step]] = {}
        for step in self.steps:
            ends = _end(step.source, ports), _end(step.target, ports)
            merged.setdefault(ends, []).append(step)
        lines = tuple(self._line(*ends, steps) for ends, steps in merged.items())
        return Diagram(boxes, lines), tuple(map(tuple, merged.values()))

    def _box(self, name: str, focus: bool) -> Box:
        near = self.known.neighbours(self.look.kinds)
        inside = set(self.names)
        types = self.known.columns.get(name, {})
        few = self.look.level == "auto" and len(self.names) <= _FEW_TABLES
        folded = (self.look.level == "column" or few) is (name in self.look.flipped)
        shown = [] if folded else self._columns(name, types)
        group, _, _ = name.rpartition(".")
        return Box(
            name,
            name,
            tuple(Port(column, column, self._state(Node(name, column))) for column in shown),
            note=f"{self.known.kinds.get(name, 'table')}, {len(types)} columns",
            kind=self.known.kinds.get(name, "table"),
            state=State.FOCUS if focus else self._state(name),
            group=group if self.look.grouped else "",
            before=len(near.upstream(name) - inside),
            after=len(near.downstream(name) - inside),
            more=0 if folded else max(0, len(types) - len(shown)),
            folded=folded if types else None,
        )

    def _columns(self, name: str, types: dict[str, str | None]) -> list[str]:
        """The columns that take part first, then, if all are wanted or none takes part, the others."""
        linked = self.linked.get(name, {})
        known = [column for column in types if column in linked]
        ordered = [*known, *(column for column in linked if column not in types)]
        if name in self.look.whole:
            return [*ordered, *(column for column in types if column not in linked)]
        return (ordered or list(types))[:_FEW_COLUMNS]

    def _state(self, thing: str | Node) -> State:
        """What the difference says of a dataset or a column."""
        if self.diff is None:
            return State.PLAIN
        if thing in self.diff.datasets_added or thing in self.diff.columns_added:
            return State.ADDED
        if thing in self.diff.datasets_removed or thing in self.diff.columns_removed:
            return State.REMOVED
        return State.CHANGED if thing in self.changed else State.PLAIN

    def _line(self, source: End, target: End, steps: list[Step]) -> Line:
        strongest = min(steps, key=lambda step: list(InfluenceClass).index(step.kind.influence))
        kinds = ", ".join(sorted({step.kind.value for step in steps}))
        states = {self.edge_states.get((step.source, step.target, step.kind), State.PLAIN) for step in steps}
        return Line(
            source,
            target,
            _STYLES[strongest.kind.influence],
            title=f"{strongest.source} → {strongest.target}  {kinds}",
            state=next(iter(states)) if len(states) == 1 else State.CHANGED,
            doubtful=all(step.approximate for step in steps),
        )


def _end(node: Node, ports: dict[str, set[str]]) -> End:
    return End(node.dataset, node.column if node.column in ports[node.dataset] else None)


def exported(picture: Picture) -> Diagram:
    """The diagram without what only a page can use."""
    boxes = tuple(replace(box, before=0, after=0, folded=None) for box in picture.diagram.boxes)
    return replace(picture.diagram, boxes=boxes)
