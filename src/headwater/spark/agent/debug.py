"""The facet `debug`: what helps to find out why an event is not as expected. It is sent when it is asked for.

The form is that of OpenLineage's Spark agent; nodes of the plan are named by their classes, without expressions.
"""

from typing import Any

import msgspec
from pyspark import SparkContext

from headwater.events.event import EventType
from headwater.events.facet import Facets, plain_facet
from headwater.spark.agent.execution import SparkSQLExecutionContext
from headwater.spark.agent.options import AgentOptions
from headwater.spark.plan.node import PlanNode

_SYSTEM = {"javaVersion": "java.version", "javaVendor": "java.vendor", "osName": "os.name", "osVersion": "os.version"}


def surroundings(context: SparkContext, version: str) -> dict[str, Any]:
    """Return what is the same for every event of an application."""
    jvm: Any = context._jvm
    jars = context._jsc.sc().listJars()
    versions = {
        "sparkVersion": str(context.version),
        "openLineageVersion": f"headwater {version}",
        "scalaVersion": str(jvm.scala.util.Properties.versionNumberString()),
        "jars": [str(jars.apply(at)) for at in range(jars.size())],
    }
    system = {name: str(jvm.java.lang.System.getProperty(key)) for name, key in _SYSTEM.items()}
    return {"classpath": versions, "system": system}


def debug_facet(
    around: dict[str, Any] | None, options: AgentOptions, type: EventType, run: SparkSQLExecutionContext
) -> Facets:
    """The facet of one event; nothing when it is not asked for."""
    missing = not run.outputs or (options.debug == "any-missing" and not run.inputs)
    if around is None or not (options.debug == "always" or (type is EventType.COMPLETE and missing)):
        return {}
    nodes = [each for lineage in run.lineages for each in _nodes(lineage.plan.root)]
    said = [issue.message for issue in run.issues] + run.failures
    facet = plain_facet({**around, "logicalPlan": {"nodes": nodes}, "logs": said})
    size = len(msgspec.json.encode(facet)) / 1024
    if size > options.debug_kilobytes:
        facet = plain_facet({"logs": [f"the debug facet has {size:.0f} kB, more than {options.debug_kilobytes}"]})
    return {"debug": facet}


def _nodes(root: PlanNode) -> list[dict[str, Any]]:
    ids = {id(node): f"{node.name}@{at}" for at, node in enumerate(root.walk())}
    return [
        {"id": ids[id(node)], "desc": node.name, "children": [ids[id(child)] for child in node.children]}
        for node in root.walk()
    ]
