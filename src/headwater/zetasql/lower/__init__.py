"""From ZetaSQL's resolved tree to the relation tree."""

from headwater.zetasql.lower import calls, ddl, dml, expressions, queries, shapes
from headwater.zetasql.lower.lowering import (
    Place,
    ResolvedLowering,
    ResolvedRoutine,
    Specialized,
    Surroundings,
    UnsupportedNode,
)
from headwater.zetasql.lower.statements import lower_statement

__all__ = [
    "Place",
    "ResolvedLowering",
    "ResolvedRoutine",
    "Specialized",
    "Surroundings",
    "UnsupportedNode",
    "calls",
    "ddl",
    "dml",
    "expressions",
    "lower_statement",
    "queries",
    "shapes",
]
