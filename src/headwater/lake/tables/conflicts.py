"""Conflict checks: rows that a statement read must be unchanged when it writes them back.
A commit that was made from a state (an UPDATE, a MERGE) must not hide what others wrote to the same keys in between.
Key ranges of files decide most cases; where they overlap, the keys themselves are compared."""

from collections.abc import Sequence

from headwater.errors import CommitConflictError
from headwater.lake.engine.data_files import OpenFile, Shelf
from headwater.lake.metadata.commit import Guard, PlacedFile
from headwater.lake.metadata.manifest import EntryKind, ManifestEntry
from headwater.lake.metadata.snapshot import Operation, Snapshot
from headwater.lake.tables.shape import Shape
from headwater.lake.tables.store import TableStore


def keys_unchanged(store: TableStore, shape: Shape, added: Sequence[PlacedFile]) -> Guard:
    """A guard that refuses a commit of `added` when another has touched one of its keys."""
    shelf = store.shelf(shape)

    def check(between: Snapshot, entries: Sequence[ManifestEntry]) -> None:
        if between.operation is Operation.COMPACT:
            return  # the same rows in other files
        for entry in entries:
            for mine in added:
                if (mine.partition, mine.bucket) == (entry.partition, entry.bucket) and _meet(mine, entry, shelf):
                    raise CommitConflictError(
                        f"{store.name}: snapshot {between.snapshot_id} changed rows that were read before it",
                        hint="do the work again on the new state",
                    )

    return check


def nothing_changed(store: TableStore) -> Guard:
    """A guard that refuses a commit when any other has changed rows of the table."""

    def check(between: Snapshot, entries: Sequence[ManifestEntry]) -> None:
        if between.operation is not Operation.COMPACT:
            raise CommitConflictError(
                f"{store.name}: snapshot {between.snapshot_id} was made since the table was read",
                hint="do the work again on the new state",
            )

    return check


def _meet(mine: PlacedFile, entry: ManifestEntry, shelf: Shelf) -> bool:
    if entry.file.min_key > mine.file.max_key or mine.file.min_key > entry.file.max_key:
        return False
    if entry.kind is EntryKind.DELETE:  # an overwrite or a rollback: what was read is gone
        return True
    small, large = sorted((mine.file, entry.file), key=lambda file: file.rows)
    opened = OpenFile(shelf, large)
    return any(opened.find_many(batch.keys) for batch in OpenFile(shelf, small).batches(None, None))
