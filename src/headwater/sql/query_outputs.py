"""The output columns of a query by id, for what takes them by position."""

from headwater.model.relation import Attribute, Computed, Project, Ref, Relation
from headwater.sql.lowering import Lowering, Query


def output_id(lowering: Lowering, query: Query, at: int) -> int:
    """The id of an output column: a new one unless it is a plain reference without a place in the text."""
    expression = query.columns[at].expression
    if isinstance(expression, Ref) and expression.span is None:
        return expression.column
    id = lowering.new_id()
    query.late.append(Computed(Attribute(id, query.columns[at].name), expression))
    return id


def with_outputs(query: Query) -> Relation:
    """The rows of a query with the columns that `output_id` made."""
    return Project(query.relation, tuple(query.late)) if query.late else query.relation
