"""Which compaction is due, by the style of the table."""

from collections.abc import Sequence

from headwater.lake.engine.compaction.leveled import pick_leveled
from headwater.lake.engine.compaction.universal import CompactionPick, pick_universal
from headwater.lake.engine.options import CompactionStyle, StorageOptions
from headwater.lake.engine.version import SortedRun


def pick_compaction(runs: Sequence[SortedRun], options: StorageOptions) -> CompactionPick | None:
    """The compaction that is due, None if none is. Runs are given newest first."""
    match options.compaction:
        case CompactionStyle.UNIVERSAL:
            return pick_universal(runs, options)
        case CompactionStyle.LEVELED:
            return pick_leveled(runs, options)
