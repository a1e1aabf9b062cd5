"""The table store: an LSM tree of sorted files, column-wise inside."""

from headwater.lake.batch import Kind
from headwater.lake.cache import BlockCache
from headwater.lake.keys import RowKey
from headwater.lake.lsm import LSMTree
from headwater.lake.memtable import MemTable, MemTableState
from headwater.lake.predicates import Compare, In, IsNull, Predicate, StartsWith
from headwater.lake.row import Row
from headwater.lake.sst.bloom import BloomFilter
from headwater.lake.sst.reader import SSTableReader
from headwater.lake.sst.writer import SSTableWriter
from headwater.lake.wal import WAL

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
