"""Universal compaction: which of the newest runs become one, with Paimon's three triggers in Paimon's order.

1. Space: the newer runs together are more than `max_size_amplification` percent of the oldest: all become one.
2. Ratio: from the newest on, a run is taken while it is not larger than those taken so far plus `size_ratio` percent.
3. Number: more than `compaction_trigger` runs: as many of the newest as bring it down.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.lake.engine.options import StorageOptions
from headwater.lake.engine.version import DataFile, SortedRun


@dataclass(frozen=True, slots=True)
class CompactionPick:
    """Files that become one run at `level`. `reason` says which trigger; `last` whether no older run is left out."""

    runs: tuple[SortedRun, ...]  # newest first
    level: int
    last: bool
    reason: str

    @property
    def files(self) -> tuple[DataFile, ...]:
        return tuple(file for run in self.runs for file in run.files)


def pick_universal(runs: Sequence[SortedRun], options: StorageOptions) -> CompactionPick | None:
    """The compaction that is due, None if none is. Runs are given newest first."""
    if len(runs) < 2:
        return None
    trigger = options.compaction_trigger
    if len(runs) >= trigger:
        newer = sum(run.size for run in runs[:-1])
        if newer * 100 > runs[-1].size * options.max_size_amplification:
            return pick_all(runs, options, "space amplification")
    if len(runs) > trigger:
        count = _by_ratio(runs, options, len(runs) - trigger + 1)
        return _pick(runs, count, options, "number of runs")
    if len(runs) >= trigger:
        count = _by_ratio(runs, options, 1)
        if count > 1:
            return _pick(runs, count, options, "size ratio")
    return None


def pick_all(runs: Sequence[SortedRun], options: StorageOptions, reason: str = "asked for") -> CompactionPick:
    """Everything into the last level."""
    return CompactionPick(tuple(runs), options.levels - 1, True, reason)


def _by_ratio(runs: Sequence[SortedRun], options: StorageOptions, count: int) -> int:
    size = sum(run.size for run in runs[:count])
    while count < len(runs) and size * (100 + options.size_ratio) >= runs[count].size * 100:
        size += runs[count].size
        count += 1
    return count


def _pick(runs: Sequence[SortedRun], count: int, options: StorageOptions, reason: str) -> CompactionPick | None:
    """The newest `count` runs, and more until there is a level between them and the rest."""
    while count < len(runs) and runs[count].level <= 1:
        count += 1
    if count < 2:
        return None
    if count == len(runs):
        return pick_all(runs, options, reason)
    return CompactionPick(tuple(runs[:count]), runs[count].level - 1, False, reason)
