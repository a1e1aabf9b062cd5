"""Files in the memory of this process: for tests, examples and scratch warehouses (`memory://name`)."""

import threading
import time

from headwater.errors import AlreadyExistsError, NotFoundError, StorageError, UsageError
from headwater.files.protocol import Buffer, Data, FileEntry, check_folder, check_path, pieces


class MemoryFiles:
    """A store in a dictionary, gone with the process."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._lock = threading.Lock()
        self._files: dict[str, tuple[bytes | bytearray, float]] = {}
        self._locked: set[str] = set()

    @property
    def url(self) -> str:
        return f"memory://{self.name}"

    def __repr__(self) -> str:
        return f"MemoryFiles({self.name!r})"

    def __reduce__(self) -> str:
        raise UsageError(f"{self.url} is in the memory of one process, and cannot be handed to another")

    def get(self, path: str) -> bytes:
        try:
            return bytes(self._files[check_path(path)][0])
        except KeyError:
            raise NotFoundError(f"there is no file {path} in {self.url}") from None

    def get_range(self, path: str, start: int, length: int) -> bytes:
        data = self.get(path)
        start = max(0, len(data) + start) if start < 0 else start
        return data[start : start + length]

    def map(self, path: str) -> memoryview:
        return memoryview(self.get(path))

    def put(self, path: str, data: Data, *, synced: bool = True) -> None:
        content = b"".join(pieces(data))
        with self._lock:
            self._files[check_path(path)] = (content, time.time())

    def put_if_absent(self, path: str, data: Data) -> None:
        content = b"".join(pieces(data))
        with self._lock:
            if check_path(path) in self._files:
                raise AlreadyExistsError(f"{path} already exists in {self.url}")
            self._files[path] = (content, time.time())

    def list(self, folder: str = "", *, deep: bool = False) -> list[FileEntry]:
        prefix = f"{check_folder(folder)}/" if folder else ""
        with self._lock:
            files = list(self._files.items())
        entries = {}
        for path, (data, modified) in files:
            if path.startswith(prefix):
                head, slash, _ = path[len(prefix) :].partition("/")
                entry = FileEntry(path, len(data), modified)
                if slash and not deep:
                    entry = FileEntry(f"{prefix}{head}/")
                entries[entry.path] = entry
        return [entries[path] for path in sorted(entries)]

    def delete(self, path: str) -> None:
        with self._lock:
            self._files.pop(check_path(path), None)

    def appender(self, path: str) -> "MemoryAppender":
        log = bytearray()
        with self._lock:
            if check_path(path) in self._files:
                raise AlreadyExistsError(f"{path} already exists in {self.url}")
            self._files[path] = (log, time.time())
        return MemoryAppender(path, log)

    def lock(self, path: str) -> "MemoryLock":
        with self._lock:
            if check_path(path) in self._locked:
                raise StorageError(f"{path} is held by another writer", hint="close the other one first")
            self._locked.add(path)
        return MemoryLock(self._locked, path)


class MemoryLock:
    """A lock between parts of one process."""

    def __init__(self, locked: set[str], path: str) -> None:
        self._locked = locked
        self._path = path

    def close(self) -> None:
        self._locked.discard(self._path)


class MemoryAppender:
    """A log in memory; syncing it means nothing."""

    def __init__(self, path: str, log: bytearray) -> None:
        self._path = path
        self._log: bytearray | None = log

    def append(self, data: Buffer) -> None:
        self._open_log().extend(data)

    def sync(self) -> None:
        self._open_log()

    def close(self) -> None:
        self._log = None

    def _open_log(self) -> bytearray:
        if self._log is None:
            raise StorageError(f"{self._path} is closed")
        return self._log
