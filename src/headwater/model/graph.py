"""A directed graph in memory: what is upstream, what is downstream, and by which way.
Nodes are any hashable facts (tables, columns); links carry one payload each. Every walk keeps a visited set, so
cycles and diamonds cost no more than their size."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

N = TypeVar("N", bound=Hashable)
P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Link(Generic[N, P]):
    """One arrow, from what is used to what is made."""

    source: N
    target: N
    payload: P


class Graph(Generic[N, P]):
    """An append-only directed multigraph.

    >>> graph = Graph([Link("raw", "clean", 1), Link("clean", "report", 2)])
    >>> graph.upstream("report"), graph.downstream("raw", depth=1)
    ({'clean': 1, 'raw': 2}, {'clean': 1})
    >>> [link.payload for link in graph.path("raw", "report")]
    [1, 2]
    """

    def __init__(self, links: Iterable[Link[N, P]] = ()) -> None:
        self._out: dict[N, list[Link[N, P]]] = {}
        self._in: dict[N, list[Link[N, P]]] = {}
        for link in links:
            self.add(link)

    def add(self, link: Link[N, P]) -> None:
        """Add an arrow, and its ends if they are new."""
        self.add_node(link.source)
        self.add_node(link.target)
        self._out[link.source].append(link)
        self._in[link.target].append(link)

    def add_node(self, node: N) -> None:
        """Add a node that may have no arrows."""
        self._out.setdefault(node, [])
        self._in.setdefault(node, [])

    def __contains__(self, node: N) -> bool:
        return node in self._out

    def __len__(self) -> int:
        return len(self._out)

    def __iter__(self) -> Iterator[N]:
        return iter(self._out)

    @property
    def links(self) -> Iterator[Link[N, P]]:
        """All arrows, grouped by source in order of arrival."""
        return (link for links in self._out.values() for link in links)

    def upstream(self, node: N, *, depth: int | None = None) -> dict[N, int]:
        """Return what a node is made of, nearest first, with the distance of each. The node itself is not among
        them."""
        return self._walk(node, self._in, lambda link: link.source, depth)

    def downstream(self, node: N, *, depth: int | None = None) -> dict[N, int]:
        """Return what is made of a node, nearest first, with the distance of each. The node itself is not among
        them."""
        return self._walk(node, self._out, lambda link: link.target, depth)

    def _walk(
        self, start: N, links: Mapping[N, list[Link[N, P]]], other_end: Callable[[Link[N, P]], N], depth: int | None
    ) -> dict[N, int]:
        found = {start: 0}
        queue = deque([start])
        while queue:
            node = queue.popleft()
            distance = found[node]
            if distance == depth:
                continue
            for link in links.get(node, ()):
                end = other_end(link)
                if end not in found:
                    found[end] = distance + 1
                    queue.append(end)
        del found[start]
        return found

    def path(self, source: N, target: N) -> list[Link[N, P]] | None:
        """A shortest way between two nodes; empty when they are one, None when there is no way."""
        came_by: dict[N, Link[N, P] | None] = {source: None}
        queue = deque([source])
        while queue and target not in came_by:
            for link in self._out.get(queue.popleft(), ()):
                if link.target not in came_by:
                    came_by[link.target] = link
                    queue.append(link.target)
        if target not in came_by:
            return None
        way: list[Link[N, P]] = []
        last = came_by[target]
        while last is not None:
            way.append(last)
            last = came_by[last.source]
        return way[::-1]
