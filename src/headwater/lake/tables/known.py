"""Tables that are opened by name again and again: what is known of one need not be read again."""

from headwater.lake.metadata.entries import TableEntry
from headwater.lake.tables.names import TableName
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.table import Table
from headwater.lake.tables.warehouse import Warehouse


class KnownTables:
    """Tables of a warehouse by name. The catalog is asked each time: a name may stand for another table by now."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._tables: dict[TableName, tuple[TableEntry, Table]] = {}

    def get(self, name: TableName) -> Table:
        """Open a table. RAISES: NotFoundError with the nearest name."""
        entry = self._warehouse.entry(name)
        known = self._tables.get(name)
        if known is None or known[0] != entry:
            known = self._tables[name] = entry, Table(TableStore(name, self._warehouse.files, entry.folder))
        return known[1]
