"""Every operator that has a lowering, registered."""

from headwater.spark.plan import generators, leaves, merges, relations
from headwater.spark.plan.lowering import Lowering, known_operators

MODULES = (relations, generators, leaves, merges)

__all__ = ["MODULES", "Lowering", "known_operators"]
