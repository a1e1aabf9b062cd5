"""A Python worker of Spark: a process that lives for many tasks."""

import gc
from functools import cache


@cache
def settle() -> None:
    """Take what this process has loaded so far for permanent, once.

    Spark's daemon collects garbage after each task and looks at every object there is. Those of the libraries alone
    take it as long as reading some million rows.
    """
    gc.collect()
    gc.freeze()
