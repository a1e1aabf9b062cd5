"""Headwater behind the verbs of `_lake_peers.py`: as its users have it, a table of a warehouse, and the engine alone.

Both are durable when `write`, `upsert` and `put` return.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
from _lake_peers import size_of

import headwater
from headwater.lake import BlockCache, LSMTree
from headwater.lake.engine.types import schema_of
from headwater.lake.tables import Compare
from headwater.model.schema import Schema


class Headwater:
    """A table of a warehouse with a primary key; a write is one commit."""

    name = "headwater"

    def __init__(self, folder: Path, options: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.options = options or {}

    def write(self, table: pa.Table) -> None:
        warehouse = headwater.Warehouse(self.folder)
        self.table = warehouse.create_table("t", table.schema, primary_key="id", options=self.options)
        self.upsert(table)

    def upsert(self, table: pa.Table) -> None:
        self.table.write(table)

    def put(self, rows: list[tuple[Any, ...]]) -> None:
        with self.table.writer() as writer:
            for row in rows:
                writer.put(row)

    def get(self, key: int) -> Any:
        return self.table.get(key)

    def scan(self) -> pa.Table:
        return self.table.to_arrow()

    def range(self, low: int, high: int) -> pa.Table:
        return self.table.to_arrow(where=[Compare("id", ">=", low), Compare("id", "<=", high)])

    def size(self) -> int:
        return size_of(self.folder)

    def close(self) -> None:
        pass


class HeadwaterEngine:
    """The `LSMTree` below the tables: no warehouse, no snapshots, no commits, one process."""

    name = "headwater's engine"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, table: pa.Table) -> None:
        plain = schema_of(table.schema, ("id",))
        self.tree = LSMTree(self.folder, Schema(plain.fields, plain.primary_keys), cache=BlockCache(256 << 20))
        self.upsert(table)

    def upsert(self, table: pa.Table) -> None:
        self.tree.write_arrow(table)
        self.tree.flush()

    def put(self, rows: list[tuple[Any, ...]]) -> None:
        for row in rows:
            self.tree.put(row)
        self.tree.flush()

    def get(self, key: int) -> Any:
        return self.tree.get(key)

    def scan(self) -> pa.Table:
        return self.tree.to_arrow()

    def range(self, low: int, high: int) -> pa.Table:
        return self.tree.to_arrow(lower=low, upper=high)

    def size(self) -> int:
        return size_of(self.folder)

    def close(self) -> None:
        self.tree.close()
