"""Words of people in the graph: tags on columns such as `email`, which `pii` follows, and what a table or column is.
The words on a table as a whole stand in the row of its column `*`; its owner is the tag `owner:NAME`."""

from collections.abc import Iterable, Sequence

from headwater.errors import UsageError
from headwater.graph.facts import OWNER, Facts
from headwater.graph.questions import LineageGraph
from headwater.graph.selector import matching
from headwater.graph.steps import Node
from headwater.graph.store import GraphChange, GraphState, GraphStore
from headwater.graph.tables import COLUMNS, WHOLE


def describe(store: GraphStore, name: str, text: str | None, *, owner: str | None = None) -> Node:
    """Say what a table or column is, and whose a table is; returns what was described.
    RAISES: NotFoundError with the nearest name, UsageError for the owner of a column."""
    index = LineageGraph(store.state()).index
    node = Node(name, WHOLE) if name in index.datasets else Node(*index.node(matching(index, name)[0]))
    facts = Facts()
    words: dict[str, object] = {} if text is None else {"words": text}
    if owner is not None:
        if node.column != WHOLE:
            raise UsageError("a column has no owner of its own", hint=f"name its table: {node.dataset}")
        words["tags"] = [f"{OWNER}{owner}"]
    facts.add(COLUMNS, dataset=node.dataset, column=node.column, **words)
    store.apply(GraphChange(facts, record={"kind": "describe", "sources": [str(node)]}))
    return node


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
        store.apply(GraphChange(facts, record={"kind": "tag", "sources": list(tags)}))
    return changed


def tagged_tables(state: GraphState, tag: str) -> list[str]:
    """The tables with a tag on them as a whole, or on one of their columns."""
    rows = state.read(COLUMNS, ["dataset", "tags"]).to_pylist()
    return sorted({row["dataset"] for row in rows if tag in (row["tags"] or ())})
