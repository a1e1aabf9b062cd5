"""Which compaction is due, by the style of the table."""

from collections.abc import Sequence

from headwater.lake.engine.compaction.leveled import pick_leveled
from headwater.lake.engine.compaction.universal import CompactionPick, pick_all, pick_universal
from headwater.lake.engine.options import CompactionStyle, StorageOptions
from headwater.lake.engine.version import SortedRun


def pick_compaction(
    runs: Sequence[SortedRun], options: StorageOptions, *, full: bool = False
) -> CompactionPick | None:
    """The compaction that is due, or with `full` of everything; None if there is nothing to do.

    Runs are given newest first.
    """
    if full:
        due = len(runs) > 1 or any(file.deletes or file.level == 0 for run in runs for file in run.files)
        return pick_all(runs, options) if due else None
    match options.compaction:
        case CompactionStyle.UNIVERSAL:
            return pick_universal(runs, options)
        case CompactionStyle.LEVELED:
            return pick_leveled(runs, options)
