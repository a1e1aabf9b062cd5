"""A part of the graph as a picture that can be opened further.
What is drawn follows from a `Look` alone, which is what an address of the page says: the same address shows the same
picture to everybody. Boxes that were opened one after the other are laid out one after the other too, each picture
near the one before it, so that what was there keeps its order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from headwater.errors import NotFoundError
from headwater.graph.diff import GraphDiff
from headwater.graph.index import Neighbours
from headwater.graph.selector import parse_selector
from headwater.graph.steps import Node, Step
from headwater.graph.tables import WHOLE
from headwater.model.edges import InfluenceClass, Kind
from headwater.server.picture import Picture
from headwater.server.service import KnownGraph
from headwater.text import counted
from headwater.view.diagram import Box, Diagram, Emphasis, End, Line, Port, Style
from headwater.view.layout import Layout, lay_out

_FEW_COLUMNS = 8  # in a box that does not show all
_FEW_TABLES = 12  # a picture with more opens without columns
_FAN = 12  # tables that are alike, above which one box stands for them
_STEPS_BACK = 8  # pictures before this one that its order is taken from
_STYLES = dict(zip(InfluenceClass, Style))
_RANKS = {kind: list(InfluenceClass).index(kind.influence) for kind in Kind}
_CHANGES = {"added": Emphasis.ADDED, "removed": Emphasis.REMOVED, "changed": Emphasis.CHANGED}


@dataclass(frozen=True, slots=True)
class Look:
    """The request for a picture: where to begin, what was opened, and how much of it to show."""

    select: str
    opened: tuple[str, ...] = ()  # `<dataset` opened to the left, `dataset>` to the right
    level: str = "auto"  # table, column, or auto: columns while there are few tables
    flipped: frozenset[str] = frozenset()  # boxes that show the other level
    whole: frozenset[str] = frozenset()  # boxes that show all their columns
    kinds: frozenset[Kind] = frozenset(Kind)  # that are followed
    faint: frozenset[Kind] = frozenset()  # that are drawn faintly between what is shown
    grouped: bool = False
    unfolded: frozenset[str] = frozenset()  # boxes of many tables that show them


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
    focus = {node.dataset for node in starts}
    kept = focus | {each.strip("<>") for each in look.opened}
    folds = _folds(near, wanted, kept, look.unfolded)
    shown = set(list(dict.fromkeys(folds.get(name, name) for name in wanted))[:most])
    drawn = [name for name in wanted if folds.get(name, name) in shown]
    every = known.neighbours(look.kinds | look.faint)
    steps = [*known.graph.steps(every.between(drawn)), *gone]
    layout: Layout | None = None
    for number, stage in enumerate(stages[:-1]):
        before = replace(look, opened=look.opened[:number])
        if number < len(stages) - 1 - _STEPS_BACK:
            continue
        there = known.layouts.get(before)
        if there is None:
            names = [name for name in stage if folds.get(name, name) in shown]
            drawing = _Drawing(known, look, names, steps, None, folds)
            there = known.layouts[before] = lay_out(drawing.diagram(focus)[0], near=layout)
        layout = there
    diagram, lines = _Drawing(known, look, drawn, steps, diff, folds).diagram(focus)
    layout = lay_out(diagram, near=layout)
    if diff is None:
        known.layouts[look] = layout
    around, followed = (
        {name for each in focus for name in (*side.upstream(each), *side.downstream(each))} for side in (every, near)
    )
    beside = len(around.difference(wanted, followed))
    return Picture(diagram, layout, lines, starts, len(wanted) > len(drawn), beside)


def _folds(near: Neighbours, names: list[str], kept: set[str], unfolded: frozenset[str]) -> dict[str, str]:
    """For tables of a picture that many others are like, the box that stands for all of them: those that are made of
    the same tables there, and used by the same."""
    inside = set(names)
    alike: dict[tuple[frozenset[str], frozenset[str]], list[str]] = {}
    for name in names:
        if name not in kept:
            sides = frozenset(near.upstream(name) & inside), frozenset(near.downstream(name) & inside)
            alike.setdefault(sides, []).append(name)
    found: dict[str, str] = {}
    for (up, down), members in alike.items():
        if len(members) > _FAN and (up or down):
            box = f"{min(up)}>" if up else f"<{min(down)}"
            box = box if box not in found.values() else f"{box} {min(members)}"
            found |= dict.fromkeys(members, box) if box not in unfolded else {}
    return found


def _chosen(known: KnownGraph, look: Look) -> tuple[tuple[Node, ...], list[str]]:
    """The nodes a picture begins with, and the datasets around them, nearest first."""
    influences = tuple(dict.fromkeys(kind.influence for kind in Kind if kind in look.kinds))
    try:
        answer = known.graph.select(look.select, influences=influences)
    except NotFoundError:
        name = parse_selector(look.select).pattern
        family = known.graph.aliases.get(name)
        if family is not None:
            return _chosen(known, replace(look, select=look.select.replace(name, family)))
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
        self,
        known: KnownGraph,
        look: Look,
        names: list[str],
        steps: Iterable[Step],
        diff: GraphDiff | None,
        folds: dict[str, str],
    ) -> None:
        self.known, self.look, self.names, self.diff, self.folds = known, look, names, diff, folds
        self.inside = inside = set(names)
        self.near = known.neighbours(look.kinds)
        boxes = len({folds.get(name, name) for name in names})
        self.opens = look.level == "column" or (look.level == "auto" and boxes <= _FEW_TABLES)
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
        plain = [name for name in self.names if name not in self.folds]
        boxes = (*(self._box(name, name in focus) for name in plain), *self._folded())
        ports = {box.id: {port.id for port in box.ports} for box in boxes}
        merged: dict[tuple[End, End], list[Step]] = {}
        for step in self.steps:
            ends = self._end(step.source, ports), self._end(step.target, ports)
            merged.setdefault(ends, []).append(step)
        lines = tuple(self._line(*ends, steps) for ends, steps in merged.items())
        return Diagram(boxes, lines), tuple(map(tuple, merged.values()))

    def _box(self, name: str, focus: bool) -> Box:
        types = self.known.columns.get(name, {})
        folded = self.opens is (name in self.look.flipped)
        shown = [] if folded else self._columns(name, types)
        return Box(
            name,
            name,
            tuple(Port(column, column, self._state(Node(name, column))) for column in shown),
            note=f"{self.known.kinds.get(name, 'table')}, {counted(self.known.sizes[name], 'column')}",
            kind=self.known.kinds.get(name, "table"),
            state=Emphasis.FOCUS if focus else self._state(name),
            group=self.known.regions.get(name, "") if self.look.grouped else "",
            before=len(self.near.upstream(name) - self.inside),
            after=len(self.near.downstream(name) - self.inside),
            more=0 if folded else max(0, len(types) - len(shown)),
            folded=folded if types else None,
        )

    def _folded(self) -> Iterator[Box]:
        """The boxes that stand for many tables."""
        members: dict[str, list[str]] = {}
        for name in self.names:
            if name in self.folds:
                members.setdefault(self.folds[name], []).append(name)
        for box, names in members.items():
            note = ", ".join(sorted(names)[:_FAN]) + (", …" if len(names) > _FAN else "")
            yield Box(box, counted(len(names), "table"), note=note, kind="many", folded=True)

    def _end(self, node: Node, ports: dict[str, set[str]]) -> End:
        box = self.folds.get(node.dataset, node.dataset)
        return End(box, node.column if node.column in ports[box] else None)

    def _columns(self, name: str, types: dict[str, str | None]) -> list[str]:
        """The columns that take part first, then, if all are wanted or none takes part, the others."""
        linked = self.linked.get(name, {})
        known = [column for column in types if column in linked]
        ordered = [*known, *(column for column in linked if column not in types)]
        every = [*ordered, *(column for column in types if column not in linked)]
        if name in self.look.whole:
            return every
        shown = (ordered or every)[:_FEW_COLUMNS]
        return every if len(every) == len(shown) + 1 else shown  # `+1 more` would take the room of the one

    def _state(self, thing: str | Node) -> Emphasis:
        """Return what the difference says of a dataset or a column."""
        if self.diff is None:
            return Emphasis.PLAIN
        if thing in self.diff.datasets_added or thing in self.diff.columns_added:
            return Emphasis.ADDED
        if thing in self.diff.datasets_removed or thing in self.diff.columns_removed:
            return Emphasis.REMOVED
        return Emphasis.CHANGED if thing in self.changed else Emphasis.PLAIN

    def _line(self, source: End, target: End, steps: list[Step]) -> Line:
        strongest = min(steps, key=lambda step: _RANKS[step.kind])
        kinds = ", ".join(sorted({step.kind.value for step in steps}))
        states = {self.edge_states.get((step.source, step.target, step.kind), Emphasis.PLAIN) for step in steps}
        return Line(
            source,
            target,
            _STYLES[strongest.kind.influence],
            title=f"{strongest.source} → {strongest.target}  {kinds}",
            state=next(iter(states)) if len(states) == 1 else Emphasis.CHANGED,
            doubtful=all(step.approximate for step in steps),
            faint=strongest.kind in self.look.faint,
        )


def exported(picture: Picture) -> Diagram:
    """The diagram without what only a page can use."""
    boxes = tuple(replace(box, before=0, after=0, folded=None) for box in picture.diagram.boxes)
    return replace(picture.diagram, boxes=boxes)
