"""The table store: an LSM tree of sorted files, column-wise inside.
The public names are imported on first use."""

from typing import TYPE_CHECKING

from headwater.lazy import on_first_use

if TYPE_CHECKING:
    from headwater.lake.engine.batch import RowKind
    from headwater.lake.engine.cache import BlockCache
    from headwater.lake.engine.keys import RowKey
    from headwater.lake.engine.lsm import LSMTree
    from headwater.lake.engine.memtable import MemTable, MemTableState
    from headwater.lake.engine.predicates import Compare, In, IsNull, Predicate, StartsWith
    from headwater.lake.engine.row import Row
    from headwater.lake.engine.sst.bloom import BloomFilter
    from headwater.lake.engine.sst.reader import SSTableReader
    from headwater.lake.engine.sst.writer import SSTableWriter
    from headwater.lake.engine.wal import WAL

__all__ = [
    "WAL",
    "BlockCache",
    "BloomFilter",
    "Compare",
    "In",
    "IsNull",
    "LSMTree",
    "MemTable",
    "MemTableState",
    "Predicate",
    "Row",
    "RowKey",
    "RowKind",
    "SSTableReader",
    "SSTableWriter",
    "StartsWith",
]

__getattr__ = on_first_use(
    __name__,
    {
        "WAL": "headwater.lake.engine.wal",
        "BlockCache": "headwater.lake.engine.cache",
        "BloomFilter": "headwater.lake.engine.sst.bloom",
        "Compare": "headwater.lake.engine.predicates",
        "In": "headwater.lake.engine.predicates",
        "IsNull": "headwater.lake.engine.predicates",
        "RowKind": "headwater.lake.engine.batch",
        "LSMTree": "headwater.lake.engine.lsm",
        "MemTable": "headwater.lake.engine.memtable",
        "MemTableState": "headwater.lake.engine.memtable",
        "Predicate": "headwater.lake.engine.predicates",
        "Row": "headwater.lake.engine.row",
        "RowKey": "headwater.lake.engine.keys",
        "SSTableReader": "headwater.lake.engine.sst.reader",
        "SSTableWriter": "headwater.lake.engine.sst.writer",
        "StartsWith": "headwater.lake.engine.predicates",
    },
)
