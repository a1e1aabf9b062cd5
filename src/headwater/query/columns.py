"""Columns that were read whole, kept for the next query.

A snapshot never changes, so a column of it can be kept as long as there is room. The rows of a snapshot come in one
order, so columns that were read at different times fit together.

Room is judged in memory, where a column can take a hundred times what it takes on disk: reading ends as soon as the
rows so far say that all of them would not fit.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TypeAlias

import pyarrow as pa

from headwater.lake.tables.plan import plan_scan
from headwater.lake.tables.read import read_plan, result_schema
from headwater.query.names import Pinned

CAPACITY = 512 << 20
_AHEAD = 2  # a table that takes less than this part of it is read whole
_SHARE = 2  # columns that would take more than this part of the room are streamed
_PACKED = 8  # bytes in memory for each one on disk, at the least: what is larger by that is not begun with

_SLACK = 2  # stored rows may be versions of fewer, and the first rows the widest
_WHOLE = ""  # in the place of a column, for all of them

_Key: TypeAlias = tuple[str, str, int, str]


class ColumnCache:
    """Columns by table, snapshot, schema and name; the least recently used go first."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self._columns: OrderedDict[_Key, pa.ChunkedArray] = OrderedDict()
        self._size = 0
        self._too_large: set[_Key] = set()
        self._lock = Lock()

    def keeps(self, pinned: Pinned) -> bool:
        """Whether a table may be small enough to be read and kept whole.

        The blocks of an SSTable hold all columns, and opening one costs most.
        """
        size = pinned.snapshot.summary.total_size if pinned.snapshot is not None else 0
        if size > self.capacity // _PACKED or _key(pinned, _WHOLE) in self._too_large:
            return False
        return all(entry.file.format == "sst" for entry in pinned.state.entries)

    def whole(self, pinned: Pinned) -> pa.Table | None:
        """All rows and columns of a table; None when it is too large to keep."""
        return self.table(pinned, pinned.schema.names)

    def table(self, pinned: Pinned, names: Sequence[str]) -> pa.Table | None:
        """Columns of a table, all rows; None when they are too large to keep."""
        keys = [_key(pinned, name) for name in names]
        with self._lock:
            found = {key: self._columns[key] for key in keys if key in self._columns}
            for key in found:
                self._columns.move_to_end(key)
        missing = [name for name, key in zip(names, keys) if key not in found]
        if missing:
            fresh = self._read(pinned, missing)
            if fresh is None:
                return None
            self._keep(fresh)
            found |= fresh
        schema = result_schema(pinned.state.shape, names)
        return pa.Table.from_arrays([found[key] for key in keys], schema=schema)

    def _read(self, pinned: Pinned, missing: list[str]) -> dict[_Key, pa.ChunkedArray] | None:
        """Columns from disk, None when they would take too much room."""
        if self.keeps(pinned):
            with self._lock:
                every = [name for name in pinned.schema.names if _key(pinned, name) not in self._columns]
            return self._fitting(pinned, every, self.capacity // _AHEAD, _key(pinned, _WHOLE))
        if any(_key(pinned, name) in self._too_large for name in missing):
            return None
        refused = _key(pinned, missing[0]) if len(missing) == 1 else None
        return self._fitting(pinned, missing, self.capacity // _SHARE, refused)

    def _fitting(
        self, pinned: Pinned, names: list[str], room: int, refused: _Key | None
    ) -> dict[_Key, pa.ChunkedArray] | None:
        """Columns that take no more than so many bytes; None, and a note in `_too_large`, if they take more."""
        plan = plan_scan(pinned.table.store, pinned.state, names)
        batches, size, rows = [], 0, 0
        if plan.bytes * len(names) <= room * max(1, len(pinned.schema.names)):
            for batch in read_plan(pinned.table.store, plan, pinned.state, past=pinned.is_past):
                batches.append(batch)
                size, rows = size + batch.nbytes, rows + len(batch)
                if size > room or size * plan.rows > room * rows * _SLACK:
                    break
            else:
                table = pa.Table.from_batches(batches, result_schema(pinned.state.shape, names))
                return {_key(pinned, name): table.column(name) for name in names}
        if refused is not None:
            self._too_large.add(refused)
        return None

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._columns.clear()
            self._too_large.clear()
            self._size = 0

    def _keep(self, columns: dict[_Key, pa.ChunkedArray]) -> None:
        with self._lock:
            for key, column in columns.items():
                if key not in self._columns:
                    self._size += column.nbytes
                self._columns[key] = column
            while self._size > self.capacity and self._columns:
                _, gone = self._columns.popitem(last=False)
                self._size -= gone.nbytes


def _key(pinned: Pinned, name: str) -> _Key:
    """Manifest lists have random names, so a table that was dropped and made again is another one."""
    state = pinned.snapshot.manifest_list if pinned.snapshot is not None else ""
    return (pinned.table.store.paths.folder, state, pinned.schema.id, name)
