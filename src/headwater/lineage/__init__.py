"""The rules of lineage, once, over the relation tree (`headwater.model.relation`).
The public names are imported on first use."""

from typing import TYPE_CHECKING

from headwater.lazy import on_first_use

if TYPE_CHECKING:
    from headwater.lineage.readings import (
        ColumnEntity,
        ColumnLineage,
        Reading,
        TableLineage,
        collapse_paths,
        column_lineage,
        table_lineage,
    )
    from headwater.lineage.resolver import SchemaResolver
    from headwater.lineage.schema import SchemaMetadata
    from headwater.lineage.statement import RESULT, OutputColumn, SourceTable, StatementLineage, Status

__all__ = [
    "RESULT",
    "ColumnEntity",
    "ColumnLineage",
    "OutputColumn",
    "Reading",
    "SchemaMetadata",
    "SchemaResolver",
    "SourceTable",
    "StatementLineage",
    "Status",
    "TableLineage",
    "collapse_paths",
    "column_lineage",
    "table_lineage",
]

__getattr__ = on_first_use(
    __name__,
    {
        "RESULT": "headwater.lineage.statement",
        "ColumnEntity": "headwater.lineage.readings",
        "ColumnLineage": "headwater.lineage.readings",
        "OutputColumn": "headwater.lineage.statement",
        "Reading": "headwater.lineage.readings",
        "SchemaMetadata": "headwater.lineage.schema",
        "SchemaResolver": "headwater.lineage.resolver",
        "SourceTable": "headwater.lineage.statement",
        "StatementLineage": "headwater.lineage.statement",
        "Status": "headwater.lineage.statement",
        "TableLineage": "headwater.lineage.readings",
        "collapse_paths": "headwater.lineage.readings",
        "column_lineage": "headwater.lineage.readings",
        "table_lineage": "headwater.lineage.readings",
    },
)
