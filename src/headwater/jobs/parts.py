"""Running many independent parts on Spark, with progress."""

import uuid
from collections.abc import Callable, Sequence
from typing import TypeVar

from pyspark import InheritableThread, SparkContext

P = TypeVar("P")
R = TypeVar("R")
Progress = Callable[[int, int], None]
"""Called with how many parts are done, of how many."""

_POLL = 0.2  # seconds


def no_progress(done: int, total: int) -> None:
    """Say nothing."""


def run_parts(
    context: SparkContext, parts: Sequence[P], work: Callable[[P], R], progress: Progress = no_progress
) -> list[R]:
    """Do `work` for every part, each in a task of its own, and return the results in order.

    REQUIRES: `work` may be done twice for a part: Spark retries tasks that fail.
    """
    if not parts:
        return []
    group = f"headwater-{uuid.uuid4().hex}"
    results: list[R] = []
    failures: list[BaseException] = []

    def run() -> None:
        context.setJobGroup(group, "headwater")
        try:
            results.extend(context.parallelize(parts, len(parts)).map(work).collect())
        except BaseException as err:  # raised again by the thread that waits
            failures.append(err)

    thread = InheritableThread(target=run)
    thread.start()
    while thread.is_alive():
        thread.join(_POLL)
        progress(min(_done(context, group), len(parts)), len(parts))
    if failures:
        raise failures[0]
    progress(len(parts), len(parts))
    return results


def _done(context: SparkContext, group: str) -> int:
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(id) for id in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(id) for job in jobs if job is not None for id in job.stageIds]
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)
