"""Which compaction is due, by the style of the table."""

from collections.abc import Sequence

from headwater.lake.compaction.leveled import pick_leveled
from headwater.lake.compaction.universal import CompactionPick, pick_universal
from headwater.lake.options import CompactionStyle, StorageOptions
from headwater.lake.version import SortedRun


def pick_compaction(runs: Sequence[SortedRun], options: StorageOptions) -> CompactionPick | None:
    """The compaction that is due, None if none is. Runs are given newest first."""
    match options.compaction:
        case CompactionStyle.UNIVERSAL:
            return pick_universal(runs, options)
        case CompactionStyle.LEVELED:
            return pick_leveled(runs, options)
