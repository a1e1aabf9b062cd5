"""Questions about lineage: what is a column made of, what is made of it, how do two hang together.
The answers are parts of the graph, with the expression and the place of every step."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from headwater.errors import NotFoundError
from headwater.graph.facts import Row, owned
from headwater.graph.index import Direction, EdgeIndex, Ids
from headwater.graph.marks import Mark, Marks, Name
from headwater.graph.regions import is_own
from headwater.graph.search import SearchIndex
from headwater.graph.selector import matching, parse_selector
from headwater.graph.steps import Node, Step
from headwater.graph.store import GraphState, GraphStore
from headwater.graph.tables import CHECKS, COLUMNS, DATASETS, EDGES, WHOLE, TableSpec, root_column
from headwater.graph.versions import tables_told
from headwater.lake.tables.time_travel import At
from headwater.model.edges import InfluenceClass, Kind
from headwater.view.formats import make_picture

if TYPE_CHECKING:
    from headwater.view.diagram import Diagram

ALL = tuple(InfluenceClass)
SCRATCH = ("query", "memory")  # kinds of datasets that nothing is expected to read
_INSIDE = re.compile(r"[.\[]")  # what follows is inside a column


@dataclass(frozen=True)
class Answer:
    """A part of the graph: where it begins, how far each node is from there, and the steps between them."""

    starts: tuple[Node, ...]
    distance: dict[Node, int]
    steps: tuple[Step, ...]
    direction: Direction | None = None
    cut: bool = False  # there is more beyond the depth asked for
    marks: Mapping[Node, tuple[Mark, ...]] = field(default_factory=dict)  # failed checks that nodes descend from

    @property
    def nodes(self) -> list[Node]:
        """The nodes that were reached, nearest first, without the starts."""
        return [node for node, distance in self.distance.items() if distance]

    @property
    def datasets(self) -> list[str]:
        """The datasets that were reached, nearest first."""
        return list(dict.fromkeys(node.dataset for node in self.nodes))

    @cached_property
    def _by_node(self) -> dict[Node, list[Step]]:
        found: dict[Node, list[Step]] = {}
        for step in self.steps:
            found.setdefault(step.target if self.direction is Direction.UPSTREAM else step.source, []).append(step)
        return found

    @cached_property
    def _by_column(self) -> dict[Node, list[Node]]:
        """The nodes that steps lead on from, by the column that they are inside of; all of a dataset by its whole."""
        found: dict[Node, list[Node]] = {}
        for node in self._by_node:
            for column in {_INSIDE.split(node.column, 1)[0], WHOLE}:
                found.setdefault(Node(node.dataset, column), []).append(node)
        return found

    def beyond(self, node: Node) -> list[Step]:
        """The steps that lead on from a node, as a walk takes them: a struct and its fields are the same data, and a
        table as a whole stands for its columns."""
        whole = Node(node.dataset, WHOLE)
        if node == whole:
            related = self._by_column.get(whole, []) if self.direction is Direction.DOWNSTREAM else []
        else:
            column = Node(node.dataset, _INSIDE.split(node.column, 1)[0])
            related = [each for each in self._by_column.get(column, ()) if _is_same_data(each.column, node.column)]
        steps = list(self._by_node.get(node, ()))
        steps += (step for each in related if each != node for step in self._by_node[each])
        if node != whole:
            upstream = self.direction is Direction.UPSTREAM
            steps += (step for step in self._by_node.get(whole, ()) if upstream or is_value(step))
        return steps

    @property
    def diagram(self) -> "Diagram":
        """The part of the graph, to be drawn."""
        picture = import_module("headwater.lineage.formats.picture")
        drawn: Diagram = picture.diagram_of(step.as_edge() for step in self.steps)
        return drawn

    def _repr_html_(self) -> str:
        return make_picture(self.diagram, "svg")

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/vnd.mermaid": make_picture(self.diagram, "mermaid")}


def _is_same_data(one: str, other: str) -> bool:
    """Return whether two columns are one, or one is a field inside the other."""
    short, long = sorted((one, other), key=len)
    return long == short or (long.startswith(short) and long[len(short)] in ".[")


def is_value(step: Step) -> bool:
    """Return whether values flow along a step."""
    return step.kind.influence is InfluenceClass.VALUE


class AnyGraph(Protocol):
    """Lineage at one state, in memory or on Spark."""

    state: GraphState

    def entering(self, nodes: Iterable[Node]) -> Iterable[Step]:
        """The edges into some columns along which values flow."""
        ...


def marks_of(graph: AnyGraph, nodes: Iterable[Node]) -> dict[Node, tuple[Mark, ...]]:
    """The failed checks that columns descend from, of those that do."""

    def pairs(names: Iterable[Name]) -> Iterator[tuple[Name, Name]]:
        for step in graph.entering(Node(*name) for name in names):
            yield (step.source.dataset, step.source.column), (step.target.dataset, step.target.column)

    found = Marks(graph.state, pairs).of((node.dataset, node.column) for node in nodes)
    return {Node(*name): marks for name, marks in found.items()}


def marked(graph: AnyGraph, answer: Answer) -> Answer:
    """An answer with the marks of its columns."""
    return replace(answer, marks=marks_of(graph, answer.distance))


class LineageGraph:
    """The lineage of a warehouse at one moment.

    Edges are loaded when the first question needs them and kept for the rest.
    """

    def __init__(self, state: GraphState, aliases: Mapping[str, str] | None = None) -> None:
        """`aliases` are other names for datasets; those with one name are one."""
        self.state = state
        self.aliases = aliases or {}

    def entering(self, nodes: Iterable[Node]) -> Iterator[Step]:
        """The edges into some columns along which values flow."""
        index = self.index
        near = ((id, node.column) for node in nodes for id in index.datasets.get(node.dataset, ()))
        ids = [id for id, column in near if root_column(index.node(id)[1]) in (column, WHOLE)]
        return self.steps(index.walk(ids, Direction.UPSTREAM, depth=1, influences=_VALUES).edges)

    @classmethod
    def open(cls, warehouse: str, at: At | None = None) -> "LineageGraph":
        """The lineage kept in a warehouse, now or as of a moment. RAISES: NotFoundError when there is none."""
        return cls(GraphStore(warehouse).state(at))

    @cached_property
    def index(self) -> EdgeIndex:
        edges = self.state.read(EDGES, EdgeIndex.columns())
        if self.aliases:
            for name in ("source", "target"):
                known = edges.column(name).combine_chunks().dictionary_encode()
                new = pa.array([self.aliases.get(each, each) for each in known.dictionary.to_pylist()], pa.string())
                at = edges.schema.get_field_index(name)
                edges = edges.set_column(at, edges.field(at), new.take(known.indices))
        return EdgeIndex(edges)

    def trace(self, name: str, *, depth: int | None = None, influences: Iterable[InfluenceClass] = ALL) -> Answer:
        """Return what a column, or every column of a dataset, is made of. RAISES: NotFoundError with the nearest
        name."""
        return self._walked(matching(self.index, name), Direction.UPSTREAM, depth, influences)

    def impact(self, name: str, *, depth: int | None = None, influences: Iterable[InfluenceClass] = ALL) -> Answer:
        """Return what is made of a column or dataset, and so may break with it. RAISES: NotFoundError."""
        return self._walked(matching(self.index, name), Direction.DOWNSTREAM, depth, influences)

    def select(self, selector: str, *, influences: Iterable[InfluenceClass] = ALL) -> Answer:
        """The part of the graph that a selector means, such as `2+shop.orders.total+1`."""
        chosen = parse_selector(selector)
        starts = matching(self.index, chosen.pattern)
        sides = [
            self._walked(starts, direction, depth, influences)
            for direction, depth in ((Direction.UPSTREAM, chosen.up), (Direction.DOWNSTREAM, chosen.down))
            if depth != 0
        ]
        distance = dict.fromkeys(self._nodes(starts), 0)
        for side in sides:
            for node, away in side.distance.items():
                distance[node] = min(away, distance.get(node, away))
        steps = dict.fromkeys(step for side in sides for step in side.steps)
        whole = Answer(tuple(self._nodes(starts)), distance, tuple(steps), cut=any(side.cut for side in sides))
        return marked(self, whole)

    def path(self, source: str, target: str, *, influences: Iterable[InfluenceClass] = ALL) -> Answer:
        """Everything that lies on some way from one column or dataset to another; no steps when there is no way."""
        starts, ends = matching(self.index, source), matching(self.index, target)
        wanted = tuple(influences)
        down = self.index.walk(starts, Direction.DOWNSTREAM, influences=wanted)
        up = self.index.walk(ends, Direction.UPSTREAM, influences=wanted)
        rows = np.intersect1d(down.edges, up.edges)
        steps = tuple(self.steps(rows))
        on_the_way = {node for step in steps for node in (step.source, step.target)}
        ids = {Node(*self.index.node(id)): steps for id, steps in down.distance.items()}
        distance = {node: steps for node, steps in ids.items() if node in on_the_way}
        return marked(self, Answer(tuple(self._nodes(starts)), distance, steps, Direction.DOWNSTREAM))

    @cached_property
    def _search(self) -> SearchIndex:
        about: dict[tuple[str, str], str] = {}
        for name in self.state.read(DATASETS, ["dataset"]).column(0).to_pylist():
            about[self.aliases.get(name, name), WHOLE] = ""
        told = ["dataset", "column", "type", "description", "words", "owner", "tags"]
        for row in self.state.read(COLUMNS, told).to_pylist():
            node = self.aliases.get(row["dataset"], row["dataset"]), row["column"]
            said = (row["type"], row["words"] or row["description"], *owned(row)[1])
            about[node] = " ".join(filter(None, said))
        for node in self.index.nodes:
            about.setdefault(node, "")
        return SearchIndex((*node, text) for node, text in about.items())

    def search(self, text: str, *, limit: int = 50) -> list[Node]:
        """Datasets (as `*`) and columns whose names, types or tags have every word of a text, the best first."""
        return self.search_counted(text, limit=limit)[0]

    def search_counted(self, text: str, *, limit: int) -> tuple[list[Node], int]:
        """The best names for a text, and how many there are in all."""
        found, total = self._search.find(text, limit)
        return [Node(*node) for node in found], total

    def all_marks(self) -> dict[Node, tuple[Mark, ...]]:
        """Every column that descends from a version that failed a check, with the checks."""
        warehouse = self.state.store.warehouse
        lake = {(name, each) for name in tables_told(warehouse) for each in warehouse.table(name).schema.names}
        names = lake | set(self.index.nodes) | self._names(COLUMNS) | self._names(CHECKS)
        return marks_of(self, sorted(Node(*name) for name in names))

    def unused(self, like: str | None = None) -> list[Node]:
        """Columns that are made and that nothing reads. With a pattern, those like it, also of tables that are only
        read, of results of queries, and of the tables of the graph itself."""
        read = {self.index.node(int(id)) for id in np.unique(self.index.sources)}
        whole = {dataset for dataset, column in read if column == WHOLE}
        known = self._names(COLUMNS) | {self.index.node(int(id)) for id in np.unique(self.index.targets)}
        roots = {(dataset, root_column(column)) for dataset, column in read}
        if like is None:
            kinds = self.state.read(DATASETS, ["dataset", "kind"])
            scratch = {name for name, kind in zip(*(each.to_pylist() for each in kinds.columns)) if kind in SCRATCH}
            made = {self.index.node(int(id))[0] for id in np.unique(self.index.targets)}
            known = {node for node in known if node[0] in made - scratch and not is_own(node[0])}
        return sorted(
            Node(dataset, column)
            for dataset, column in known
            if column != WHOLE
            and dataset not in whole
            and (dataset, root_column(column)) not in roots
            and (like is None or Node(dataset, column).is_like(like))
        )

    def tagged(self, tag: str) -> Answer:
        """The columns that carry a tag, and every column their values reach, unless a masking step is between."""
        columns = self.state.read(COLUMNS, ["dataset", "column", "tags"])
        starts = [(row["dataset"], row["column"]) for row in columns.to_pylist() if tag in (row["tags"] or ())]
        if not starts:
            raise NotFoundError(
                f"no column has the tag `{tag}`", hint=f"`headwater tag TABLE.COLUMN --tag {tag}` puts it on"
            )
        return self._spread(starts)

    def _spread(self, starts: list[tuple[str, str]]) -> Answer:
        masking = self.index.edges.column("masking").to_numpy(zero_copy_only=False)
        distance = {Node(*start): 0 for start in starts}
        taken: dict[int, None] = {}
        frontier = [id for start in starts if (id := self.index.id_of(*start)) is not None]
        step = 0
        while frontier:
            step += 1
            reached = []
            for row in self.index.walk(frontier, Direction.DOWNSTREAM, depth=1, influences=_VALUES).edges:
                node = Node(*self.index.node(int(self.index.targets[row])))
                if masking[row] or node.column == WHOLE:
                    continue
                taken[int(row)] = None
                if node not in distance:
                    distance[node] = step
                    reached.append(int(self.index.targets[row]))
            frontier = reached
        steps = self.steps(np.array(list(taken), np.int64))
        return Answer(tuple(Node(*start) for start in starts), distance, tuple(steps), Direction.DOWNSTREAM)

    # --------------------------------------------------------------------------------------------- internals

    def _walked(
        self, starts: list[int], direction: Direction, depth: int | None, influences: Iterable[InfluenceClass]
    ) -> Answer:
        walk = self.index.walk(starts, direction, depth=depth, influences=influences)
        distance = {Node(*self.index.node(id)): steps for id, steps in walk.distance.items()}
        steps = tuple(self.steps(walk.edges))
        return marked(self, Answer(tuple(self._nodes(starts)), distance, steps, direction, walk.cut))

    def _names(self, spec: TableSpec) -> set[Name]:
        """The columns that a table of the graph has rows of."""
        found = self.state.read(spec, ["dataset", "column"])
        return set(zip(found.column("dataset").to_pylist(), found.column("column").to_pylist()))

    def _nodes(self, ids: Iterable[int]) -> Iterator[Node]:
        return (Node(*self.index.node(id)) for id in ids)

    def steps(self, rows: Ids) -> Iterator[Step]:
        """Some rows of the index, as steps; those of datasets with one name are one."""
        found = map(step_of, self.index.edges.take(rows).to_pylist())
        return iter(dict.fromkeys(found)) if self.aliases else found


def step_of(row: Row) -> Step:
    """A row of the edge table as a step."""
    return Step(
        source=Node(row["source"], row["source_column"]),
        target=Node(row["target"], row["target_column"]),
        kind=Kind(row["kind"]),
        **{name: row[name] for name in _CARRIED},
    )


_CARRIED = ("statement", "expression", "masking", "approximate", "file", "line", "start", "end", "observed")
_VALUES = (InfluenceClass.VALUE,)
