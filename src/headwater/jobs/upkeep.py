"""Upkeep of tables on Spark: compaction by bucket, expiry and orphans by files.

Each can be stopped at any moment and run again: a bucket that was compacted stays compacted, a file that was removed
stays removed, and the next run does what is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark import SparkContext

from headwater.jobs.parts import Progress, no_progress, run_parts
from headwater.lake.metadata.expire import Delete
from headwater.lake.tables.maintenance import Compaction, compact_place
from headwater.lake.tables.state import Place as Bucket
from headwater.spark.source.options import StoredAt, TablePlace, stored_at

_FILES_PER_TASK = 500


@dataclass(frozen=True, slots=True)
class BucketAt:
    """One bucket of one table."""

    at: StoredAt
    bucket: Bucket
    full: bool


def compact(
    context: SparkContext, places: Sequence[TablePlace], *, full: bool = True, progress: Progress = no_progress
) -> list[Compaction]:
    """Merge the sorted runs of every bucket of some tables, each bucket in a task that commits it by itself.

    RAISES: CommitConflictError when others rewrote a bucket again and again; buckets done before stay done.
    """
    parts = []
    for place in places:
        table = place.open()
        at = stored_at(place, table)
        parts += [BucketAt(at, bucket, full) for bucket in sorted(table.store.latest().places, key=repr)]
    return [done for done in run_parts(context, parts, _compact, progress) if done is not None]


def delete_in_tasks(context: SparkContext, place: TablePlace, progress: Progress = no_progress) -> Delete:
    """A function that removes files of a table in tasks, for its expiry and for its orphans."""
    at = stored_at(place, place.open())

    def delete(paths: Sequence[str]) -> None:
        starts = range(0, len(paths), _FILES_PER_TASK)
        run_parts(
            context, [(at, tuple(paths[start : start + _FILES_PER_TASK])) for start in starts], _delete, progress
        )

    return delete


def _compact(part: BucketAt) -> Compaction | None:
    return compact_place(part.at.open(), part.bucket, full=part.full)


def _delete(part: tuple[StoredAt, tuple[str, ...]]) -> int:
    at, paths = part
    files = at.open().files
    for path in paths:
        files.delete(path)
    return len(paths)
