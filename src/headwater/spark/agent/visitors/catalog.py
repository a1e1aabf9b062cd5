"""Every visitor and builder that comes with Headwater, registered."""

from headwater.spark.agent.visitors import changes, inputs, outputs, streams, v2
from headwater.spark.agent.visitors.visitor import builder_classes, visitor_classes

MODULES = (inputs, outputs, changes, v2, streams)

__all__ = ["MODULES", "builder_classes", "visitor_classes"]
