"""Finds the compaction that is due and carries it out: read the runs as one, write the result, return the edit."""

from collections.abc import Iterator, Sequence

import msgspec

from headwater.errors import ValueOverflowError
from headwater.lake.engine.batch import RowKind, SortedBatch
from headwater.lake.engine.compaction.leveled import pick_leveled
from headwater.lake.engine.compaction.universal import CompactionPick, pick_all, pick_universal
from headwater.lake.engine.data_files import OpenFile, OpenRun, Shelf, open_runs
from headwater.lake.engine.merge import MergeRule
from headwater.lake.engine.options import CompactionStyle, StorageOptions
from headwater.lake.engine.scan import FilesCursor, cut_points, merge_cursors
from headwater.lake.engine.version import DataFile, SortedRun, VersionEdit
from headwater.lake.engine.write import FileWriter


def pick_compaction(
    runs: Sequence[SortedRun], options: StorageOptions, *, full: bool = False
) -> CompactionPick | None:
    """The compaction that is due, or with `full` of everything; None if there is nothing to do.
    Runs are given newest first."""
    if full:
        due = len(runs) > 1 or any(file.deletes or file.level == 0 for run in runs for file in run.files)
        return pick_all(runs, options) if due else None
    match options.compaction:
        case CompactionStyle.UNIVERSAL:
            return pick_universal(runs, options)
        case CompactionStyle.LEVELED:
            return pick_leveled(runs, options)


def compact_bucket(
    runs: Sequence[SortedRun],
    options: StorageOptions,
    *,
    full: bool,
    shelf: Shelf,
    rule: MergeRule,
    writer: FileWriter,
) -> tuple[CompactionPick, VersionEdit] | None:
    """Carry out the compaction of a bucket that is due, or of everything; None if there is nothing to do.
    A part of the runs can have a sum that does not fit, though all of them together have one: then all are merged.
    RAISES: ValueOverflowError when all of them do not fit either, in a table from before such writes were refused."""
    pick = pick_compaction(runs, options, full=full)
    if pick is None:
        return None
    try:
        return pick, compact_runs(pick, shelf=shelf, rule=rule, writer=writer)
    except ValueOverflowError:
        if pick.last and len(pick.files) == sum(len(run.files) for run in runs):
            raise
    pick = pick_all(runs, options, "a part of the runs overflows")
    return pick, compact_runs(pick, shelf=shelf, rule=rule, writer=writer)


def compact_runs(pick: CompactionPick, *, shelf: Shelf, rule: MergeRule, writer: FileWriter) -> VersionEdit:
    """Write the picked runs as one run and say what changes; nothing is live or removed yet.
    A single file that only changes its level is not rewritten, unless it has deletes that can go. RAISES:
    ValueOverflowError when a sum or product of these runs does not fit its column."""
    files = pick.files
    if len(files) == 1 and not (pick.last and files[0].deletes):
        return _move(files[0], pick.level)
    runs = open_runs(shelf, list(pick.runs), {})
    sequence = max(file.sequence for file in files)
    added = writer.write(_merged(runs, pick, rule.as_strict(shelf.codec)), level=pick.level, sequence=sequence)
    return VersionEdit(added=tuple(added), removed=files)


def _merged(runs: list[OpenRun], pick: CompactionPick, rule: MergeRule) -> Iterator[SortedBatch]:
    every = [file for run in runs for file in run.files]
    cursors = [FilesCursor(_batches(run.files), None, None) for run in reversed(runs)]
    for batch in merge_cursors(cursors, cut_points(every, None, None), rule, keep_deletes=not pick.last):
        yield batch if batch.kinds is None or (batch.kinds != RowKind.PUT).any() else _plain(batch)


def _plain(batch: SortedBatch) -> SortedBatch:
    return SortedBatch(batch.keys, None, batch.columns)


def _batches(files: list[OpenFile]) -> Iterator[SortedBatch]:
    for file in files:
        yield from file.batches(None, None)


def _move(file: DataFile, level: int) -> VersionEdit:
    return VersionEdit(added=(msgspec.structs.replace(file, level=level),), removed=(file,))
