"""The rules of lineage, once, over the relation tree (`headwater.model.relation`)."""

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
from headwater.lineage.trace import trace

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
    "trace",
]
