"""Reading a plan call by call, for a Spark that cannot compile: operators and tables, but no expressions.

Each question to the JVM costs some 60 µs, so expressions, of which a plan may have thousands, are left alone. What
there is suffices for the datasets of a plan, not for its columns.
"""

from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark import SparkContext

from headwater.spark.plan.node import Plan, PlanColumn, PlanNode

_MOST = 2000
REASON = "this Spark cannot compile the reader of expressions"


def walk_plan(plan: Any) -> Plan:
    """The operators of a plan, or of the analyzed one of an execution, with fields that name tables and paths."""
    if str(plan.getClass().getName()).endswith("Execution"):
        plan = plan.analyzed()
    return Plan(_node(plan, [0]), truncated=True, reason=REASON)


def _node(plan: Any, count: list[int]) -> PlanNode:
    count[0] += 1
    name = str(plan.getClass().getName()).rstrip("$").rsplit(".", 1)[-1].rsplit("$", 1)[-1]
    node = PlanNode(name, live=lambda: plan)
    if count[0] > _MOST:
        return node
    children = _members(plan.children())
    node.children = tuple(_node(child, count) for child in children)
    ids = {child.hashCode() for child in children}
    for at, field in enumerate(_field_names(plan)):
        value = _value(plan.productElement(at), ids, count)
        if value is not None:
            node.fields[field] = value
    if not children:
        node.output = tuple(
            PlanColumn(int(each.exprId().id()), str(each.name()), str(each.dataType().catalogString()))
            for each in _members(plan.output())
        )
    return node


def _field_names(plan: Any) -> list[str]:
    try:
        return [str(plan.productElementName(at)) for at in range(plan.productArity())]
    except Py4JError:  # the Scala of Spark 3.5 does not keep them with the object
        reflection: Any = SparkContext._jvm
        reflection = reflection.org.apache.spark.sql.catalyst.ScalaReflection
        return [str(each) for each in _members(reflection.getConstructorParameterNames(plan.getClass()))]


def _value(value: Any, children: set[int], count: list[int]) -> Any:
    """A field, when it is one of those that say what a command is about."""
    if not isinstance(value, JavaObject):
        return value if isinstance(value, str | bool) else None
    kind = str(value.getClass().getName())
    if kind == "scala.Some":
        return _value(value.get(), children, count)
    if kind.endswith("catalyst.TableIdentifier"):
        return {"table": [str(part) for part in _members(value.nameParts())]}
    if kind.endswith("catalog.CatalogTable"):
        return _value(value.identifier(), children, count)
    if kind.endswith("connector.catalog.IdentifierImpl"):
        return {"table": [*map(str, value.namespace()), str(value.name())]}
    if kind.endswith((".Path", ".SaveMode")):
        return str(value.toString())
    if ".plans.logical." in kind or kind.endswith(("Relation", "Command")):
        return None if value.hashCode() in children or not _is_plan(value) else _node(value, count)
    return None


def _is_plan(value: Any) -> bool:
    return any(str(method.getName()) == "resolveOperators" for method in value.getClass().getMethods())


def _members(collection: Any) -> list[Any]:
    iterator, found = collection.iterator(), []
    while iterator.hasNext():
        found.append(iterator.next())
    return found
