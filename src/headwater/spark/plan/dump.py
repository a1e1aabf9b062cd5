"""From a plan in Spark's JVM to a `Plan`: the seam between Catalyst and Python.

One call to our `PlanDump.java` (and what it extends) writes the whole plan as JSON: a plan of 400 stacked
projections takes some 30 ms and 70 KB, where Spark's own `toJSON` needs seconds and megabytes. The JSON is

    {"nodes": [{"class", "children": [number, …], "fields": {name: value}, "origin": PLACE}, …],
     "outputs": {number: [[exprId, name, type], …]}, "texts": [SQL, …], "truncated": false}

with the root first. Fields are those of Spark's case class; a plan among them is `{"plan": number}`, the name of a
table `{"table": [parts]}`, a table of the session catalog the same with `type`, `provider`, `location`, `schema`,
files `{"kind": "HadoopFsRelation", "paths", "format", "index"}`, a schema `{"schema": [[name, type]]}`, anything else
of no use to lineage `{"kind": class}`.
"""

from collections.abc import Callable
from functools import cache, partial
from graphlib import TopologicalSorter
from typing import Any

import msgspec
from pyspark import SparkContext

from headwater.errors import EngineError, MissingDependencyError
from headwater.spark.janino import java_source, shared_object
from headwater.spark.plan.node import Plan, PlanColumn, PlanNode
from headwater.spark.plan.walk import walk_plan

MOST_CHARACTERS = 4_000_000
TIME_LIMIT = 5.0
SOURCES = ("Writer", "Tables", "Expressions", "PlanDump")


def dump_plan(
    context: SparkContext, plan: Any, *, most_characters: int = MOST_CHARACTERS, time_limit: float = TIME_LIMIT
) -> Plan:
    """Read a logical plan, or the analyzed one of an execution.

    What exceeds the limits is left out and said in `Plan.truncated`; its leaves are kept.

    A Spark that cannot compile the reader is asked call by call, for operators and tables only.
    """
    try:
        shared = shared_dumper(context)
    except (MissingDependencyError, EngineError):
        return walk_plan(plan)
    limits = most_characters, int(time_limit * 1000)

    @cache
    def numbered() -> Any:  # few plans are asked for more than their dump; a second one has the same numbers
        dumper = shared.fresh()
        dumper.dump(plan, *limits)
        return dumper

    found = read_dump(shared.dumpOnce(plan, *limits), lambda number: numbered().plan(number))
    if not found.truncated:
        return found
    dumper = shared.fresh()  # where a dump ends, and so what it numbers, depends on the time
    return read_dump(dumper.dump(plan, *limits), dumper.plan)


def describe_table(context: SparkContext, table: Any) -> dict[str, Any]:
    """A table of a catalog in one call, as `PlanDump.describe` writes it. It may hold a password: not to be shown.

    RAISES: MissingDependencyError or EngineError where Spark cannot compile.
    """
    described: dict[str, Any] = msgspec.json.decode(dumper_of(context).describe(table))
    return described


def dumper_of(context: SparkContext) -> Any:
    """The `PlanDump` of a Spark. RAISES: MissingDependencyError or EngineError where Spark cannot compile."""
    return shared_dumper(context).fresh()


def shared_dumper(context: SparkContext) -> Any:
    """The one that makes others, and dumps of which nothing is kept. RAISES: as `dumper_of`."""
    return shared_object(context, java_source(__package__, *SOURCES), "headwater.plan.PlanDump")


def read_dump(text: str | bytes, live: Callable[[int], Any]) -> Plan:
    """The plan of a dump. RAISES: EngineError when it is not one: no node of a plan is below itself."""
    try:
        dumped = msgspec.json.decode(text)
        below = {at: each["children"] for at, each in enumerate(dumped["nodes"])}
        are_numbers = all(type(child) is int and child >= 0 for children in below.values() for child in children)
        if not are_numbers or not all(isinstance(each["class"], str) for each in dumped["nodes"]):
            raise EngineError("the dump of a plan has a node without a class, or a child without a number")
        TopologicalSorter(below).prepare()  # a node may be below several, but not below itself
        return build_plan(dumped, live)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise EngineError(f"the dump of a plan is not JSON: {err}") from err
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as err:
        raise EngineError(f"the dump of a plan has another form: {type(err).__name__}: {err}") from err


def build_plan(dumped: dict[str, Any], live: Callable[[int], Any]) -> Plan:
    """The nodes of a dump; `live` gives the plan in the JVM behind a number."""
    nodes = [PlanNode(_class(each["class"]), live=partial(live, at)) for at, each in enumerate(dumped["nodes"])]
    for node, each in zip(nodes, dumped["nodes"]):
        node.children = tuple(nodes[at] for at in each["children"])
        node.fields = {name: _linked(value, nodes) for name, value in each["fields"].items()}
        node.origin = each.get("origin")
    for number, columns in dumped["outputs"].items():
        nodes[int(number)].output = tuple(PlanColumn(*column) for column in columns)
    return Plan(nodes[0], tuple(dumped["texts"]), dumped["truncated"])


def _class(name: str) -> str:
    """The name of a command as open source has it: Databricks calls its own `MergeIntoCommandEdge`."""
    return name.removesuffix("Edge") if name.endswith("CommandEdge") else name


def _linked(value: Any, nodes: list[PlanNode]) -> Any:
    """A field with the numbers of plans replaced by the plans, in place."""
    if isinstance(value, dict):
        if "plan" in value:
            return nodes[value["plan"]]
        if "kind" in value:
            return {name: _linked(each, nodes) for name, each in value.items()}
        return value
    if isinstance(value, list):
        if len(value) == 3 and value[0] == "?":
            value[2] = nodes[value[2]]
            return value
        for at, each in enumerate(value):
            if isinstance(each, list | dict):
                value[at] = _linked(each, nodes)
    return value
