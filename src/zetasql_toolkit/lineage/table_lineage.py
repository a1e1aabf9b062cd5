"""Table lineage of statements."""

from headwater.zetasql import TableLineageExtractor, extract_table_lineage

__all__ = ["TableLineageExtractor", "extract_table_lineage"]
