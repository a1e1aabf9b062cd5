"""MERGE, UPDATE and DELETE as the analyzer rewrites them for tables that take changes row by row."""

from itertools import zip_longest

from headwater.model.relation import Attribute, Computed, Expression, Filter, OneOf, Project
from headwater.spark.plan.expressions import lower_expression
from headwater.spark.plan.lowering import Lowered, Lowering, lowers
from headwater.spark.plan.node import Encoded, Node, Place
from headwater.text import Span


@lowers("MergeRows")
def lower_merge_rows(lowering: Lowering, node: Node, below: tuple[Lowered, ...]) -> Lowered:
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
            relation = Filter(relation, lowered, lowering.places.span(None, condition))
    columns = []
    for id, values in zip(ids, options):
        made: tuple[Expression, ...] = tuple(lower_expression(lowering, value, scope) for value, _ in values)
        attribute = Attribute(id, lowering.attribute(id).name)
        columns.append(Computed(attribute, OneOf(made), _told(lowering, values)))
    return Lowered(Project(relation, tuple(columns)), scope)


def _told(lowering: Lowering, values: list[tuple[Encoded, Place | None]]) -> Span | None:
    """The expression that stands for a column: one that was computed and has a place, else one that has a place."""
    for value, place in sorted(values, key=lambda each: (each[1] is None, not isinstance(each[0], list))):
        return lowering.places.span(place, value)
    return None
