"""Columns that were read whole, kept for the next query.
A snapshot never changes, so a column of it can be kept as long as there is room. The rows of a snapshot come in one
order, so columns that were read at different times fit together.
Room is judged in memory, where a column can take a hundred times what it takes on disk: reading ends as soon as the
rows so far say that all of them would not fit."""

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import chain
from threading import Lock
from typing import TypeAlias

import pyarrow as pa

from headwater.lake.tables.plan import plan_scan
from headwater.lake.tables.read import read_plan, result_schema
from headwater.query.names import Pinned

LEAST = 512 << 20
_SHARE = 2  # columns of one query that would take more than this part of the room are streamed
_OF_MEMORY = 8  # a session may keep this part of the machine's memory
_SLACK = 2  # stored rows may be versions of fewer, and the first rows the widest

_Key: TypeAlias = tuple[str, str, int, str]


def capacity() -> int:
    """The bytes that a session may keep on this machine."""
    return max(LEAST, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _OF_MEMORY)


class ColumnCache:
    """Columns by table, snapshot, schema and name; the least recently used go first."""

    def __init__(self, capacity: int = LEAST) -> None:
        self.capacity = capacity
        self._columns: OrderedDict[_Key, pa.ChunkedArray] = OrderedDict()
        self._size = 0
        self._too_large: set[tuple[_Key, ...]] = set()
        self._lock = Lock()

    def may_keep(self, pinned: Pinned, names: Sequence[str]) -> bool:
        """Return whether columns may be small enough to be kept, by their files and by earlier reads."""
        size = pinned.snapshot.summary.total_size if pinned.snapshot is not None else 0
        room = self.capacity // _SHARE
        fits = size * len(names) <= room * max(1, len(pinned.schema.names))
        return fits and tuple(_key(pinned, name) for name in names) not in self._too_large

    def batches(self, pinned: Pinned, names: Sequence[str]) -> Iterator[pa.RecordBatch] | None:
        """All rows of a table in some columns, which are kept; None if they are too large and nothing was read.
        Columns that prove too large are given all the same, and not kept."""
        keys = [_key(pinned, name) for name in names]
        with self._lock:
            found = {key: self._columns[key] for key in keys if key in self._columns}
            for key in found:
                self._columns.move_to_end(key)
        missing = [name for name, key in zip(names, keys) if key not in found]
        if missing:
            if not self.may_keep(pinned, missing):
                return None
            rest = self._read(pinned, missing, found)
            if rest is not None:
                return rest if len(missing) == len(names) else None
        schema = result_schema(pinned.state.shape, names)
        table = pa.Table.from_arrays([found[key] for key in keys], schema=schema)
        return _taken(table.to_batches())

    def column(self, pinned: Pinned, name: str) -> pa.ChunkedArray | None:
        """One column, all rows, which is kept; None if it is too large."""
        batches = self.batches(pinned, [name])
        with self._lock:
            return None if batches is None else self._columns.get(_key(pinned, name))

    def _read(
        self, pinned: Pinned, names: list[str], found: dict[_Key, pa.ChunkedArray]
    ) -> Iterator[pa.RecordBatch] | None:
        """Read columns into `found`, and keep them. If they take too much room, returns all rows instead."""
        room = self.capacity // _SHARE
        plan = plan_scan(pinned.table.store, pinned.state, names)
        keys = [_key(pinned, name) for name in names]
        reading = read_plan(pinned.table.store, plan, pinned.state, past=pinned.is_past)
        batches, size, rows = [], 0, 0
        for batch in reading:
            batches.append(batch)
            size, rows = size + batch.nbytes, rows + len(batch)
            if size > room or size * plan.rows > room * rows * _SLACK:
                self._too_large.add(tuple(keys))
                return chain(_taken(batches), reading)
        table = pa.Table.from_batches(batches, result_schema(pinned.state.shape, names))
        fresh = dict(zip(keys, table.columns))
        with self._lock:
            for key, column in fresh.items():
                if key not in self._columns:
                    self._size += column.nbytes
                self._columns[key] = column
            while self._size > self.capacity and self._columns:
                _, gone = self._columns.popitem(last=False)
                self._size -= gone.nbytes
        found |= fresh
        return None

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._columns.clear()
            self._too_large.clear()
            self._size = 0


def _taken(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give batches one after the other, and hold them no longer."""
    batches.reverse()
    while batches:
        yield batches.pop()


def _key(pinned: Pinned, name: str) -> _Key:
    """Manifest lists have random names, so a table that was dropped and made again is another one."""
    state = pinned.snapshot.manifest_list if pinned.snapshot is not None else ""
    return (pinned.table.store.paths.folder, state, pinned.schema.id, name)
