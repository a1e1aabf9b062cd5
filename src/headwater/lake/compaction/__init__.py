"""Choosing and merging sorted runs, so that there are never many."""

from headwater.lake.compaction.compact import compact_runs
from headwater.lake.compaction.pick import pick_compaction
from headwater.lake.compaction.universal import CompactionPick, pick_all

__all__ = ["CompactionPick", "compact_runs", "pick_all", "pick_compaction"]
