"""Putting tags on columns: words such as `email` that `pii` follows through the graph."""

from collections.abc import Iterable, Sequence

from headwater.graph.facts import Facts
from headwater.graph.questions import LineageGraph, Node
from headwater.graph.selector import matching
from headwater.graph.store import Change, GraphStore
from headwater.graph.tables import COLUMNS, WHOLE


def tag_columns(store: GraphStore, names: Iterable[str], tags: Sequence[str], *, remove: bool = False) -> list[Node]:
    """Put tags on columns, or take them off; names may be patterns. Returns the columns that have changed.
    RAISES: NotFoundError when a name means nothing."""
    graph = LineageGraph(store.state())
    nodes = {Node(*graph.index.node(id)) for name in names for id in matching(graph.index, name)}
    there = {
        Node(row["dataset"], row["column"]): row["tags"] or []
        for row in graph.state.read(COLUMNS, ["dataset", "column", "tags"]).to_pylist()
    }
    facts = Facts()
    changed = []
    for node in sorted(nodes):
        before = there.get(node, [])
        after = [tag for tag in before if tag not in tags] if remove else sorted({*before, *tags})
        if node.column != WHOLE and after != sorted(before):
            facts.add(COLUMNS, dataset=node.dataset, column=node.column, tags=after)
            changed.append(node)
    if changed:
        store.apply(Change(facts, record={"kind": "tag", "sources": list(tags)}))
    return changed
