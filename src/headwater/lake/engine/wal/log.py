"""Writing the log, with one sync for many writers.
A writer appends under a short lock and then waits until its bytes are on disk. Whoever waits first syncs for all that
was appended up to then (group commit); the others find themselves covered."""

import threading
from contextlib import suppress

from headwater.errors import StorageError
from headwater.files import Appender
from headwater.lake.engine.options import Fsync
from headwater.lake.engine.wal.format import HEADER


class WAL:
    """One open log, of one memtable."""

    def __init__(self, appender: Appender, sequence: int, *, fsync: Fsync, interval_millis: int = 100) -> None:
        self.sequence = sequence
        self.size = 0
        self.syncs = 0
        self._appender = appender
        self._fsync = fsync
        self._interval = interval_millis / 1000
        self._lock = threading.Lock()
        self._sync_lock = threading.Lock()
        self._synced = 0
        self._timer: threading.Timer | None = None
        self._closed = False
        self._broken = False
        self.append(HEADER)

    def append(self, data: bytes) -> int:
        """Write records; the result is the size they must be synced to (`wait`)."""
        with self._lock:
            self._refuse_if_broken()
            try:
                self._appender.append(data)
            except BaseException:
                self._broken = True  # half a record may be there: nothing may be written after it
                raise
            self.size += len(data)
            if self._fsync is Fsync.INTERVAL and self._timer is None and not self._closed:
                self._timer = threading.Timer(self._interval, self._sync_by_timer)
                self._timer.daemon = True
                self._timer.start()
            return self.size

    def wait(self, size: int) -> None:
        """Return when the log is on disk up to `size`, if the policy is to wait for that."""
        if self._fsync is Fsync.ALWAYS and self._synced < size:
            with self._sync_lock:
                if self._synced < size:
                    self._sync()

    def close(self) -> None:
        """Sync and close."""
        with self._sync_lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
            self._appender.close()
            self._synced = self.size  # writers that still wait are covered

    def _sync(self) -> None:
        self._refuse_if_broken()
        covered = self.size  # read before the sync: what is appended during it may not be covered
        try:
            self._appender.sync()
        except BaseException:
            self._broken = True  # after a failed sync nobody knows what is on disk
            raise
        self.syncs += 1
        self._synced = covered

    def _refuse_if_broken(self) -> None:
        if self._broken:
            raise StorageError(
                f"write-ahead log {self.sequence} failed before",
                hint="flush() moves the rows in memory to a data file and starts a new log",
            )

    def _sync_by_timer(self) -> None:
        with self._sync_lock:
            self._timer = None
            if not self._closed:
                with suppress(BaseException):  # the log is broken now, and says so at the next write
                    self._sync()
