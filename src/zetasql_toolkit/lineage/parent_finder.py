"""The stored columns that a column is made of."""

from headwater.zetasql import ParentColumnFinder

__all__ = ["ParentColumnFinder"]
