"""Leases: snapshots that a running reader needs, so that expiry leaves their files alone.

Readers in this process are simply remembered. For other processes a lease is a file, `lease/lease-{uuid}`: a copy of
the snapshot, and until when it holds. A reader leases a snapshot and then looks whether it is still there; expiry
forgets snapshots, and then looks for leases before it removes what they need. So either the reader finds the snapshot
gone before it has read anything, or expiry finds the lease. A scan of the latest state in an object store, where a
lease costs two requests, takes one when it lasts more than a few seconds. A reader that dies leaves a lease that ends
by itself; one that may not write reads without.
"""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock

import msgspec

from headwater.errors import NotFoundError, NotWritableError
from headwater.files import Files
from headwater.files.protocol import Locking
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.stored_json import decode_json
from headwater.lake.metadata.snapshot import Snapshot, decode_snapshot, encode_snapshot
from headwater.lake.metadata.tags import Tags

HOUR = 3600.0
_PATIENCE = 3.0  # seconds that a read of an object store may take without a lease


class _Lease(msgspec.Struct, rename="camel"):
    until: float  # seconds since 1970, by the clock of who reads
    snapshot: str
    seconds: float = 0.0  # how long it holds from the date of its file, which the store has set; 0: as `until` says


class _LongRead:
    """One read: when to lease, and when to renew."""

    def __init__(self, lease: Callable[[str], None], path: str, patience: float) -> None:
        self.path = path
        self.leased = False
        self._lease = lease
        self._due = time.monotonic() + patience

    def step(self) -> None:
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + HOUR / 2
            with suppress(NotWritableError):
                self._lease(self.path)
                self.leased = True


class Leases:
    """The leases of one table."""

    def __init__(self, files: Files, paths: PathFactory, tags: Tags) -> None:
        self._files = files
        self._paths = paths
        self._tags = tags
        self._here: Counter[int] = Counter()
        self._snapshots: dict[int, Snapshot] = {}
        self._lock = Lock()

    @contextmanager
    def reading(self, snapshot: Snapshot | None, *, past: bool = False) -> Iterator[Callable[[], None]]:
        """Keep a snapshot while this process reads it, one of the past and one on a disk by a lease from the start.
        Call the result now and then: it leases what takes long. RAISES: NotFoundError when it has expired already."""
        if snapshot is None:
            yield lambda: None
            return
        with self._lock:
            self._here[snapshot.snapshot_id] += 1
            self._snapshots[snapshot.snapshot_id] = snapshot
        path = self._paths.lease(uuid.uuid4().hex)
        at_once = past or isinstance(self._files, Locking)
        long = _LongRead(lambda path: self._take(path, snapshot), path, 0.0 if at_once else _PATIENCE)
        try:
            long.step()
            yield long.step
        finally:
            if long.leased:
                self._files.delete(long.path)
            with self._lock:
                self._here[snapshot.snapshot_id] -= 1
                if not self._here[snapshot.snapshot_id]:
                    del self._here[snapshot.snapshot_id], self._snapshots[snapshot.snapshot_id]

    @contextmanager
    def lease(self, snapshot: Snapshot, seconds: float = HOUR) -> Iterator[Snapshot]:
        """Keep a snapshot for a time, from expiry by any process."""
        path = self._paths.lease(uuid.uuid4().hex)
        self._write(path, snapshot, seconds)
        try:
            yield snapshot
        finally:
            self._files.delete(path)

    def grant(self, snapshot: Snapshot, seconds: float = HOUR) -> None:
        """Keep a snapshot for readers in other processes; the lease ends by itself."""
        self._write(self._paths.lease(uuid.uuid4().hex), snapshot, seconds)

    def _take(self, path: str, snapshot: Snapshot) -> None:
        """Lease a snapshot that may be expiring. Nothing waits for the disk: a loss of power ends the reader, too."""
        self._write(path, snapshot, HOUR, synced=False)
        try:
            self._files.get_range(self._paths.snapshot(snapshot.snapshot_id), 0, 1)
        except NotFoundError:
            others = [*self._tags.all().values(), *(each for own, each in self._written() if own != path)]
            if all(each.snapshot_id != snapshot.snapshot_id for each in others):
                self._files.delete(path)
                raise

    def _write(self, path: str, snapshot: Snapshot, seconds: float, *, synced: bool = True) -> None:
        body = _Lease(time.time() + seconds, encode_snapshot(snapshot).decode(), seconds)
        self._files.put(path, msgspec.json.encode(body), synced=synced)

    def held(self, now: float) -> list[Snapshot]:
        """The snapshots that somebody reads; leases that ended are removed. `now` is by the clock of the store."""
        with self._lock:
            held = list(self._snapshots.values())
        held += [snapshot for _, snapshot in self._written(now)]
        return [snapshot for snapshot in held if self._is_there(snapshot)]

    def _is_there(self, snapshot: Snapshot) -> bool:
        """Return whether a snapshot can be read; a lease that came too late is about to be given up."""
        try:
            return bool(self._files.get_range(self._paths.manifest(snapshot.manifest_list), 0, 1))
        except NotFoundError:
            return False

    def _written(self, now: float = 0.0) -> Iterator[tuple[str, Snapshot]]:
        """The leases in files, by path; those that ended before `now` are removed."""
        for entry in self._files.list(self._paths.lease_folder):
            try:
                lease = decode_json(self._files.get(entry.path), _Lease, entry.path)
            except NotFoundError:
                continue
            ends = entry.modified + lease.seconds if lease.seconds else lease.until
            if ends < now:
                self._files.delete(entry.path)
            else:
                yield entry.path, decode_snapshot(lease.snapshot.encode(), entry.path)
