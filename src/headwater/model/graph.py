"""A directed graph in memory: what is upstream, what is downstream, by which way, and where it turns in circles.

Nodes are any hashable facts (tables, columns); links carry one payload each. Every walk keeps a visited set, so
cycles and diamonds cost no more than their size.
"""

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

    def into(self, node: N) -> list[Link[N, P]]:
        """The arrows that end at a node."""
        return self._in.get(node, [])

    def upstream(self, node: N, *, depth: int | None = None) -> dict[N, int]:
        """What a node is made of, nearest first, with the distance of each. The node itself is not among them."""
        return self._walk(node, self._in, lambda link: link.source, depth)

    def downstream(self, node: N, *, depth: int | None = None) -> dict[N, int]:
        """What is made of a node, nearest first, with the distance of each. The node itself is not among them."""
        return self._walk(node, self._out, lambda link: link.target, depth)

    def _walk(
        self,
        start: N,
        links: Mapping[N, list[Link[N, P]]],
        other_end: Callable[[Link[N, P]], N],
        depth: int | None,
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

    def between(self, source: N, target: N) -> "Graph[N, P]":
        """The part of the graph that lies on any way from `source` to `target`."""
        after = {source, *self.downstream(source)}
        before = {target, *self.upstream(target)}
        kept = after & before
        return Graph(link for link in self.links if link.source in kept and link.target in kept)

    def cycles(self) -> list[list[N]]:
        """The groups of nodes that depend on themselves, each group once (strongly connected components)."""
        return [
            group
            for group in _components(self._out)
            if len(group) > 1 or any(link.target == group[0] for link in self._out[group[0]])
        ]

    def order(self) -> list[N]:
        """All nodes, each after everything it is made of; members of a cycle stand together."""
        return [node for group in reversed(_components(self._out)) for node in group]


def _components(out: Mapping[N, list[Link[N, P]]]) -> list[list[N]]:
    """Tarjan's strongly connected components, without recursion; a group comes before the groups that lead to it."""
    index: dict[N, int] = {}
    low: dict[N, int] = {}
    stack: list[N] = []
    on_stack: set[N] = set()
    groups: list[list[N]] = []
    for root in out:
        if root in index:
            continue
        work = [(root, iter(out[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, links = work[-1]
            for link in links:
                child = link.target
                if child not in index:
                    index[child] = low[child] = len(index)
                    stack.append(child)
                    on_stack.add(child)
                    work.append((child, iter(out[child])))
                    break
                if child in on_stack:
                    low[node] = min(low[node], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    groups.append(_pop_group(stack, on_stack, node))
    return groups


def _pop_group(stack: list[N], on_stack: set[N], root: N) -> list[N]:
    group: list[N] = []
    while not group or group[-1] != root:
        group.append(stack.pop())
        on_stack.discard(group[-1])
    return group[::-1]
