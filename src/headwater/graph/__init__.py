"""Lineage kept in the lake, and the questions it answers."""

from headwater.graph.compare import diff_facts, diff_states, drift
from headwater.graph.logged import table_drift
from headwater.graph.questions import Answer, LineageGraph, Node, Step
from headwater.graph.store import Change, GraphState, GraphStore
from headwater.graph.versions import stale, why

__all__ = [
    "Answer",
    "Change",
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
