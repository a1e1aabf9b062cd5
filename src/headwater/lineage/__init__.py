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
from headwater.lineage.statement import RESULT, OutputColumn, SourceTable, StatementLineage, Status
from headwater.lineage.trace import trace

__all__ = [
    "RESULT",
    "ColumnEntity",
    "ColumnLineage",
    "OutputColumn",
    "Reading",
    "SourceTable",
    "StatementLineage",
    "Status",
    "TableLineage",
    "collapse_paths",
    "column_lineage",
    "table_lineage",
    "trace",
]
