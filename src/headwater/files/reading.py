"""Random access to one file, the same way on every store."""

import mmap
from functools import cache
from typing import Protocol

from headwater.errors import StorageError
from headwater.files.protocol import Files, Mapping


class RangeReader(Protocol):
    """One open file of known size."""

    @property
    def size(self) -> int: ...

    @property
    def in_place(self) -> bool:
        """Return whether a read costs no request, so that there is nothing to gain from reading ahead."""
        ...

    def read(self, start: int, length: int) -> memoryview:
        """Exactly `length` bytes from `start`. RAISES: StorageError when the file is shorter."""
        ...

    def release(self, start: int, length: int) -> None:
        """Say that these bytes are not needed soon; reading them again is possible, and slower."""
        ...


def open_reader(files: Files, path: str, size: int) -> RangeReader:
    """Open a file of `size` bytes: mapped where the store can, by ranged reads elsewhere."""
    return _Mapped(files.map(path), path) if _can_map(type(files)) else _Ranged(files, path, size)  # type: ignore[attr-defined]


@cache
def _can_map(store: type) -> bool:
    """Return whether a store is a `Mapping`; asked once for each class, since such questions are slow."""
    return issubclass(store, Mapping)


class _Mapped:
    in_place = True

    def __init__(self, view: memoryview, path: str) -> None:
        self._view = view
        self._path = path
        self.size = len(view)

    def read(self, start: int, length: int) -> memoryview:
        if start < 0 or start + length > self.size:
            raise _too_short(self._path, start + length, self.size)
        return self._view[start : start + length]

    def release(self, start: int, length: int) -> None:
        """Give the pages back, so that reading a large file through does not look like holding it in memory."""
        mapped = self._view.obj
        first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        last = (start + length) // mmap.PAGESIZE * mmap.PAGESIZE
        if isinstance(mapped, mmap.mmap) and last > first:
            mapped.madvise(mmap.MADV_DONTNEED, first, last - first)


class _Ranged:
    in_place = False

    def __init__(self, files: Files, path: str, size: int) -> None:
        self._files = files
        self._path = path
        self.size = size

    def read(self, start: int, length: int) -> memoryview:
        data = self._files.get_range(self._path, start, length) if start >= 0 else b""
        if len(data) < length:
            raise _too_short(self._path, start + length, start + len(data))
        return memoryview(data)

    def release(self, start: int, length: int) -> None:
        """Nothing is held."""


def _too_short(path: str, wanted: int, size: int) -> StorageError:
    return StorageError(
        f"{path} ends at byte {size}, {wanted} were expected", hint="`headwater lake verify` checks it"
    )
