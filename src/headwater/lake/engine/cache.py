"""The block cache: decoded blocks of all files of a process, the least recently used one leaves first."""

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Sized(Protocol):
    """Something that knows how much memory it takes."""

    @property
    def nbytes(self) -> int: ...


_LEAST, _MOST = 256 << 20, 1 << 30  # bytes of the cache that tables share
_SHARE = 16  # of the memory there is


def default_capacity() -> int:
    """A sixteenth of the memory of the machine or of its control group, 256 MB at least and 1 GB at most."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # there is none, or it says "max"
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return max(_LEAST, min(_MOST, memory // _SHARE))


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The counters of the cache."""

    hits: int
    misses: int
    evictions: int
    blocks: int
    bytes: int
    capacity: int


class BlockCache:
    """Holds blocks up to `capacity` bytes; shared by threads."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._blocks: OrderedDict[Hashable, Sized] = OrderedDict()
        self._lock = threading.Lock()
        self._bytes = self._hits = self._misses = self._evictions = 0

    def get(self, key: Hashable) -> Sized | None:
        """The block of that name, which is now the most recently used."""
        try:
            self._blocks.move_to_end(key)  # one step of the interpreter: no lock is needed for a hit
            block = self._blocks[key]
        except KeyError:
            self._misses += 1
            return None
        self._hits += 1
        return block

    def put(self, key: Hashable, block: Sized) -> None:
        """Keep a block; one larger than the whole cache is not kept."""
        if block.nbytes > self.capacity:
            return
        with self._lock:
            old = self._blocks.pop(key, None)
            self._bytes += block.nbytes - (old.nbytes if old is not None else 0)
            self._blocks[key] = block
            while self._bytes > self.capacity:
                _, evicted = self._blocks.popitem(last=False)
                self._bytes -= evicted.nbytes
                self._evictions += 1

    def drop(self, file: str) -> None:
        """Forget the blocks of one file: those whose name begins with it."""
        with self._lock:
            for key in [key for key in self._blocks if isinstance(key, tuple) and key[0] == file]:
                self._bytes -= self._blocks.pop(key).nbytes

    @property
    def stats(self) -> CacheStats:
        with self._lock:
            counts = (self._hits, self._misses, self._evictions)
            return CacheStats(*counts, len(self._blocks), self._bytes, self.capacity)


shared_cache = BlockCache(default_capacity())
