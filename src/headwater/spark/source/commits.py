"""The driver's side of a write: what is to be committed, and the one commit of it.

Spark runs the commit of `format("headwater")` in a process of its own; a write through the catalog is committed in
the driver's own Python, where `recent` then knows which snapshot it made.
"""

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from headwater.errors import UsageError
from headwater.lake.metadata.commit import Guard, PlacedFile, TableChange
from headwater.lake.metadata.manifest import Partition
from headwater.lake.metadata.snapshot import Operation, Origin, Snapshot
from headwater.lake.tables.conflicts import keys_unchanged
from headwater.lake.tables.edits import EditFiles, refuse_shared_keys
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.writes import commit, discard
from headwater.spark.source.due import compact_after
from headwater.spark.source.options import StoredAt
from headwater.spark.source.origin import origin_of
from headwater.spark.source.python_sources import WriterCommitMessage

DYNAMIC = "dynamic"
Replaced: TypeAlias = "str | frozenset[Partition] | None"
"""What a write takes the place of: `all`, the partitions it has rows in (`dynamic`), those listed, or nothing."""


class Written(WriterCommitMessage):
    """The files that one task has written; rows of a plain write are all `kept`."""

    def __init__(self, files: EditFiles) -> None:
        self.files = files


@dataclass(frozen=True, slots=True)
class WritePlan:
    """The plan of a write. Picklable; the same for all tasks and for the commit."""

    at: StoredAt
    schema_id: int
    user: str
    id: str
    operation: Operation
    replaced: Replaced = None
    removed: tuple[PlacedFile, ...] = ()  # files whose rows were read, changed and written again
    base: int | None = None  # the snapshot that the rows were made from, 0 for none
    origin: Origin | None = None
    replayed: bool = False  # it may have landed before
    since: int = 0  # but not up to this snapshot


@dataclass(frozen=True, slots=True)
class Landed:
    """A commit that was made through the catalog."""

    table: str
    commit_id: str
    snapshot: Snapshot
    execution_id: int | None  # Spark's, of the query that wrote


recent: deque[Landed] = deque(maxlen=1000)
"""The commits of this driver, oldest first."""
_lock = threading.Lock()


def finish(plan: WritePlan, messages: Iterable[Written | None]) -> Snapshot:
    """Make the files of all tasks the next snapshot.

    RAISES: CommitConflictError when what the rows were made from has changed, SchemaError when two rows of an UPDATE
    or MERGE would have one key; then the files are removed.
    """
    store = plan.at.open()
    written = [message for message in messages if message is not None]
    parts = [message.files for message in written]
    added = [placed for part in parts for placed in part.deletes]
    added += [placed for part in parts for placed in (*part.kept, *part.fresh)]
    if plan.base is not None:
        _refuse_shared(store, plan, parts)
    change = TableChange(
        *(plan.operation, plan.user, plan.id, plan.schema_id),
        added=tuple(added),
        removed=plan.removed,
        base=plan.base,
        guard=_guard(plan, store, added),
        origin=plan.origin,
        replayed=plan.replayed,
        since=plan.since,
    )
    if plan.replaced is not None:
        change = replace(change, replaces=True, replaced=_partitions(store, plan.replaced, added))
    return commit(store, change)


def finish_query(plan: WritePlan, messages: Iterable[Written | None], execution_id: int | None) -> Snapshot:
    """Commit a write of this driver's, with its origin, and remember it."""
    if plan.origin is None and execution_id is not None:
        plan = replace(plan, origin=origin_of(execution_id))
    snapshot = finish(plan, messages)
    compact_after(plan.at, snapshot)
    with _lock:
        recent.append(Landed(plan.at.place.table, plan.id, snapshot, execution_id))
    return snapshot


def finish_batch(plan: WritePlan, messages: Iterable[Written | None], batch: int) -> Snapshot | None:
    """Commit one batch of a stream, once: a batch that landed before is not written again. None if it is empty.

    The commits of a stream are numbered by their batches, so the last of them decides what has landed.
    """
    store = plan.at.open()
    written = [message for message in messages if message is not None]
    last = next((each for each in store.committer.log.newest_first() if each.commit_user == plan.user), None)
    if last is not None and int(last.commit_id) >= batch:
        undo(plan, written)
        return last
    if not any(message.files.all() for message in written) and plan.replaced is None:
        return None
    since = last.snapshot_id if last is not None else 0
    snapshot = finish(replace(plan, id=str(batch), replayed=True, since=since), written)
    compact_after(plan.at, snapshot, streamed=True)  # a stream goes on for years, and its batches are small
    return snapshot


def undo(plan: WritePlan, messages: Iterable[Written | None]) -> None:
    """Remove the files of a write that is not to be."""
    store = plan.at.open()
    for message in messages:
        if message is not None:
            discard(store, message.files.all())


def landed(table: str, execution_id: int) -> list[Landed]:
    """The commits to a table that one query of this driver has made."""
    with _lock:
        return [each for each in recent if each.table == table and each.execution_id == execution_id]


def _refuse_shared(store: TableStore, plan: WritePlan, parts: list[EditFiles]) -> None:
    """RAISES: SchemaError when two rows of a statement would have one key; then its files are removed."""
    base = store.committer.log.get(plan.base) if plan.base else None
    try:
        refuse_shared_keys(store, store.state(base, store.shape(plan.schema_id)), parts)
    except BaseException:
        discard(store, [placed for part in parts for placed in part.all()])
        raise


def _guard(plan: WritePlan, store: TableStore, added: list[PlacedFile]) -> Guard | None:
    """Refuse changes of rows that others have changed since they were read; rewritten files are looked at by name."""
    shape = store.shape(plan.schema_id)
    return keys_unchanged(store, shape, added) if plan.base is not None and shape.is_keyed else None


def _partitions(
    store: TableStore, replaced: str | frozenset[Partition], added: list[PlacedFile]
) -> frozenset[Partition] | None:
    if replaced == DYNAMIC:
        return frozenset(placed.partition for placed in added)
    if isinstance(replaced, str):
        return None
    for placed in added:
        if placed.partition not in replaced:
            discard(store, added)
            raise UsageError(f"rows of partition {placed.partition} are not in the partitions to overwrite")
    return replaced
