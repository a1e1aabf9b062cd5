"""Column lineage of statements."""

from headwater.zetasql import ColumnLineageExtractor

__all__ = ["ColumnLineageExtractor"]
