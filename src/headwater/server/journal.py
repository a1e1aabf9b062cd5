"""The journal of events: what was acknowledged is on disk before the answer, whatever happens next.
Events wait in files of one event a line, `events-{id}.ndjson`, until they are in the graph. A process writes one file
at a time and holds a lock on it; a file whose lock is free belongs to a process that has ended, and who comes next
takes it over. Writes of many requests share one sync (group commit)."""

import fcntl
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from headwater.errors import NotWritableError, StorageError
from headwater.events import new_run_id

_PATTERN = "events-*.ndjson"
_Entry = tuple[bytes, "Future[None]"]


class Journal:
    """A folder of events that are not in the graph yet."""

    def __init__(self, folder: Path) -> None:
        """RAISES: NotWritableError."""
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._path, self._file = self._open()
        except OSError as err:
            raise NotWritableError(f"events cannot be kept in {folder}: {err.strerror}") from err
        self._dirty = False
        self._lock = threading.Lock()
        self._queue: SimpleQueue[_Entry | None] = SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="journal", daemon=True)
        self._writer.start()

    def append(self, lines: bytes) -> "Future[None]":
        """Keep some whole lines; the future is done when they are on disk, or failed when they are not."""
        kept: Future[None] = Future()
        self._queue.put((lines, kept))
        return kept

    def sealed(self) -> Iterator[Path]:
        """The files that nobody writes any more, oldest first; what was appended so far is among them.
        Each is locked until the next is asked for, so that two processes do not take the same."""
        with self._lock:
            if self._dirty:
                os.close(self._file)
                self._path, self._file = self._open()
                self._dirty = False
        for path in sorted(self.folder.glob(_PATTERN)):
            with suppress(FileNotFoundError, BlockingIOError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if path.exists():
                    yield path

    def close(self) -> None:
        """Write what waits; then no more."""
        self._queue.put(None)
        self._writer.join()
        with self._lock:
            if not self._dirty:
                self._path.unlink(missing_ok=True)
            os.close(self._file)

    def _open(self) -> tuple[Path, int]:
        path = self.folder / f"events-{new_run_id()}.ndjson"
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)  # else the file itself could be lost
        finally:
            os.close(folder)
        return path, file

    def _write(self) -> None:
        ended = False
        while not ended:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            entries = [entry for entry in batch if entry is not None]
            ended = len(entries) < len(batch)
            if entries:
                self._commit(entries)

    def _commit(self, entries: list[_Entry]) -> None:
        data = b"".join(lines for lines, _ in entries)
        failed: StorageError | None = None
        with self._lock:
            try:
                self._dirty = True
                _write_all(self._file, data)
            except OSError as err:
                failed = StorageError(f"the event could not be kept: {err.strerror}")
                failed.__cause__ = err
        for _, kept in entries:
            if failed is None:
                kept.set_result(None)
            else:
                kept.set_exception(failed)


def _write_all(file: int, data: bytes) -> None:
    """Write everything, or nothing: a torn line would take the next one with it."""
    size = os.fstat(file).st_size
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fdatasync(file)
    except OSError:
        os.ftruncate(file, size)
        raise
