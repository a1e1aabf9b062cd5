"""A store that fails on purpose: how we prove what a crash leaves behind.

Every call has a number. At one of them the store fails once (the caller goes on), or dies (it and all later calls
raise `Death`, as if the power went). `recover` then gives the store as a disk would show it after the restart: bytes
appended but not synced are cut off, files put without a sync are empty, deletions not yet synced with their folder
are undone.
"""

import threading
from collections.abc import Callable
from enum import Enum
from typing import Protocol, TypeVar

from headwater.errors import NotFoundError, StorageError
from headwater.files.protocol import Appender, Appending, Buffer, Data, FileEntry, Files, pieces

T = TypeVar("T")


class Death(BaseException):
    """The process is gone. Not an `Exception`: nothing in the program may survive it by catching errors."""


class Fault(Enum):
    """What happens at the chosen call."""

    FAIL = "the call does nothing and raises"
    LOSE_REPLY = "the call takes effect and raises all the same"
    DIE = "the power goes before the call takes effect"
    DIE_AFTER = "the power goes after the call took effect, before it returns"


class _AppendingFiles(Files, Appending, Protocol):
    """A store that can do both."""


class FaultyFiles:
    """A store that does what another one does, except at call number `at` (from 1; 0 is never)."""

    def __init__(self, inner: _AppendingFiles, *, at: int = 0, fault: Fault = Fault.DIE) -> None:
        self.inner = inner
        self.at = at
        self.fault = fault
        self.trace: list[str] = []
        self._lock = threading.RLock()
        self._dead = False
        self._deleted: dict[str, bytes] = {}  # deletions a loss of power would undo
        self._logs: dict[str, int] = {}  # log → bytes of it that are synced
        self._hints: set[str] = set()  # files put without a sync

    @property
    def url(self) -> str:
        return self.inner.url

    @property
    def calls(self) -> int:
        return len(self.trace)

    def get(self, path: str) -> bytes:
        return self._call("get", path, lambda: self.inner.get(path))

    def get_range(self, path: str, start: int, length: int) -> bytes:
        return self._call("get_range", path, lambda: self.inner.get_range(path, start, length))

    def put(self, path: str, data: Data, *, synced: bool = True) -> None:
        content = b"".join(pieces(data))
        if synced:
            self._call("put", path, lambda: self._publish(self.inner.put, path, content))
        else:
            self._call("put", path, lambda: self._hint(path, content))

    def put_if_absent(self, path: str, data: Data) -> None:
        content = b"".join(pieces(data))
        self._call("put_if_absent", path, lambda: self._publish(self.inner.put_if_absent, path, content))

    def list(self, folder: str = "", *, deep: bool = False) -> list[FileEntry]:
        return self._call("list", folder, lambda: self.inner.list(folder, deep=deep))

    def delete(self, path: str) -> None:
        self._call("delete", path, lambda: self._delete(path))

    def appender(self, path: str) -> "FaultyAppender":
        log = self._call("appender", path, lambda: self.inner.appender(path))
        self._sync_folder(path)
        self._logs[path] = 0
        return FaultyAppender(self, path, log)

    def recover(self, *, kept: float = 0.0) -> Files:
        """The store after the restart, when `kept` of the unsynced bytes had reached the disk by chance."""
        with self._lock:
            self._dead = True  # whatever still runs on this side of the crash must not touch the other
            for path, synced in self._logs.items():
                self._tear(path, synced, kept)
            if kept < 1.0:
                for path in self._hints:
                    self.inner.put(path, b"")
                for path, content in self._deleted.items():
                    self.inner.put(path, content)
            return self.inner

    def mark_synced(self, path: str) -> None:
        """Note that all of a log is on disk."""
        if path in self._logs:
            self._logs[path] = len(self.inner.get(path))

    def _call(self, verb: str, path: str, action: Callable[[], T]) -> T:
        with self._lock:
            if self._dead:
                raise Death
            self.trace.append(f"{verb} {path}")
            if self.calls != self.at:
                return action()
            self._dead = self.fault in (Fault.DIE, Fault.DIE_AFTER)
            if self.fault in (Fault.LOSE_REPLY, Fault.DIE_AFTER):
                action()
            if self._dead:
                raise Death
            raise StorageError(f"{verb} {path}: failed on purpose at call {self.at}")

    def _publish(self, publish: Callable[[str, bytes], None], path: str, content: bytes) -> None:
        publish(path, content)
        self._hints.discard(path)
        self._sync_folder(path)

    def _hint(self, path: str, content: bytes) -> None:
        self.inner.put(path, content, synced=False)
        self._hints.add(path)

    def _sync_folder(self, path: str) -> None:
        """A published file syncs its folder, and with it the folder's deletions."""
        folder = path.rpartition("/")[0]
        self._deleted = {
            gone: content for gone, content in self._deleted.items() if gone.rpartition("/")[0] != folder
        }

    def _delete(self, path: str) -> None:
        try:
            self._deleted[path] = self.inner.get(path)
        except NotFoundError:
            return
        self._logs.pop(path, None)
        self._hints.discard(path)
        self.inner.delete(path)

    def _tear(self, path: str, synced: int, kept: float) -> None:
        content = self.inner.get(path)
        self.inner.put(path, content[: synced + int((len(content) - synced) * kept)])


class FaultyAppender:
    """A log of a faulty store; appends and syncs are numbered calls as well."""

    def __init__(self, files: FaultyFiles, path: str, log: Appender) -> None:
        self._files = files
        self._path = path
        self._log = log

    def append(self, data: Buffer) -> None:
        self._files._call("append", self._path, lambda: self._log.append(data))

    def sync(self) -> None:
        self._files._call("sync", self._path, self._sync)

    def close(self) -> None:
        self._files._call("close", self._path, self._close)

    def _sync(self) -> None:
        self._log.sync()
        self._files.mark_synced(self._path)

    def _close(self) -> None:
        self._log.close()
        self._files.mark_synced(self._path)
