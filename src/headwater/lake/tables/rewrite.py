"""Changing rows of a table without a key: files that hold such rows are written anew, the others stay."""

from collections.abc import Callable, Iterable

import pyarrow as pa

from headwater.errors import CommitConflictError
from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.formats.positions import numbered
from headwater.lake.engine.predicates import Where, filter_batch, mask_batch
from headwater.lake.engine.types import conform
from headwater.lake.engine.version import DataFile
from headwater.lake.metadata.commit import PlacedFile, TableChange
from headwater.lake.metadata.snapshot import Snapshot
from headwater.lake.tables.plan import Split, plan_scan
from headwater.lake.tables.read import file_batches
from headwater.lake.tables.shape import Shape
from headwater.lake.tables.state import TableState
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.writes import CommitFacts, commit, discard

ATTEMPTS = 20
Edit = Callable[[pa.Table], pa.Table]


def rewrite_where(store: TableStore, where: Where, facts: CommitFacts, edit: Edit | None = None) -> Snapshot:
    """Replace the rows for which predicates hold by what `edit` makes of them; without it they are deleted.
    Edited rows stay in their partition. REQUIRES: a table without a primary key. RAISES: CommitConflictError when
    others rewrote the same files again and again."""
    for attempt in range(ATTEMPTS):
        state = store.latest()
        removed: list[PlacedFile] = []
        added: list[PlacedFile] = []
        try:
            for split in plan_scan(store, state, None, where).splits:
                for file in split.files:
                    _rewrite(store, state, split, file, edit, (removed, added))
        except BaseException:
            discard(store, added)
            raise
        change = TableChange(
            *(facts.operation, facts.user, facts.id, state.shape.schema.id),
            added=tuple(added),
            removed=tuple(removed),
            base=state.snapshot_id if removed else None,
            origin=facts.origin,
            replayed=facts.replayed,
        )
        try:
            return commit(store, change)
        except CommitConflictError:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError


def _rewrite(
    store: TableStore,
    state: TableState,
    split: Split,
    file: DataFile,
    edit: Edit | None,
    changed: tuple[list[PlacedFile], list[PlacedFile]],
) -> None:
    """Write one file anew, if predicates hold for one of its rows."""
    shape = state.shape
    names = list(shape.schema.names)
    kept: list[pa.RecordBatch] = []
    touched = 0
    for batch in file_batches(OpenFile(state.shelf, file), names):
        mask = mask_batch(batch, split.where)
        touched += int(mask.sum())
        kept.append(batch.filter(pa.array(~mask)))
        if edit is not None and mask.any():
            edited = conform(edit(pa.Table.from_batches([filter_batch(batch, split.where)])), shape.schema)
            kept += [pa.RecordBatch.from_arrays(each.columns, names=names) for each in edited.to_batches()]
    if not touched:
        return
    changed[0].append(PlacedFile(file, split.bucket, split.partition))
    rows = pa.concat_batches([batch for batch in kept if len(batch)]) if any(len(batch) for batch in kept) else None
    if rows is not None:
        changed[1].extend(write_rewritten(store, shape, split, [rows], file.sequence))


def write_rewritten(
    store: TableStore, shape: Shape, split: Split, parts: Iterable[pa.RecordBatch], sequence: int
) -> list[PlacedFile]:
    """Write rows in the place of older files; level 1, so that they keep the age they have."""
    writer = store.writer(shape, split.partition, split.bucket)
    files = writer.write(numbered(parts), level=1, sequence=sequence)
    return [PlacedFile(file, split.bucket, split.partition) for file in files]
