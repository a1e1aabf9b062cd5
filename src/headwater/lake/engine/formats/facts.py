"""The facts about a data file, gathered while it is written; the same for every format."""

from collections import defaultdict

from headwater.lake.engine.batch import SortedBatch
from headwater.lake.engine.keys import NativeKey, as_bytes
from headwater.lake.engine.sst.meta import ColumnMeta, TableMeta
from headwater.lake.engine.stats import ColumnStats, column_stats, merge_stats, trimmed
from headwater.model.schema import Schema


class FileFacts:
    """Counts, bounds and statistics of the rows of one file."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._stats: defaultdict[str, list[ColumnStats]] = defaultdict(list)
        self._first: NativeKey = b""
        self._last: NativeKey = b""
        self._deletes = 0
        self.rows = 0

    def add(self, batch: SortedBatch) -> None:
        """Note the rows of a batch. REQUIRES: at least one."""
        if not self.rows:
            self._first = batch.keys.native(0)
        self._last = batch.keys.native(-1)
        self.rows += len(batch)
        self._deletes += batch.deletes
        for name, column in zip(batch.columns.schema.names, batch.columns.columns):
            self._stats[name].append(column_stats(column))

    def meta(self, *, compression: str, blocks: int) -> TableMeta:
        """The facts in their stored form."""
        return TableMeta(
            schema_id=self._schema.id,
            columns=tuple(ColumnMeta(f.id, f.name, str(f.type)) for f in self._schema.fields),
            key=self._schema.primary_keys,
            number_keys=isinstance(self._first, int),
            rows=self.rows,
            deletes=self._deletes,
            min_key=as_bytes(self._first),
            max_key=as_bytes(self._last),
            stats={name: trimmed(merge_stats(parts)) for name, parts in self._stats.items()},
            compression=compression,
            blocks=blocks,
        )
