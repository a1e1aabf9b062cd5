"""Carrying out a compaction: read the picked runs as one, write the result, return the edit."""

from collections.abc import Iterator

import msgspec

from headwater.lake.engine.batch import Kind, SortedBatch
from headwater.lake.engine.compaction.universal import CompactionPick
from headwater.lake.engine.merge import MergeRule
from headwater.lake.engine.opened import OpenFile, OpenRun, Shelf, open_runs
from headwater.lake.engine.scan import FilesCursor, cut_points, merge_cursors
from headwater.lake.engine.version import DataFile, VersionEdit
from headwater.lake.engine.write import FileWriter


def compact_runs(pick: CompactionPick, *, shelf: Shelf, rule: MergeRule, writer: FileWriter) -> VersionEdit:
    """Write the picked runs as one run and say what changes; nothing is live or removed yet.

    A single file that only changes its level is not rewritten, unless it has deletes that can go.
    """
    files = pick.files
    if len(files) == 1 and not (pick.last and files[0].deletes):
        return _move(files[0], pick.level)
    runs = open_runs(shelf, list(pick.runs), {})
    sequence = max(file.sequence for file in files)
    added = writer.write(_merged(runs, pick, rule), level=pick.level, sequence=sequence)
    return VersionEdit(added=tuple(added), removed=files)


def _merged(runs: list[OpenRun], pick: CompactionPick, rule: MergeRule) -> Iterator[SortedBatch]:
    every = [file for run in runs for file in run.files]
    cursors = [FilesCursor(_batches(run.files), None, None) for run in reversed(runs)]
    for batch in merge_cursors(cursors, cut_points(every, None, None), rule, keep_deletes=not pick.last):
        yield batch if batch.kinds is None or (batch.kinds != Kind.PUT).any() else _plain(batch)


def _plain(batch: SortedBatch) -> SortedBatch:
    return SortedBatch(batch.keys, None, batch.columns)


def _batches(files: list[OpenFile]) -> Iterator[SortedBatch]:
    for file in files:
        yield from file.batches(None, None)


def _move(file: DataFile, level: int) -> VersionEdit:
    return VersionEdit(added=(msgspec.structs.replace(file, level=level),), removed=(file,))
