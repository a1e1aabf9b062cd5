"""Tables that nobody listed: asked for, one by one, when a statement names them."""

from typing import Protocol

from headwater.lineage.schema import SchemaTable
from headwater.model.names import TableName


class TableProvider(Protocol):
    """Something that knows tables by name: a metastore, a warehouse, BigQuery itself (`BigQueryTables`)."""

    def table(self, name: TableName) -> SchemaTable | None:
        """The table of that name as it is now, or None when there is none."""
        ...
