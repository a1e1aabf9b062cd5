"""GoogleSQL (BigQuery, Spanner) through the real ZetaSQL.
`headwater.analyze(sql, dialect="bigquery")` uses this package. Those who analyse statements themselves find here the
names of ZetaSQL's lineage toolkit. Each is imported when it is first used."""

from importlib import import_module

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

_HOMES = {
    "headwater.lineage.formats.plain": ["LineageFormatter"],
    "headwater.lineage.readings": ["ColumnEntity", "ColumnLineage", "TableLineage"],
    "headwater.zetasql.api.expressions": ["ExpressionParentFinder"],
    "headwater.zetasql.api.finders": ["ParentColumnFinder"],
    "headwater.zetasql.api.lineage": ["ColumnLineageExtractor", "extract_table_lineage"],
    "headwater.zetasql.api.package": [
        "create_sample_catalog",
        "get_bigquery_language_options",
        "get_builtin_function_options",
        "share_engine",
    ],
    "headwater.zetasql.api.tables": ["TableLineageExtractor"],
    "headwater.zetasql.api.walk": ["visit_resolved_node", "walk_resolved_tree"],
    "headwater.zetasql.compiled": ["warmup"],
    "headwater.zetasql.frontend": ["GoogleSqlFrontEnd"],
    "headwater.zetasql.provider": ["TableProvider"],
    "headwater.zetasql.warehouse": ["BigQueryTables"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
