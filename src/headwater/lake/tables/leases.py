"""Leases: snapshots that a running reader needs, so that expiry leaves their files alone.

Readers in this process are simply remembered. For readers elsewhere a lease is a file, `lease/lease-{uuid}`: a copy
of the snapshot, and until when it holds. A reader that dies leaves a lease that ends by itself.
"""

import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import msgspec

from headwater.errors import NotFoundError
from headwater.files import Files
from headwater.lake.layout import PathFactory
from headwater.lake.snapshot import Snapshot, decode_snapshot, encode_snapshot

HOUR = 3600.0


class _Lease(msgspec.Struct, rename="camel"):
    until: float  # seconds since 1970
    snapshot: str


class Leases:
    """The leases of one table."""

    def __init__(self, files: Files, paths: PathFactory) -> None:
        self._files = files
        self._paths = paths
        self._here: Counter[int] = Counter()
        self._snapshots: dict[int, Snapshot] = {}
        self._lock = Lock()

    @contextmanager
    def reading(self, snapshot: Snapshot | None) -> Iterator[None]:
        """Keep a snapshot while this process reads it; expiry by another process does not know."""
        if snapshot is None:
            yield
            return
        with self._lock:
            self._here[snapshot.snapshot_id] += 1
            self._snapshots[snapshot.snapshot_id] = snapshot
        try:
            yield
        finally:
            with self._lock:
                self._here[snapshot.snapshot_id] -= 1
                if not self._here[snapshot.snapshot_id]:
                    del self._here[snapshot.snapshot_id], self._snapshots[snapshot.snapshot_id]

    @contextmanager
    def lease(self, snapshot: Snapshot, seconds: float = HOUR) -> Iterator[Snapshot]:
        """Keep a snapshot for a time, from expiry by any process."""
        path = self._paths.lease(uuid.uuid4().hex)
        body = _Lease(time.time() + seconds, encode_snapshot(snapshot).decode())
        self._files.put(path, msgspec.json.encode(body))
        try:
            yield snapshot
        finally:
            self._files.delete(path)

    def held(self, now: float) -> list[Snapshot]:
        """The snapshots that somebody reads; leases that ended are removed."""
        with self._lock:
            held = list(self._snapshots.values())
        for entry in self._files.list(self._paths.lease_folder):
            try:
                lease = msgspec.json.decode(self._files.get(entry.path), type=_Lease)
            except NotFoundError:
                continue
            if lease.until < now:
                self._files.delete(entry.path)
            else:
                held.append(decode_snapshot(lease.snapshot.encode(), entry.path))
        return held
