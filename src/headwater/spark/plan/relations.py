"""The operators of Catalyst that a query is made of, as relations."""

from collections.abc import Sequence
from itertools import zip_longest

from headwater.model import relation as rel
from headwater.spark.plan.expressions import lower_computed, lower_expression
from headwater.spark.plan.lowering import LoweredNode, PlanLowering, lowers
from headwater.spark.plan.node import Encoded, Place, PlanNode
from headwater.text import Span


@lowers(
    *("SubqueryAlias", "View", "GlobalLimit", "LocalLimit", "Offset", "Tail", "Sample", "ResolvedHint"),
    *("Repartition", "RepartitionByExpression", "RebalancePartitions", "EventTimeWatermark", "CollectMetrics"),
    *(
        "ReturnAnswer",
        "LimitAll",
        "WriteFiles",
        "ParameterizedQuery",
        "SupervisingCommand",
        "UpdateEventTimeWatermarkColumn",
    ),
    "CTERelationDef",
)
def pass_on(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    """An operator that neither makes columns nor chooses rows by them."""
    return below[0] if below else LoweredNode(rel.Values((), ()))


@lowers("Project")
def lower_project(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    return _computing(lowering, node.get("projectList") or (), below[0])


@lowers("Window")
def lower_window(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    return _computing(lowering, node.get("windowExpressions") or (), below[0])


def _computing(lowering: PlanLowering, expressions: Sequence[Encoded], below: LoweredNode) -> LoweredNode:
    made = [each for each in expressions if isinstance(each, list) and each[0] == "="]
    if not made:
        return below
    columns = tuple(lower_computed(lowering, each, below.renamed) for each in made)
    return LoweredNode(rel.Project(below.relation, columns), below.renamed)


@lowers("Filter")
def lower_filter(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    condition = node.get("condition")
    lowered = lower_expression(lowering, condition, below[0].renamed)
    span = lowering.places.span(node.get("place"), condition)
    return LoweredNode(rel.Filter(below[0].relation, lowered, span), below[0].renamed)


@lowers("Sort")
def lower_sort(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    order = node.get("order") or ()
    keys = tuple(lower_expression(lowering, each, below[0].renamed) for each in order)
    span = lowering.places.span(None, order[0]) if order else None
    return LoweredNode(rel.Sort(below[0].relation, keys, span), below[0].renamed)


@lowers("Join", "AsOfJoin")
def lower_join(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    left, right = below
    scope = left.renamed | right.renamed
    condition: rel.Expression | None = None
    given = node.get("condition")
    if given is not None:
        condition = lower_expression(lowering, given, scope)
    if node.get("asOfCondition") is not None:
        given = node.get("asOfCondition")
        nearest = lower_expression(lowering, given, scope)
        relation: rel.Relation = rel.Join(
            left.relation, right.relation, nearest, (), lowering.places.span(None, given)
        )
        return LoweredNode(relation if condition is None else rel.Filter(relation, condition), scope)
    span = lowering.places.span(node.get("place"), given)
    return LoweredNode(rel.Join(left.relation, right.relation, condition, (), span), scope)


@lowers("LateralJoin")
def lower_lateral_join(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    (left,) = below
    inner = lowering.subquery(node.get("right")[2], left.renamed)
    scope = left.renamed | inner.renamed
    condition = node.get("condition")
    lowered = None if condition is None else lower_expression(lowering, condition, scope)
    span = lowering.places.span(node.get("place"), condition)
    return LoweredNode(rel.Join(left.relation, inner.relation, lowered, (), span), scope)


# --------------------------------------------------------------------------------------------------- groups


@lowers("Aggregate")
def lower_aggregate(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    scope = below[0].renamed
    keys = []
    for each in node.get("groupingExpressions") or ():
        attribute = rel.Attribute(lowering.fresh(), "")
        span = lowering.places.span(None, each)
        keys.append(rel.Computed(attribute, lower_expression(lowering, each, scope), span))
    made = [each for each in node.get("aggregateExpressions") or () if isinstance(each, list) and each[0] == "="]
    columns = tuple(lower_computed(lowering, each, scope) for each in made)
    return LoweredNode(rel.Aggregate(below[0].relation, tuple(keys), columns), scope)


@lowers("Distinct")
def lower_distinct(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    """SELECT DISTINCT groups by its columns; UNION is one operation, not a union and a grouping."""
    if node.child.name == "Union":
        return below[0]
    return grouped(lowering, [column.id for column in node.child.output], below[0])


@lowers("Deduplicate", "DeduplicateWithinWatermark")
def lower_deduplicate(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    return grouped(lowering, [key for key in node.get("keys") or () if isinstance(key, int)], below[0])


def grouped(lowering: PlanLowering, ids: list[int], below: LoweredNode) -> LoweredNode:
    """Rows told apart by some of their columns, all of which stay as they are."""
    keys = [
        rel.Computed(
            rel.Attribute(lowering.fresh(), ""),
            rel.Ref(lowering.column(id, below.renamed)),
            lowering.places.span(None, id),
        )
        for id in ids
    ]
    return LoweredNode(rel.Aggregate(below.relation, tuple(keys), ()), below.renamed)


@lowers("Expand")
def lower_expand(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    """Several rows per row, one per projection: ROLLUP, CUBE, UNPIVOT. A column is one of its projections."""
    projections = node.get("projections") or []
    columns = []
    for at, id in enumerate(node.get("output") or ()):
        options = [each[at] for each in projections if at < len(each)]
        lowered = tuple(
            lower_expression(lowering, each, below[0].renamed) for each in options if each is not None and each != id
        )
        if lowered:
            span = lowering.places.span(None, options[0])
            columns.append(rel.Computed(lowering.attribute(id), rel.OneOf(lowered), span))
    return LoweredNode(rel.Project(below[0].relation, tuple(columns)), below[0].renamed)


# --------------------------------------------------------------------------------------------- set operations


@lowers("Union", "Intersect", "Except")
def lower_set_operation(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    """The output has the ids of the first branch, so it gets fresh ones."""
    renamed = {column.id: lowering.fresh() for column in node.output}
    attributes = tuple(rel.Attribute(renamed[column.id], column.name) for column in node.output)
    branches = tuple(branch(lowering, child, each) for child, each in zip(node.children, below))
    return LoweredNode(
        rel.SetOp(node.name.lower(), attributes, branches, node.name in ("Intersect", "Except")), renamed
    )


def branch(lowering: PlanLowering, node: PlanNode, lowered: LoweredNode) -> rel.Branch:
    """The columns of a node, in order."""
    return rel.Branch(lowered.relation, tuple(lowering.column(column.id, lowered.renamed) for column in node.output))


# ------------------------------------------------------------------------------------------------------- CTEs


@lowers("WithCTE")
def lower_with(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    ctes: list[rel.Cte] = []
    body = LoweredNode(rel.Values((), ()))
    for child, lowered in zip(node.children, below):
        if child.name == "CTERelationDef":
            columns = tuple(lowering.column(column.id, lowered.renamed) for column in child.child.output)
            ctes.append(rel.Cte(2 * child.get("id"), "", lowered.relation, columns))
        else:
            body = lowered
    return LoweredNode(rel.With(tuple(ctes), body.relation), body.renamed)


@lowers("CTERelationRef")
def lower_reference(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    return _reference(lowering, node, 2 * node.get("cteId"))


@lowers("UnionLoop")
def lower_loop(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    """A recursive CTE: a union of the anchor and of a query that refers to the union."""
    union = lower_set_operation(lowering, node, below)
    id = 2 * node.get("id") + 1
    columns = tuple(union.renamed[column.id] for column in node.output)
    return LoweredNode(rel.With((rel.Cte(id, "", union.relation, columns),), rel.CteRef(id, ())), union.renamed)


@lowers("UnionLoopRef")
def lower_loop_reference(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    return _reference(lowering, node, 2 * node.get("loopId") + 1)


def _reference(lowering: PlanLowering, node: PlanNode, cte: int) -> LoweredNode:
    """The first reference may have the very ids of the definition, so all get fresh ones."""
    renamed = {column.id: lowering.fresh() for column in node.output}
    attributes = tuple(rel.Attribute(renamed[column.id], column.name) for column in node.output)
    return LoweredNode(rel.CteRef(cte, attributes), renamed)


# ----------------------------------------------------------------- changes of rows, as the analyzer rewrites them


@lowers("MergeRows")
def lower_merge_rows(lowering: PlanLowering, node: PlanNode, below: tuple[LoweredNode, ...]) -> LoweredNode:
    """A row becomes what the first instruction that applies makes of it; the conditions decide which that is."""
    ids = [id for id in node.get("output") or () if isinstance(id, int)]
    options: list[list[tuple[Encoded, Place | None]]] = [[] for _ in ids]
    conditions: list[Encoded] = []
    for name in ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions"):
        for instruction, places in zip_longest(node.get(name) or (), node.get(f"places of {name}") or ()):
            condition, *values = instruction[2:]
            conditions.append(condition)
            where = places[-len(values) :] if places and values else ()
            # Split makes two rows of one: the values of both, one after another
            for at, (value, place) in enumerate(zip_longest(values, where)):
                options[at % len(ids)].append((value, place))
    scope = below[0].renamed
    relation = below[0].relation
    for condition in conditions:
        if condition is not None:
            lowered = lower_expression(lowering, condition, scope)
            relation = rel.Filter(relation, lowered, lowering.places.span(None, condition))
    columns = []
    for id, values in zip(ids, options):
        made = tuple(dict.fromkeys(lower_expression(lowering, value, scope) for value, _ in values))
        attribute = rel.Attribute(id, lowering.attribute(id).name)
        if len(made) == 1 and isinstance(made[0], rel.Ref):  # all clauses take a column as it is: UPDATE SET *
            columns.append(rel.Computed(attribute, made[0]))
        else:
            columns.append(rel.Computed(attribute, rel.OneOf(made), _told(lowering, values)))
    return LoweredNode(rel.Project(relation, tuple(columns)), scope)


def _told(lowering: PlanLowering, values: list[tuple[Encoded, Place | None]]) -> Span | None:
    """The expression that stands for a column: one that was computed and has a place, else one that has a place."""
    for value, place in sorted(values, key=lambda each: (each[1] is None, not isinstance(each[0], list))):
        return lowering.places.span(place, value)
    return None
