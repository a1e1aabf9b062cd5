"""Several rows of one key become one."""

from headwater.lake.engine.merge.engines import MergeEngine, MergeRule, merge_rule
from headwater.lake.engine.merge.merge import merge_batches, sort_batch

__all__ = ["MergeEngine", "MergeRule", "merge_batches", "merge_rule", "sort_batch"]
