"""Every retained version of one key."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headwater.lake.engine.keys import as_bytes
from headwater.lake.engine.row import Row
from headwater.lake.metadata.snapshot import Operation, Snapshot
from headwater.lake.tables.read import get_rows, require_key
from headwater.lake.tables.routing import place_of
from headwater.lake.tables.state import Place
from headwater.lake.tables.store import TableStore


@dataclass(frozen=True, slots=True)
class KeyVersion:
    """The row of a key from a snapshot on, until the next version; None if there was none."""

    snapshot_id: int
    timestamp: int  # milliseconds since 1970
    operation: Operation
    kind: str  # +I the row came, U it changed, -D it went
    row: Row | None


def key_history(store: TableStore, key: Any) -> Iterator[KeyVersion]:
    """The versions of a key, oldest first, from the oldest snapshot that is kept.
    Rows are shown by the latest schema, so that versions can be compared."""
    shape = store.shape()
    require_key(store, shape, "follow a key")
    with store.naming():
        native = shape.codec.native(key)
    place = place_of(native, shape) if shape.buckets else ((), 0)
    row: Row | None = None
    first = True
    for id in store.committer.log.ids():
        snapshot = store.committer.log.get(id)
        if not first and not _touches(store, snapshot, place, as_bytes(native)):
            continue
        first = False
        now = get_rows(store, store.state(snapshot, shape), [key])[0]
        if now != row and repr(now) != repr(row):  # NaN is not equal to itself
            kind = "+I" if row is None else "-D" if now is None else "U"
            yield KeyVersion(id, snapshot.timestamp, snapshot.operation, kind, now)
        row = now


def _touches(store: TableStore, snapshot: Snapshot, place: Place, key: bytes) -> bool:
    """Return whether a commit added or removed a file that can hold the key; a compaction changes no rows."""
    return snapshot.operation is not Operation.COMPACT and any(
        (entry.partition, entry.bucket) == place and entry.file.min_key <= key <= entry.file.max_key
        for entry in store.committer.delta(snapshot)
    )
