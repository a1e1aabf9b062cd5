"""The writes of a plan, as the writes of the relation tree."""

from collections.abc import Iterator, Sequence

from headwater.model.edges import Kind
from headwater.model.names import TableName
from headwater.model.relation import Assignment, Attribute, Expression, Influence, Ref, Scan, Write
from headwater.spark.plan.expressions import Scope, lower_expression
from headwater.spark.plan.lowering import PlanLowering
from headwater.spark.plan.node import Encoded, PlanNode


def lower_query(
    lowering: PlanLowering, query: PlanNode, *, target: TableName | None = None, statement: str = "SELECT"
) -> Write:
    """A query, written to a table or (without a target) only read."""
    return lower_insert(lowering, query, [column.name for column in query.output], target=target, statement=statement)


def lower_insert(
    lowering: PlanLowering, query: PlanNode, columns: Sequence[str], *, target: TableName | None, statement: str
) -> Write:
    """Column i of the query goes into the column of the target that is named at i."""
    below = lowering.lower(query)
    assignments = tuple(
        Assignment(name, Ref(lowering.column(column.id, below.renamed)))
        for name, column in zip(columns, query.output)
    )
    return Write(statement, target, assignments, (below.relation,))


def lower_delete(lowering: PlanLowering, node: PlanNode, target: TableName) -> Write:
    """DELETE: nothing flows, but the condition decides which rows stay."""
    scan = target_scan(_target(node), target)
    influences = _influences(lowering, [node.get("condition")], Kind.FILTER, {})
    return Write("DELETE", target, (), (), influences, target_scan=scan)


def lower_update(lowering: PlanLowering, node: PlanNode, target: TableName) -> Write:
    """UPDATE: as Spark has it, with assignments, or as Delta Lake has it, with a value for every column."""
    scan = target_scan(_target(node), target)
    assignments = node.get("assignments")
    if assignments is None:
        keys = [attribute.id for attribute in scan.attributes]
        assignments = [
            ["Assignment", "", key, value] for key, value in zip(keys, node.get("updateExpressions") or ())
        ]
    influences = _influences(lowering, [node.get("condition")], Kind.FILTER, {})
    return Write(
        "UPDATE", target, tuple(_assigned(lowering, assignments, {}, scan)), (), influences, target_scan=scan
    )


def lower_copied_update(lowering: PlanLowering, query: PlanNode, target: TableName) -> Write | None:
    """UPDATE rewritten to copy whole files: every column is `if(condition, new, old)`; None for any other query.

    Where the condition has a subquery, Spark makes a union of the rows that change and those that stay.
    """
    made: list[Encoded] = []
    node = query
    while not made:
        if node.name not in ("Project", "Union"):
            return None
        computed = [each for each in node.get("projectList") or () if isinstance(each, list) and each[0] == "="]
        made = [each for each in computed if isinstance(each[3], list) and each[3][0] == "If"]
        node = node.children[0]
    below = lowering.lower(node)
    assignments, conditions = [], []
    for _, _, name, (_, _, condition, new, old), *place in made:
        conditions += [condition] if condition not in conditions else []
        if new != old:
            span = lowering.places.span(place[0] if place else None, new)
            assignments.append(Assignment(name, lower_expression(lowering, new, below.renamed), (), span))
    influences = _influences(lowering, conditions, Kind.FILTER, below.renamed)
    return Write("UPDATE", target, tuple(assignments), (below.relation,), influences)


_ACTIONS = (
    *("matchedActions", "notMatchedActions", "notMatchedBySourceActions"),
    *("matchedClauses", "notMatchedClauses", "notMatchedBySourceClauses"),  # Delta Lake's
)


def lower_merge(lowering: PlanLowering, node: PlanNode, target: TableName) -> Write:
    """MERGE: each action writes; ON and WHEN … AND decide which rows."""
    source = node.get("source") or node.children[1]
    below = lowering.lower(source)
    scan = target_scan(_target(node), target)
    conditions: list[Encoded] = [node.get("mergeCondition") or node.get("condition")]
    assignments: list[Assignment] = []
    for name in _ACTIONS:
        for action in node.get(name) or ():
            parts = action[2:]
            conditions += [part for part in parts if not _is_assignment(part)]
            assignments += _assigned(lowering, [part for part in parts if _is_assignment(part)], below.renamed, scan)
    influences = _influences(lowering, conditions, Kind.MERGE, below.renamed)
    return Write("MERGE", target, tuple(assignments), (below.relation,), influences, target_scan=scan)


def _target(node: PlanNode) -> PlanNode:
    """The table that a change of rows is about: a field in Delta Lake's commands, the first child in Spark's."""
    target = node.get("target")
    return target if isinstance(target, PlanNode) else node.children[0]


def target_scan(node: PlanNode, target: TableName) -> Scan:
    """The target as a statement looks at itself."""
    leaf = next((each for each in node.walk() if not each.children and each.output), node)
    return Scan(target, tuple(Attribute(column.id, column.name) for column in leaf.output))


def _is_assignment(encoded: Encoded) -> bool:
    return isinstance(encoded, list) and encoded[0] in ("Assignment", "DeltaMergeAction")


def _assigned(
    lowering: PlanLowering, assignments: Sequence[Encoded], scope: Scope, scan: Scan
) -> Iterator[Assignment]:
    own: dict[str, Encoded] = {attribute.name: attribute.id for attribute in scan.attributes}
    for each in assignments:
        value = each[3] if each[0] == "Assignment" else each[2]
        column, path = _target_of(lowering, each)
        if column and (path or own.get(column) != value):  # the analyzer fills in `a = a` for what nobody sets
            span = lowering.places.span(None, value)
            yield Assignment(column, lower_expression(lowering, value, scope), path, span)


def _target_of(lowering: PlanLowering, assignment: list[Encoded]) -> tuple[str, tuple[str, ...]]:
    """The column that is set, and the path inside it."""
    if assignment[0] == "DeltaMergeAction":
        column, *inside = assignment[-1]["path"]
        return column, tuple(inside)
    key: Encoded = assignment[2]
    path: list[str] = []
    while isinstance(key, list) and key[0] == "GetStructField":
        path.insert(0, key[-1]["field"])
        key = key[2]
    return lowering.places.names.get(key, "") if isinstance(key, int) else "", tuple(path)


def _influences(
    lowering: PlanLowering, conditions: Sequence[Encoded], kind: Kind, scope: Scope
) -> tuple[Influence, ...]:
    found = []
    for condition in conditions:
        if condition is not None:
            expression: Expression = lower_expression(lowering, condition, scope)
            found.append(Influence(kind, expression, lowering.places.span(None, condition)))
    return tuple(found)
