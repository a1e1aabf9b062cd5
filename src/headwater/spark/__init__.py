"""Headwater on Spark.

The public names are imported on first use: PySpark is heavy.
"""

from typing import TYPE_CHECKING

from headwater.lazy import on_first_use

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

__getattr__ = on_first_use(__name__, _PUBLIC)
