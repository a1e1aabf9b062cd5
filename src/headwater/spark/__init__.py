"""Headwater on Spark.

The public names are imported on first use: PySpark is heavy.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.spark.agent.observe import observe
    from headwater.spark.explain import explain_lineage, lineage
    from headwater.spark.lake import connect

_PUBLIC = {
    "connect": "headwater.spark.lake",
    "explain_lineage": "headwater.spark.explain",
    "lineage": "headwater.spark.explain",
    "observe": "headwater.spark.agent.observe",
}

__all__ = ["connect", "explain_lineage", "lineage", "observe"]


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module `headwater.spark` has no attribute `{name}`")
    return getattr(import_module(_PUBLIC[name]), name)
