"""Columns and their parents, tables and their sources."""

from headwater.lineage.readings import ColumnEntity, ColumnLineage, TableLineage

__all__ = ["ColumnEntity", "ColumnLineage", "TableLineage"]
