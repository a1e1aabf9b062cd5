"""The columns that an expression is made of."""

from headwater.zetasql import ExpressionParentFinder

__all__ = ["ExpressionParentFinder"]
