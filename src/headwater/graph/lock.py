"""One change of the graph after the other, and none on top of one that was left half done.
A change is several commits and then a record. If another change came between them, its record would show the half of
the first; and after a death the half would stay for ever, under whatever comes next. So changes take turns, by a lock
of the warehouse, and each begins by taking back what a process that died has left. Object stores have no locks:
there, a warehouse has one writer of lineage at a time, or readers may see the half of a change until it is redone."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from headwater.errors import NotWritableError, StorageError
from headwater.files import Held, Locking
from headwater.graph.tables import DATABASE
from headwater.lake.metadata.snapshot import Operation, Snapshot
from headwater.lake.tables import Table, Warehouse

_LOCK = f"{DATABASE}/LOCK"
_PAUSE = 0.05
_PATIENCE = 600.0  # seconds: a change of millions of edges takes a minute
UNDO = "headwater-graph-undo"


@contextmanager
def one_at_a_time(warehouse: Warehouse) -> Iterator[bool]:
    """Keep other changes out while the block runs; the result says whether that can be done here.
    RAISES: StorageError when another change does not come to its end."""
    files = warehouse.files
    if not isinstance(files, Locking):
        yield False
        return
    held = _taken(files)
    try:
        yield True
    finally:
        held.close()


def _taken(files: Locking) -> Held:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return files.lock(_LOCK)
        except NotWritableError:
            raise
        except StorageError as err:
            if time.monotonic() > until:
                raise StorageError("another change of the graph does not come to its end") from err
            time.sleep(_PAUSE)


def take_back(table: Table, pin: int, mine: str) -> int:
    """Make a table again what its pinned snapshot (0: none) shows, if an unfinished change has written to it.
    What the change `mine` itself has written stays. Returns the snapshot that took something back, 0 if none did."""
    for snapshot in table.store.committer.log.newest_first():
        if snapshot.snapshot_id <= pin or snapshot.commit_id.startswith(mine):
            return 0
        if _takes_back(snapshot):
            return snapshot.snapshot_id
        if snapshot.operation is not Operation.COMPACT:
            break
    else:
        return 0
    if pin:
        return table.rollback(pin).snapshot_id
    return table.overwrite([], commit_user=UNDO, commit_id=f"after-{snapshot.snapshot_id}").snapshot_id


def keeps_rows(snapshot: Snapshot) -> bool:
    """Return whether a snapshot after the pinned one shows the same rows: a compaction, or the undoing of a dead
    change."""
    return snapshot.operation is Operation.COMPACT or _takes_back(snapshot)


def _takes_back(snapshot: Snapshot) -> bool:
    return snapshot.operation is Operation.ROLLBACK or snapshot.commit_user == UNDO


def take_back_all(tables: Mapping[str, Table], pins: Mapping[str, int], mine: str = "-") -> dict[str, int]:
    """`take_back` for tables by their names."""
    return {name: take_back(table, pins.get(name, 0), mine) for name, table in tables.items()}
