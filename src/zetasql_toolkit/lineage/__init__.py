"""The lineage of resolved statements."""

from headwater.zetasql import (
    ColumnEntity,
    ColumnLineage,
    ColumnLineageExtractor,
    ExpressionParentFinder,
    LineageFormatter,
    ParentColumnFinder,
    TableLineage,
    TableLineageExtractor,
    extract_table_lineage,
    visit_resolved_node,
    walk_resolved_tree,
)

__all__ = [
    "ColumnEntity",
    "ColumnLineage",
    "ColumnLineageExtractor",
    "ExpressionParentFinder",
    "LineageFormatter",
    "ParentColumnFinder",
    "TableLineage",
    "TableLineageExtractor",
    "extract_table_lineage",
    "visit_resolved_node",
    "walk_resolved_tree",
]
