"""What a tree is at one moment, and who still looks at older moments."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from headwater.lake.memtable import MemTable
from headwater.lake.opened import OpenRun
from headwater.lake.version import Version


@dataclass(frozen=True, slots=True)
class TreeState:
    """Memtables and runs, newest first. Replaced as a whole, so a reader that holds one needs no lock."""

    memtables: tuple[MemTable, ...]
    runs: tuple[OpenRun, ...]
    version: Version

    def changed_since(self, other: "TreeState") -> bool:
        return self.version.number != other.version.number


class Pins:
    """Which versions are being read: files leave the disk when no reader can need them any more."""

    def __init__(self, remove: Callable[[str], None]) -> None:
        self._remove = remove
        self._lock = threading.Lock()
        self._readers: Counter[int] = Counter()
        self._obsolete: list[tuple[int, str]] = []  # (version in which it was last live, name)

    @contextmanager
    def reading(self, state: TreeState) -> Iterator[TreeState]:
        """Keep the files of a state on disk for as long as the block runs."""
        number = state.version.number
        with self._lock:
            self._readers[number] += 1
        try:
            yield state
        finally:
            with self._lock:
                self._readers[number] -= 1
                if not self._readers[number]:
                    del self._readers[number]
            self.sweep()

    def retire(self, last_live: int, names: tuple[str, ...]) -> None:
        """Note that files were last live in a version, and remove what nobody reads."""
        with self._lock:
            self._obsolete += [(last_live, name) for name in names]
        self.sweep()

    def sweep(self) -> None:
        """Remove the files no reader can need."""
        with self._lock:
            oldest = min(self._readers, default=None)
            free = [item for item in self._obsolete if oldest is None or item[0] < oldest]
            self._obsolete = [item for item in self._obsolete if item not in free]
        for _, name in free:
            self._remove(name)
