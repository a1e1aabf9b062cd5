"""The edges of a state of the graph in memory, ready for walking.
Nodes are columns (dataset, column with path) and whole tables (`*`). Edges stand in compressed rows, once by source
and once by target, so a step of a walk is a few array operations whatever the size of the graph.
A walk that comes to a node stands on others as well: a struct and its fields are the same data; what decides the rows
of a table bears on all its columns; and where only tables are known, the whole stands for each column."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.graph.tables import EDGES, WHOLE
from headwater.lazy import arrow_compute as pc
from headwater.model.edges import InfluenceClass, Kind

Ids = npt.NDArray[np.int64]
_VALUE = list(InfluenceClass).index(InfluenceClass.VALUE)
_SEPARATOR = "\x00"
_LOADED = (*EDGES.key, "expression", "masking", "approximate", "file", "line", "start", "end", "observed")


class Direction(Enum):
    """The direction of a walk."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"


@dataclass(frozen=True, slots=True)
class Walk:
    """The result of a walk: nodes with their distance, and the edges it took."""

    distance: dict[int, int]  # by node, the starts at 0
    edges: Ids  # rows of the edge table
    cut: bool  # whether the depth ended it before it was done


class EdgeIndex:
    """The edges of one state."""

    def __init__(self, edges: pa.Table) -> None:
        self.edges = edges.combine_chunks()
        names, ends = _numbered(self.edges)
        self.names = names
        self.sources, self.targets = ends
        self._by_source = _Rows(self.sources, len(names))
        self._by_target = _Rows(self.targets, len(names))
        codes = self.edges.column("kind").combine_chunks().dictionary_encode()
        influences = [Kind(kind).influence for kind in codes.dictionary.to_pylist()]
        order = np.array([list(InfluenceClass).index(each) for each in influences], np.int8)
        self._influence = order[codes.indices.to_numpy()] if len(order) else np.zeros(0, np.int8)

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """The columns of the edge table that an index is made from."""
        return _LOADED

    def __len__(self) -> int:
        return len(self.sources)

    # ------------------------------------------------------------------------------------------------- names

    def node(self, id: int) -> tuple[str, str]:
        """The dataset and column of a node."""
        return self.nodes[id]

    @cached_property
    def nodes(self) -> list[tuple[str, str]]:
        """All nodes, by id: dataset and column."""
        split = (name.partition(_SEPARATOR) for name in self.names.to_pylist())
        return [(dataset, column) for dataset, _, column in split]

    @cached_property
    def _ids(self) -> dict[tuple[str, str], int]:
        return {node: id for id, node in enumerate(self.nodes)}

    @cached_property
    def _in_dataset(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for id, (dataset, _) in enumerate(self.nodes):
            found.setdefault(dataset, []).append(id)
        return found

    @property
    def datasets(self) -> Mapping[str, Sequence[int]]:
        """The nodes of each dataset, the whole of it among them."""
        return self._in_dataset

    def id_of(self, dataset: str, column: str) -> int | None:
        return self._ids.get((dataset, column))

    # ------------------------------------------------------------------------------------------------- walks

    def walk(
        self,
        starts: Iterable[int],
        direction: Direction,
        *,
        depth: int | None = None,
        influences: Iterable[InfluenceClass] = tuple(InfluenceClass),
    ) -> Walk:
        """All that is reached from some nodes, nearest first. Each edge is taken once, each node at its least
        distance."""
        wanted = np.zeros(len(InfluenceClass), np.bool_)
        wanted[[list(InfluenceClass).index(each) for each in influences]] = True
        ends = self.sources if direction is Direction.UPSTREAM else self.targets
        reached = np.full(len(self.names), -1, np.int64)
        frontier = np.unique(np.fromiter(starts, np.int64))
        reached[frontier] = 0
        taken = np.zeros(len(self), np.bool_)
        step, cut = 0, False
        while len(frontier):
            leaving = self._leaving(frontier, direction)
            leaving = leaving[wanted[self._influence[leaving]] & ~taken[leaving]]
            if depth is not None and step >= depth:
                cut = bool(len(leaving))
                break
            taken[leaving] = True
            step += 1
            found = np.unique(ends[leaving])
            frontier = found[reached[found] < 0]
            reached[frontier] = step
        seen = np.flatnonzero(reached >= 0)
        order = seen[np.argsort(reached[seen], kind="stable")]
        return Walk({int(id): int(reached[id]) for id in order}, np.flatnonzero(taken), cut)

    def _leaving(self, nodes: Ids, direction: Direction) -> Ids:
        """The edges that a walk takes from some nodes."""
        fields, inside = self._fields
        nodes = np.unique(np.concatenate([nodes, inside[fields.of(nodes)]]))
        if direction is Direction.UPSTREAM:
            return self._by_target.of(np.unique(np.concatenate([nodes, self._wholes(nodes)])))
        tables = np.unique(self.dataset_of[nodes[self._whole_of[nodes] == nodes]])
        nodes = np.unique(np.concatenate([nodes, self._members.of(tables)]))
        taken = self._by_source.of(nodes)
        by_table = self._by_source.of(np.setdiff1d(self._wholes(nodes), nodes))
        return np.concatenate([taken, by_table[self._influence[by_table] == _VALUE]])

    def _wholes(self, nodes: Ids) -> Ids:
        """The nodes of the whole tables that columns belong to, where there are such nodes."""
        wholes = np.unique(self._whole_of[nodes])
        return wholes[wholes >= 0]

    @cached_property
    def dataset_of(self) -> Ids:
        """The number of each node's dataset, as `datasets` are numbered."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(dataset, len(numbers)) for dataset, _ in self.nodes], np.int64)

    @cached_property
    def _members(self) -> "_Rows":
        return _Rows(self.dataset_of, len(self._in_dataset))

    @cached_property
    def _whole_of(self) -> Ids:
        return np.array([self._ids.get((dataset, WHOLE), -1) for dataset, _ in self.nodes], np.int64)

    @cached_property
    def _fields(self) -> tuple["_Rows", Ids]:
        """For each struct what is inside it, and for each field what it is inside of."""
        pairs: list[tuple[int, int]] = []
        for id, (dataset, name) in enumerate(self.nodes):
            for at, char in enumerate(name):
                outer = self._ids.get((dataset, name[:at])) if char in ".[" else None
                if outer is not None:
                    pairs += [(id, outer), (outer, id)]
        both = np.array(pairs, np.int64).reshape(-1, 2)
        return _Rows(both[:, 0], len(self.names)), both[:, 1]


class _Rows:
    """For each node, the positions of its entries: compressed sparse rows."""

    def __init__(self, nodes: Ids, count: int) -> None:
        self._order = np.argsort(nodes, kind="stable")
        self._starts = np.searchsorted(nodes[self._order], np.arange(count + 1))

    def of(self, nodes: Ids) -> Ids:
        """The entries of all of some nodes."""
        starts, lengths = self._starts[nodes], self._starts[nodes + 1] - self._starts[nodes]
        before = np.cumsum(lengths) - lengths
        at = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
        return self._order[at]


def _numbered(edges: pa.Table) -> tuple[pa.Array, tuple[Ids, Ids]]:
    """The distinct ends of edges in order of name, and each edge's ends by number."""
    joined = [
        pc.binary_join_element_wise(edges.column(dataset), edges.column(column), _SEPARATOR)
        for dataset, column in (("source", "source_column"), ("target", "target_column"))
    ]
    both = pa.chunked_array([chunk for one in joined for chunk in one.chunks], pa.string())
    encoded = (
        both.combine_chunks().dictionary_encode() if len(both) else pa.array([], pa.string()).dictionary_encode()
    )
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ids = rank[encoded.indices.to_numpy()]
    return encoded.dictionary.take(pa.array(order)), (ids[: edges.num_rows], ids[edges.num_rows :])


class Neighbours:
    """The neighbours of every node, by edges of some kinds (default: all)."""

    def __init__(self, index: EdgeIndex, kinds: Collection[Kind] = tuple(Kind)) -> None:
        self._names = list(index.datasets)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._rows = _of_kinds(index, kinds)
        nothing = np.zeros(0, np.int64)
        of = index.dataset_of if self._names else nothing
        self._sources, self._targets = of[index.sources[self._rows]], of[index.targets[self._rows]]
        count = max(1, len(self._names))
        pairs = np.unique(self._sources * count + self._targets)
        self._up: dict[int, set[str]] = {}
        self._down: dict[int, set[str]] = {}
        for source, target in zip((pairs // count).tolist(), (pairs % count).tolist()):
            if source != target:
                self._up.setdefault(target, set()).add(self._names[source])
                self._down.setdefault(source, set()).add(self._names[target])

    def upstream(self, dataset: str) -> set[str]:
        """The datasets that one is made of, in one step."""
        return self._up.get(self._numbers.get(dataset, -1), set())

    def downstream(self, dataset: str) -> set[str]:
        """The datasets that are made of one, in one step."""
        return self._down.get(self._numbers.get(dataset, -1), set())

    def between(self, datasets: Iterable[str]) -> Ids:
        """The rows of the index whose both ends are among some datasets."""
        wanted = np.zeros(len(self._names) + 1, np.bool_)
        wanted[[self._numbers[name] for name in datasets if name in self._numbers]] = True
        return self._rows[wanted[self._sources] & wanted[self._targets]]


def _of_kinds(index: EdgeIndex, kinds: Collection[Kind]) -> Ids:
    if set(kinds) == set(Kind):
        return np.arange(len(index), dtype=np.int64)
    values = {kind.value for kind in kinds}
    codes = index.edges.column("kind").combine_chunks().dictionary_encode()
    chosen = np.array([value in values for value in codes.dictionary.to_pylist()], np.bool_)
    return np.flatnonzero(chosen[codes.indices.to_numpy()]) if len(chosen) else np.zeros(0, np.int64)
