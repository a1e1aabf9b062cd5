"""The state of a tree at one moment, and the readers of older states."""

import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from headwater.lake.engine.cache import BlockCache, CacheStats
from headwater.lake.engine.data_files import OpenRun
from headwater.lake.engine.memtable import MemTable
from headwater.lake.engine.version import Version

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TreeState:
    """Memtables and runs, newest first. Replaced as a whole, so a reader that holds one needs no lock."""

    memtables: tuple[MemTable, ...]
    runs: tuple[OpenRun, ...]
    version: Version


class Pins:
    """The versions that are being read: files leave the disk when no reader can need them any more."""

    def __init__(self, remove: Callable[[str], None]) -> None:
        self._remove = remove
        self._lock = threading.Lock()
        self._readers: Counter[int] = Counter()
        self._let_go: deque[int] = deque()
        self._obsolete: list[tuple[int, str]] = []  # (version in which it was last live, name)

    def hold(self, number: int) -> None:
        """Keep the files of a version on disk."""
        with self._lock:
            self._readers[number] += 1

    def let_go(self, number: int) -> None:
        """A reader of a version is done. Takes no lock: the garbage collector may call it at any moment."""
        self._let_go.append(number)

    def retire(self, last_live: int, names: tuple[str, ...]) -> None:
        """Note that files were last live in a version, and remove what nobody reads."""
        with self._lock:
            self._obsolete += [(last_live, name) for name in names]
        self.sweep()

    def sweep(self) -> None:
        """Remove the files no reader can need."""
        with self._lock:
            while self._let_go:
                number = self._let_go.popleft()
                self._readers[number] -= 1
                if not self._readers[number]:
                    del self._readers[number]
            oldest = min(self._readers, default=None)
            free = [item for item in self._obsolete if oldest is None or item[0] < oldest]
            self._obsolete = [item for item in self._obsolete if item not in free]
        for _, name in free:
            self._remove(name)


class PinnedIterator(Generic[T]):
    """An iterator that holds a version until it ends, is closed, or is forgotten, begun or not."""

    def __init__(self, items: Iterator[T], pins: Pins, number: int) -> None:
        self._items = items
        self._pins = pins
        self._let_go = weakref.finalize(self, pins.let_go, number)
        self._let_go.atexit = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        try:
            return next(self._items)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go; closing twice is harmless."""
        self._let_go()
        self._pins.sweep()


@dataclass(frozen=True, slots=True)
class LevelStats:
    """The runs of one level."""

    level: int
    runs: int
    files: int
    rows: int
    deletes: int
    bytes: int


@dataclass(frozen=True, slots=True)
class TreeStats:
    """A tree at one moment."""

    version: int
    levels: tuple[LevelStats, ...]
    memtables: int
    memory_rows: int
    memory_bytes: int
    write_amplification: float  # bytes written by flushes and compactions for each byte flushed
    read_amplification: int  # sorted runs a scan reads, memory included
    space_amplification: float  # bytes on disk for each byte of the oldest run
    stalls: int  # writes that had to wait
    stalled_seconds: float
    cache: CacheStats


def tree_stats(state: TreeState, cache: BlockCache, stalls: int, stalled_seconds: float) -> TreeStats:
    """The statistics of a state."""
    version, runs = state.version, state.version.runs()
    levels = []
    for level in sorted({run.level for run in runs}):
        files = [file for run in runs if run.level == level for file in run.files]
        levels.append(
            LevelStats(
                level=level,
                runs=sum(run.level == level for run in runs),
                files=len(files),
                rows=sum(file.rows for file in files),
                deletes=sum(file.deletes for file in files),
                bytes=sum(file.size for file in files),
            )
        )
    filled = [table for table in state.memtables if len(table)]
    return TreeStats(
        version=version.number,
        levels=tuple(levels),
        memtables=len(state.memtables),
        memory_rows=sum(len(table) for table in filled),
        memory_bytes=sum(table.memory for table in filled),
        write_amplification=version.written_bytes / version.flushed_bytes if version.flushed_bytes else 0.0,
        read_amplification=len(runs) + len(filled),
        space_amplification=sum(run.size for run in runs) / runs[-1].size if runs else 0.0,
        stalls=stalls,
        stalled_seconds=stalled_seconds,
        cache=cache.stats,
    )
