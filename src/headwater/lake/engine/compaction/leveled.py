"""Levelled compaction: every level below the first may hold ten times what the level above it may.
Level 0 goes to level 1 when it has `compaction_trigger` runs; a level that is too large gives the file whose turn it
is, with what it overlaps, to the next. Less space than universal compaction, more writing."""

from collections.abc import Sequence

from headwater.lake.engine.compaction.universal import CompactionPick
from headwater.lake.engine.options import StorageOptions
from headwater.lake.engine.version import DataFile, SortedRun

_GROWTH = 10


def pick_leveled(runs: Sequence[SortedRun], options: StorageOptions) -> CompactionPick | None:
    """The compaction that is due, None if none is. Runs are given newest first."""
    zero = [run for run in runs if run.level == 0]
    levels = {run.level: run for run in runs if run.level > 0}
    if len(zero) >= options.compaction_trigger:
        return _into_next(zero, 0, levels, "level 0 has enough runs")
    base = options.memtable_size * options.compaction_trigger
    for level in range(1, options.levels - 1):
        run = levels.get(level)
        if run is not None and run.size > base * _GROWTH ** (level - 1):
            oldest = min(run.files, key=lambda file: file.sequence)
            return _into_next([SortedRun(level, (oldest,))], level, levels, f"level {level} is full")
    return None


def _into_next(chosen: Sequence[SortedRun], level: int, levels: dict[int, SortedRun], reason: str) -> CompactionPick:
    """Chosen runs of one level and the files of the next that overlap them.
    Deletes are dropped only if nothing deeper has a key between the ends of all that is merged: a file of the next
    level may reach farther than those that brought it in, and its deletes with it."""
    runs = list(chosen)
    below = levels.get(level + 1)
    low, high = _ends(runs)
    overlapping = () if below is None else tuple(file for file in below.files if _overlaps(file, low, high))
    if overlapping:
        runs.append(SortedRun(level + 1, overlapping))
    low, high = _ends(runs)
    deeper = any(
        _overlaps(file, low, high) for other, run in levels.items() if other > level + 1 for file in run.files
    )
    return CompactionPick(tuple(runs), level + 1, not deeper, reason)


def _ends(runs: Sequence[SortedRun]) -> tuple[bytes, bytes]:
    files = [file for run in runs for file in run.files]
    return min(file.min_key for file in files), max(file.max_key for file in files)


def _overlaps(file: DataFile, low: bytes, high: bytes) -> bool:
    return file.min_key <= high and file.max_key >= low
