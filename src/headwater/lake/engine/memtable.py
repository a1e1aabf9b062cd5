"""The memtable: rows that are not in a data file yet.
Rows put one by one go into a dictionary; batches stay columns and are sorted when somebody reads or flushes them. The
two alternate in segments, oldest first, so that the newest write of a key is found by looking from the end."""

import threading
import time
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from headwater.errors import StorageError
from headwater.lake.engine.arrays import cell_of
from headwater.lake.engine.batch import RowKind, SortedBatch, concat
from headwater.lake.engine.keys import KeyCodec, Keys, NativeKey, keys_of
from headwater.lake.engine.merge import MergeRule, merge_batches, sort_batch
from headwater.lake.engine.row import rows_to_arrow
from headwater.lake.engine.wal import WAL

# What a row costs in Python objects beside its own bytes; measured, within a fifth, on rows of two to six columns.
_ROW_OVERHEAD = 16
_VALUE_OVERHEAD = 90


class MemTableState(Enum):
    """The life of a memtable, in order."""

    ACTIVE = "takes writes"
    IMMUTABLE = "waits for its flush"
    FLUSHING = "is being written to a data file"
    FLUSHED = "is in a data file and can go"


class Entry(NamedTuple):
    """One write of a key; `older` is the write of the same key before it, where the merge engine needs it."""

    kind: int
    values: tuple[Any, ...]
    older: "Entry | None"
    size: int = 0  # bytes of memory that this write takes


class _RowSegment:
    """Writes one by one."""

    def __init__(self) -> None:
        self.rows: dict[NativeKey, Entry] = {}
        self._sorted: tuple[int, SortedBatch] | None = None
        self.writes = 0

    def sorted(self, codec: KeyCodec, rule: MergeRule) -> SortedBatch:
        if self._sorted is None or self._sorted[0] != self.writes:
            self._sorted = (self.writes, _rows_to_batch(self.rows, codec, rule))
        return self._sorted[1]


class _BatchSegment:
    """Writes by the batch: sorted runs, oldest first, and batches nobody has read yet."""

    def __init__(self) -> None:
        self.pending: list[SortedBatch] = []
        self.runs: list[SortedBatch] = []

    def settle(self, rule: MergeRule) -> list[SortedBatch]:
        """Sort what is pending; runs of similar size are merged, so that there are never many."""
        if self.pending:
            runs = [*self.runs, sort_batch(concat(self.pending), rule)]
            while len(runs) > 1 and len(runs[-2]) <= 2 * len(runs[-1]):
                runs[-2:] = [merge_batches(runs[-2:], rule)]
            self.runs, self.pending = runs, []
        return self.runs


class MemTable:
    """Rows in memory, readable by any thread while one writes."""

    def __init__(self, codec: KeyCodec, rule: MergeRule, *, sequence: int, wal: WAL | None = None) -> None:
        self.sequence = sequence  # of its write-ahead log too
        self.wal = wal
        self.has_log = wal is not None  # on disk, open or not
        self.flushing = threading.Lock()
        self.created = time.time()
        self.state = MemTableState.ACTIVE
        self.memory = 0
        self.rows = 0
        self.sizes: dict[str, int | None] = {}  # how far from zero sums and products of its rows can be
        self._codec = codec
        self._rule = rule
        self._segments: list[_RowSegment | _BatchSegment] = []
        self._lock = threading.Lock()
        self._keeps_older = rule != MergeRule()

    def put(self, key: NativeKey, kind: int, values: tuple[Any, ...], size: int) -> None:
        """Add one write of `size` bytes. REQUIRES: ACTIVE."""
        self._require_active()
        with self._lock:
            if not self._segments or not isinstance(self._segments[-1], _RowSegment):
                self._segments.append(_RowSegment())
            segment = self._segments[-1]
            assert isinstance(segment, _RowSegment)
            older = segment.rows.get(key)
            size += _ROW_OVERHEAD + _VALUE_OVERHEAD * (1 + len(values))
            self.memory += size
            if older is None:
                self.rows += 1
            elif not self._keeps_older:
                self.memory -= older.size
                older = None
            segment.rows[key] = Entry(kind, values, older, size)
            segment.writes += 1

    def add(self, rows: SortedBatch) -> None:
        """Add a batch of writes in order of arrival; it need not be sorted. REQUIRES: ACTIVE."""
        self._require_active()
        with self._lock:
            if not self._segments or not isinstance(self._segments[-1], _BatchSegment):
                self._segments.append(_BatchSegment())
            segment = self._segments[-1]
            assert isinstance(segment, _BatchSegment)
            segment.pending.append(rows)
            self.rows += len(rows)
            self.memory += rows.nbytes

    def find(self, key: NativeKey) -> Entry | None:
        """The newest write of a key."""
        for segment in reversed(self._segments):
            if isinstance(segment, _RowSegment):
                entry = segment.rows.get(key)
                if entry is not None:
                    return entry
            else:
                for run in reversed(self._settled(segment)):
                    at = run.keys.search(key)
                    if at < len(run) and run.keys.native(at) == key:
                        kind = RowKind.PUT if run.kinds is None else int(run.kinds[at])
                        return Entry(kind, tuple(cell_of(column)(at) for column in run.columns.columns), None)
        return None

    def find_many(self, wanted: Keys) -> list[SortedBatch]:
        """The writes of some keys as sorted batches, oldest first; rows of other keys are not sorted for it.
        REQUIRES: sorted keys, each once."""
        found: list[SortedBatch] = []
        for segment in list(self._segments):
            if isinstance(segment, _RowSegment):
                with self._lock:
                    keys = (wanted.native(at) for at in range(len(wanted)))
                    rows = {key: segment.rows[key] for key in keys if key in segment.rows}
                if rows:
                    found.append(_rows_to_batch(rows, self._codec, self._rule))
            else:
                for run in self._settled(segment):
                    at = run.keys.find(wanted)
                    found.append(run.take(at[at >= 0]))
        return found

    def runs(self) -> list[SortedBatch]:
        """All rows as sorted batches, oldest first."""
        runs: list[SortedBatch] = []
        for segment in list(self._segments):
            if isinstance(segment, _RowSegment):
                with self._lock:
                    runs.append(segment.sorted(self._codec, self._rule))
            else:
                runs.extend(self._settled(segment))
        return runs

    def close_wal(self) -> None:
        """Close the log; it stays on disk until the rows are in a data file."""
        if self.wal is not None:
            self.wal.close()

    def __len__(self) -> int:
        return self.rows

    def _settled(self, segment: _BatchSegment) -> list[SortedBatch]:
        if not segment.pending:
            return segment.runs
        with self._lock:
            return segment.settle(self._rule)

    def _require_active(self) -> None:
        if self.state is not MemTableState.ACTIVE:
            raise StorageError(f"memtable {self.sequence} takes no writes: it {self.state.value}")


def _rows_to_batch(rows: dict[NativeKey, Entry], codec: KeyCodec, rule: MergeRule) -> SortedBatch:
    keys: list[NativeKey] = []
    entries: list[Entry] = []
    for key, entry in rows.items():
        versions = [entry]
        while (older := versions[-1].older) is not None:
            versions.append(older)
        entries.extend(reversed(versions))
        keys.extend([key] * len(versions))
    kinds = np.array([entry.kind for entry in entries], np.uint8)
    columns = rows_to_arrow([entry.values for entry in entries], codec.stored)
    return sort_batch(
        SortedBatch(keys_of(keys, number_keys=codec.is_number), kinds if kinds.any() else None, columns), rule
    )
