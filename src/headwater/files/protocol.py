"""Byte storage behind six verbs, and the four things only some stores can do.

`Files` is the only way the rest of Headwater touches storage. What every implementation promises:

- a reader sees the whole of a file or none of it, never a part of one that is being written;
- when `put` or `put_if_absent` returns, the bytes survive a loss of power;
- of any number of concurrent `put_if_absent` to one path, in any processes, exactly one succeeds.

`Mapping` (memory-mapped reads), `Appending` (a log that grows) and `Locking` (one process at a time) are possible on
local disks and in memory, not on object stores; `Probing` (whether a file is there, in a microsecond) on local disks.
Callers ask with `isinstance`.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from headwater.errors import UsageError

Buffer: TypeAlias = bytes | bytearray | memoryview
Data: TypeAlias = Buffer | Iterable[Buffer]  # the content of a file: in one piece, or in pieces one after the other


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One line of a listing; the path of a folder ends with a slash."""

    path: str
    size: int = 0
    modified: float = 0.0  # seconds since 1970

    @property
    def is_folder(self) -> bool:
        return self.path.endswith("/")

    @property
    def name(self) -> str:
        return self.path.removesuffix("/").rpartition("/")[2]


@runtime_checkable
class Files(Protocol):
    """A store of immutable files under one root."""

    @property
    def url(self) -> str:
        """Return where the root is, as `open_files` takes it."""
        ...

    def get(self, path: str) -> bytes:
        """Read a whole file. RAISES: NotFoundError."""
        ...

    def get_range(self, path: str, start: int, length: int) -> bytes:
        """Read `length` bytes from `start`, fewer where the file ends; a negative start counts from the end.
        RAISES: NotFoundError."""
        ...

    def put(self, path: str, data: Data, *, synced: bool = True) -> None:
        """Write a file, replacing what was there in one step; it is durable when this returns.
        Without `synced` it may be empty or the old one after a loss of power: for hints, which only save time."""
        ...

    def put_if_absent(self, path: str, data: Data) -> None:
        """Write a file that must not be there yet. RAISES: AlreadyExistsError when it is, whoever wrote it."""
        ...

    def list(self, folder: str = "", *, deep: bool = False) -> list[FileEntry]:
        """Return what is in a folder by path, or with `deep` every file below it; nothing if there is no such folder.
        A deep listing leaves out what symbolic links to folders lead to: callers delete what it finds."""
        ...

    def delete(self, path: str) -> None:
        """Remove a file; it is no error if there is none. After a loss of power it may be back."""
        ...


@runtime_checkable
class Mapping(Protocol):
    """A store whose files can be read in place."""

    def map(self, path: str) -> memoryview:
        """The bytes of a file without copying them; they stay readable after a `delete`. RAISES: NotFoundError."""
        ...


class Appender(Protocol):
    """An open log. What was appended survives the end of the process; what was synced, a loss of power."""

    def append(self, data: Buffer) -> None: ...

    def sync(self) -> None: ...

    def close(self) -> None:
        """Sync and close; closing twice is harmless."""
        ...


@runtime_checkable
class Appending(Protocol):
    """A store in which a file can grow."""

    def appender(self, path: str) -> Appender:
        """Create a log. RAISES: AlreadyExistsError when there is a file of that name: a log is never continued after
        a crash, because its tail cannot be trusted."""
        ...


@runtime_checkable
class Probing(Protocol):
    """A store that can tell quickly whether a file is there."""

    def probe(self, path: str) -> Callable[[], bool]:
        """A function that says, each time it is called, whether there is a file of that name."""
        ...


class Held(Protocol):
    """A lock that is held until it is closed or the process ends."""

    def close(self) -> None: ...


@runtime_checkable
class Locking(Protocol):
    """A store on which one process can keep others out."""

    def lock(self, path: str) -> Held:
        """Take the lock of that name. RAISES: StorageError when somebody else holds it."""
        ...


def pieces(data: Data) -> Iterable[Buffer]:
    """The content as an iterable of buffers, whichever way it was given."""
    return (data,) if isinstance(data, bytes | bytearray | memoryview) else data


_FORBIDDEN = re.compile(r"[\x00-\x1f\\]")


def check_path(path: str) -> str:
    """Return the path if it names a file below the root, in the form `a/b/c`.

    >>> check_path("db/table/data/0-00001-a1b2c3d4.sst")
    'db/table/data/0-00001-a1b2c3d4.sst'

    RAISES: UsageError for anything that could leave the root or mean another file elsewhere.
    """
    if any(part in ("", ".", "..") for part in path.split("/")) or _FORBIDDEN.search(path):
        raise UsageError(
            f"`{path!a}` is not a path inside a store",
            hint="paths look like `a/b/c`: no leading slash, no empty, `.` or `..` part, no backslash",
        )
    return path


def check_folder(folder: str) -> str:
    """Return the folder without a trailing slash, if it is the root (`""`) or below it.
    RAISES: UsageError as `check_path` does."""
    folder = folder.removesuffix("/")
    return check_path(folder) if folder else ""
