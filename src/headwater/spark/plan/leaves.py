"""The leaves of a plan, and operators that are opaque."""

from headwater.model import relation as rel
from headwater.spark.plan.lowering import LoweredNode, PlanLowering, lowers
from headwater.spark.plan.node import PlanNode
from headwater.spark.plan.relations import branch, grouped

CHECKPOINT, UNSEEN = "<checkpoint>", "<RDD>"
"""The names of tables that stand for rows of an RDD: those of a checkpoint that was seen, those of no source."""


@lowers("Range", "OneRowRelation", "LocalRelation", "CommandResult")
def lower_constant(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    """Rows that come from no stored table."""
    return LoweredNode(rel.Values(tuple(rel.Attribute(column.id, column.name) for column in node.output), ()))


@lowers("LogicalRDD", "ExternalRDD")
def lower_rdd(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    """Rows of an RDD: those of an earlier plan with the same ids, or all of the files that it was read from."""
    earlier = lowering.taken_up(node)
    if earlier is not None:
        return earlier
    tables = lowering.tables_of(node)
    if tables and tables[0].parts[0] == CHECKPOINT:  # its columns go by their places
        attributes = tuple(rel.Attribute(column.id, str(at)) for at, column in enumerate(node.output))
        return LoweredNode(rel.Scan(tables[0], attributes, resolution=rel.Resolution.IMPORTED))
    for table in [table for table in tables if table.parts[0] == UNSEEN]:
        lowering.note(f"rows come from a `{table.name}`, and where it has them from is not known")
    tables = tuple(table for table in tables if table.parts[0] != UNSEEN)
    if not tables:
        return lower_constant(lowering, node, below)
    inputs = []
    for table in tables:
        lowering.note(f"columns of `{table}` cannot be told apart behind an RDD")
        every = rel.Attribute(lowering.fresh(), rel.WILDCARD)
        inputs.append(rel.Branch(rel.Scan(table, (every,), resolution=rel.Resolution.IMPORTED), (every.id,)))
    return LoweredNode(_opaque("rdd", node, tuple(inputs)))


@lowers(
    *("MapInPandas", "MapInArrow", "PythonMapInArrow", "ScriptTransformation", "AttachDistributedSequence"),
    *("FlatMapGroupsInPandas", "FlatMapGroupsInArrow", "FlatMapGroupsInPandasWithState"),
    *(
        "FlatMapCoGroupsInPandas",
        "FlatMapCoGroupsInArrow",
        "TransformWithStateInPandas",
        "TransformWithStateInPySpark",
    ),
)
def lower_function(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    """A function from rows to rows: every column may depend on every column."""
    function = node.get("functionExpr")
    name = function[1] if isinstance(function, list) else node.name
    lowering.note(
        f"the body of `{name}` is not read: each of its columns may come from any column it was given",
        hint="select only the columns it needs before the call",
    )
    below = tuple(_by_groups(lowering, node, at, each) for at, each in enumerate(below))
    inputs = tuple(branch(lowering, child, each) for child, each in zip(node.children, below))
    return LoweredNode(_opaque(name, node, inputs))


def _by_groups(lowering: PlanLowering, node: PlanNode, at: int, below: LoweredNode) -> LoweredNode:
    """The input of a function over groups, told apart by the keys."""
    keys = node.get("groupingAttributes")
    if keys is None:
        counts = (node.get("leftGroupingLen"), node.get("rightGroupingLen"))
        count = counts[at] if at < len(counts) else None
        keys = [column.id for column in node.children[at].output[: count or 0]]
    keys = [key for key in keys if isinstance(key, int)]
    return grouped(lowering, keys, below) if keys else below


@lowers("?")
def lower_unknown(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    """An operator we have no rule for. A leaf is a table if it can be named; what makes no columns is passed on."""
    if not node.children:
        return _leaf(lowering, node)
    given = {column.id for child in node.children for column in child.output}
    made = [column for column in node.output if column.id not in given]
    if not made and len(below) == 1:
        return below[0]
    if node.output:
        lowering.note(f"the operator `{node.name}` is not known: each of its columns may come from any of its inputs")
    inputs = tuple(branch(lowering, child, each) for child, each in zip(node.children, below))
    attributes = tuple(rel.Attribute(column.id, column.name) for column in made)
    renamed = {id: column for each in below for id, column in each.renamed.items()}
    return LoweredNode(rel.TableFunction(node.name, attributes, (), inputs), renamed)


def _leaf(lowering: PlanLowering, node: PlanNode) -> LoweredNode:
    """A stored table; several (many folders read at once) are a union of tables that look alike."""
    tables = lowering.tables_of(node)
    attributes = tuple(rel.Attribute(column.id, column.name) for column in node.output)
    if not tables:
        return LoweredNode(rel.Values(attributes, ()))
    if len(tables) == 1:
        return LoweredNode(rel.Scan(tables[0], attributes, resolution=rel.Resolution.IMPORTED))
    branches = []
    for table in tables:
        own = tuple(rel.Attribute(lowering.fresh(), attribute.name) for attribute in attributes)
        scan = rel.Scan(table, own, resolution=rel.Resolution.IMPORTED)
        branches.append(rel.Branch(scan, tuple(attribute.id for attribute in own)))
    return LoweredNode(rel.SetOp("union", attributes, tuple(branches)))


def _opaque(name: str, node: PlanNode, inputs: tuple[rel.Branch, ...]) -> rel.Relation:
    attributes = tuple(rel.Attribute(column.id, column.name) for column in node.output)
    return rel.TableFunction(name, attributes, (), inputs)
