"""MERGE, UPDATE and DELETE as the analyzer rewrites them for tables that take changes row by row."""

from headwater.model.relation import Attribute, Computed, Expression, Filter, OneOf, Project
from headwater.spark.plan.expressions import lower_expression
from headwater.spark.plan.lowering import Lowered, Lowering, lowers
from headwater.spark.plan.node import Encoded, Node


@lowers("MergeRows")
def lower_merge_rows(lowering: Lowering, node: Node, below: tuple[Lowered, ...]) -> Lowered:
    """A row becomes what the first instruction that applies makes of it; the conditions decide which that is."""
    ids = [id for id in node.get("output") or () if isinstance(id, int)]
    options: list[list[Encoded]] = [[] for _ in ids]
    conditions: list[Encoded] = []
    for name in ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions"):
        for instruction in node.get(name) or ():
            condition, *values = instruction[2:]
            conditions.append(condition)
            for at, value in enumerate(values):  # Split makes two rows of one: the values of both, one after another
                options[at % len(ids)].append(value)
    scope = below[0].renamed
    relation = below[0].relation
    for condition in conditions:
        if condition is not None:
            lowered = lower_expression(lowering, condition, scope)
            relation = Filter(relation, lowered, lowering.places.span(None, condition))
    columns = []
    for id, values in zip(ids, options):
        made: tuple[Expression, ...] = tuple(lower_expression(lowering, value, scope) for value in values)
        attribute = Attribute(id, lowering.attribute(id).name)
        columns.append(Computed(attribute, OneOf(made), lowering.places.span(None, values[0] if values else None)))
    return Lowered(Project(relation, tuple(columns)), scope)
