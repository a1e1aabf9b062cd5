"""What type checkers see of the names that are imported on first use."""

from headwater.lineage.formats.plain import LineageFormatter
from headwater.lineage.readings import ColumnEntity, ColumnLineage, TableLineage
from headwater.zetasql.api.expressions import ExpressionParentFinder
from headwater.zetasql.api.finders import ParentColumnFinder
from headwater.zetasql.api.lineage import ColumnLineageExtractor, extract_table_lineage
from headwater.zetasql.api.package import (
    create_sample_catalog,
    get_bigquery_language_options,
    get_builtin_function_options,
    share_engine,
)
from headwater.zetasql.api.tables import TableLineageExtractor
from headwater.zetasql.api.walk import visit_resolved_node, walk_resolved_tree
from headwater.zetasql.compiled import warmup
from headwater.zetasql.frontend import GoogleSqlFrontEnd
from headwater.zetasql.provider import TableProvider
from headwater.zetasql.warehouse import BigQueryTables

__all__ = [
    "BigQueryTables",
    "ColumnEntity",
    "ColumnLineage",
    "ColumnLineageExtractor",
    "ExpressionParentFinder",
    "GoogleSqlFrontEnd",
    "LineageFormatter",
    "ParentColumnFinder",
    "TableLineage",
    "TableLineageExtractor",
    "TableProvider",
    "create_sample_catalog",
    "extract_table_lineage",
    "get_bigquery_language_options",
    "get_builtin_function_options",
    "share_engine",
    "visit_resolved_node",
    "walk_resolved_tree",
    "warmup",
]
