"""Column lineage of statements, and the visitors it is found with."""

from headwater.zetasql import ColumnLineageExtractor, ExpressionParentFinder, ParentColumnFinder

__all__ = ["ColumnLineageExtractor", "ExpressionParentFinder", "ParentColumnFinder"]
