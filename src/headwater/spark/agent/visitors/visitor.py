"""Visitors and builders: partial functions from what Spark runs to datasets.

A **visitor** is local: it sees one node of a plan. It says which nodes it is for by its type parameter,

    class LoadDataCommandVisitor(QueryPlanVisitor[Literal["LoadDataCommand"], PlanOutput]):
        def apply(self, node): ...

or by the decorator `visits`, and `is_defined_at` follows from that; override it to look at more than the class. A
**builder** is global: it sees the whole execution, is asked once per event, and can look at several plans at once.
Ours know the nodes that they look for (`nodes`, `build`), so that what they find can be joined with columns.

The first visitor, or builder with nodes, that is defined at a node answers for it. Those of installed packages come
before ours: they are entry points of the group `headwater.spark.visitors`.
"""

from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import entry_points
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, get_args, get_origin

from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.datasets import PlanDataset, PlanOutput
from headwater.spark.plan.node import PlanNode

N = TypeVar("N", bound=str)
D = TypeVar("D", PlanDataset, PlanOutput)

GROUP = "headwater.spark.visitors"


class QueryPlanVisitor(Generic[N, D]):
    """Turns one kind of node into datasets.

    `makes` is PlanDataset for a visitor of inputs, PlanOutput for one of outputs.
    """

    nodes: ClassVar[frozenset[str]] = frozenset()
    makes: ClassVar[type] = PlanDataset

    def __init__(self, context: OpenLineageContext) -> None:
        self.context = context

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is QueryPlanVisitor:
                names, made = get_args(base)
                cls.nodes = frozenset(get_args(names)) if get_origin(names) is Literal else cls.nodes
                cls.makes = made if isinstance(made, type) else cls.makes

    def is_defined_at(self, node: PlanNode) -> bool:
        """Return whether this visitor is for a node: by the name of its class, unless overridden."""
        return node.name in self.nodes

    def apply(self, node: PlanNode) -> list[D]:
        """The datasets of a node. REQUIRES: `is_defined_at(node)`."""
        raise NotImplementedError


class DatasetBuilder(Generic[D]):
    """Turns a whole execution into datasets; `execution` is Spark's QueryExecution, `plan` its analyzed plan.

    Override `is_defined_at` and `apply`; or name the `nodes` of a plan that it is for, and override `build`.
    """

    nodes: ClassVar[frozenset[str]] = frozenset()
    makes: ClassVar[type] = PlanDataset

    def __init__(self, context: OpenLineageContext) -> None:
        self.context = context

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is DatasetBuilder and isinstance(get_args(base)[0], type):
                cls.makes = get_args(base)[0]

    def is_defined_at(self, plan: PlanNode) -> bool:
        """Return true if this builder is for an execution with this plan: by its nodes, unless overridden."""
        return any(node.name in self.nodes for node in plan.walk())

    def apply(self, plan: PlanNode, execution: Any) -> list[D]:
        """The datasets of an execution. REQUIRES: `is_defined_at(plan)`."""
        return [found for node in plan.walk() if node.name in self.nodes for found in self.build(node)]

    def build(self, node: PlanNode) -> list[D]:
        """The datasets of one of its nodes."""
        raise NotImplementedError


class NodesOfBuilder(QueryPlanVisitor[Any, Any]):
    """A builder that names its nodes, in the chain of visitors."""

    def __init__(self, builder: DatasetBuilder[Any]) -> None:
        super().__init__(builder.context)
        self.builder = builder

    def is_defined_at(self, node: PlanNode) -> bool:
        return node.name in self.builder.nodes

    def apply(self, node: PlanNode) -> list[Any]:
        return self.builder.build(node)


class Spark3DatasetBuilderFactory:
    """The builders that there are. (The name is the one that users of OpenLineage's agent know.)"""

    @staticmethod
    def get_input_builders(context: OpenLineageContext) -> list[DatasetBuilder[PlanDataset]]:
        """Builders of what is read, those of installed packages first."""
        return [made(context) for made in builder_classes() if made.makes is PlanDataset]

    @staticmethod
    def get_output_builders(context: OpenLineageContext) -> list[DatasetBuilder[PlanOutput]]:
        """Builders of what is written, those of installed packages first."""
        return [made(context) for made in builder_classes() if made.makes is PlanOutput]


_VISITORS: list[type[QueryPlanVisitor[Any, Any]]] = []
_BUILDERS: list[type[DatasetBuilder[Any]]] = []

V = TypeVar("V", bound=type[QueryPlanVisitor[Any, Any]])
B = TypeVar("B", bound=type[DatasetBuilder[Any]])
Visit: TypeAlias = Callable[[OpenLineageContext, PlanNode], list[Any]]


def register(visitor: V) -> V:
    """Add a visitor to those that every agent has."""
    _VISITORS.append(visitor)
    return visitor


def register_builder(builder: B) -> B:
    """Add a builder to those that every agent has."""
    _BUILDERS.append(builder)
    return builder


def visits(*names: str, makes: type[PlanDataset] | type[PlanOutput] = PlanOutput) -> Callable[[Visit], Visit]:
    """Make a visitor of a function of the context and the node."""

    def decorate(function: Visit) -> Visit:
        def apply(self: QueryPlanVisitor[Any, Any], node: PlanNode) -> list[Any]:
            return function(self.context, node)

        made = type(function.__name__, (QueryPlanVisitor,), {"apply": apply, "__doc__": function.__doc__})
        made.nodes, made.makes = frozenset(names), makes  # type: ignore[attr-defined]
        _VISITORS.append(made)
        return function

    return decorate


def visitor_classes() -> list[type[QueryPlanVisitor[Any, Any]]]:
    """Every visitor, those of installed packages first."""
    return [*_from_entry_points(QueryPlanVisitor), *_VISITORS]


def builder_classes() -> list[type[DatasetBuilder[Any]]]:
    """Every builder, those of installed packages first."""
    return [*_from_entry_points(DatasetBuilder), *_BUILDERS]


@cache
def _from_entry_points(kind: type) -> tuple[Any, ...]:
    loaded = [point.load() for point in entry_points(group=GROUP)]
    return tuple(found for found in loaded if isinstance(found, type) and issubclass(found, kind))


def candidates(visitors: list[QueryPlanVisitor[Any, D]]) -> Callable[[PlanNode], list[QueryPlanVisitor[Any, D]]]:
    """A function that gives the visitors that may be defined at a node: those of its name, and those that look."""
    by_name = (QueryPlanVisitor.is_defined_at, NodesOfBuilder.is_defined_at)
    found: dict[str, list[QueryPlanVisitor[Any, D]]] = {}

    def at(node: PlanNode) -> list[QueryPlanVisitor[Any, D]]:
        if node.name not in found:
            looks = (type(each).is_defined_at not in by_name for each in visitors)
            found[node.name] = [each for each, every in zip(visitors, looks) if every or each.is_defined_at(node)]
        return found[node.name]

    return at


class PlanUtils:
    """Walking plans with visitors. (The name is the one that users of OpenLineage's agent know.)"""

    @staticmethod
    def visit(visitors: Iterable[QueryPlanVisitor[Any, D]], plan: PlanNode) -> list[tuple[PlanNode, D]]:
        """Apply to every node of a plan, subqueries too, the first visitor that is defined at it."""
        chain = list(visitors)
        return [(node, found) for node in plan.walk() for found in PlanUtils.visit_node(chain, node)]

    @staticmethod
    def visit_node(visitors: Iterable[QueryPlanVisitor[Any, D]], node: PlanNode) -> list[D]:
        """Return what the first visitor that is defined at a node makes of it; nothing when there is none."""
        for visitor in visitors:
            if visitor.is_defined_at(node):
                return visitor.apply(node)
        return []
