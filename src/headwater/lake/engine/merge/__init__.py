"""Several rows of one key become one."""

from headwater.lake.engine.merge.engines import (
    MergeEngine,
    MergeRule,
    aggregated_column,
    can_aggregate,
    check_new_rule,
    merge_rule,
)
from headwater.lake.engine.merge.merge import merge_batches, sort_batch

__all__ = [
    "MergeEngine",
    "MergeRule",
    "aggregated_column",
    "can_aggregate",
    "check_new_rule",
    "merge_batches",
    "merge_rule",
    "sort_batch",
]
