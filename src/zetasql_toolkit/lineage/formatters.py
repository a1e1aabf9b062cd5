"""Lineage as JSON and as text."""

from headwater.zetasql import LineageFormatter

__all__ = ["LineageFormatter"]
