"""Lineage kept in the lake, and the questions it answers.
The public names are imported on first use."""

from typing import TYPE_CHECKING

from headwater.lazy import on_first_use

if TYPE_CHECKING:
    from headwater.graph.compare import diff_states, drift
    from headwater.graph.diff import diff_facts
    from headwater.graph.logged import table_drift
    from headwater.graph.questions import Answer, LineageGraph
    from headwater.graph.steps import Node, Step
    from headwater.graph.store import GraphChange, GraphState, GraphStore
    from headwater.graph.versions import stale, why

__all__ = [
    "Answer",
    "GraphChange",
    "GraphState",
    "GraphStore",
    "LineageGraph",
    "Node",
    "Step",
    "diff_facts",
    "diff_states",
    "drift",
    "stale",
    "table_drift",
    "why",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Answer": "headwater.graph.questions",
        "GraphChange": "headwater.graph.store",
        "GraphState": "headwater.graph.store",
        "GraphStore": "headwater.graph.store",
        "LineageGraph": "headwater.graph.questions",
        "Node": "headwater.graph.steps",
        "Step": "headwater.graph.steps",
        "diff_facts": "headwater.graph.diff",
        "diff_states": "headwater.graph.compare",
        "drift": "headwater.graph.compare",
        "stale": "headwater.graph.versions",
        "table_drift": "headwater.graph.logged",
        "why": "headwater.graph.versions",
    },
)
