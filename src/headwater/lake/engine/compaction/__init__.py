"""Choosing and merging sorted runs, so that there are never many."""

from headwater.lake.engine.compaction.compact import compact_bucket, compact_runs, pick_compaction
from headwater.lake.engine.compaction.universal import CompactionPick

__all__ = ["CompactionPick", "compact_bucket", "compact_runs", "pick_compaction"]
