"""The table store: an LSM tree of sorted files, column-wise inside."""

from headwater.lake.engine.batch import Kind
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
    "Kind",
    "LSMTree",
    "MemTable",
    "MemTableState",
    "Predicate",
    "Row",
    "RowKey",
    "SSTableReader",
    "SSTableWriter",
    "StartsWith",
]
