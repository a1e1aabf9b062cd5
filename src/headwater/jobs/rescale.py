"""Another number of buckets: a table written anew, under its own name, when it is whole.

The history of the table begins again: a bucket is part of where every file of the past is. Nobody may write
meanwhile; a commit that comes between is noticed, and then the table stays as it was.
"""

import uuid
from dataclasses import replace

from pyspark.sql import SparkSession

from headwater.errors import CommitConflictError, SchemaError
from headwater.jobs.parts import Progress, no_progress, run_parts
from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables import Table
from headwater.lake.tables.maintenance import forget_folder
from headwater.lake.tables.plan import Split
from headwater.lake.tables.read import read_split
from headwater.lake.tables.split_sizes import cut_split
from headwater.spark.source.commits import WritePlan, Written, finish
from headwater.spark.source.options import SPLIT_BYTES, StoredAt, TablePlace, stored_at
from headwater.spark.source.writer import TaskWriter


def rescale(spark: SparkSession, place: TablePlace, buckets: int, *, progress: Progress = no_progress) -> Table:
    """Give a table with a primary key another number of buckets.

    RAISES: SchemaError for a table without a key, CommitConflictError when somebody has written meanwhile.
    """
    warehouse, old = place.open_warehouse(), place.open()
    if not old.schema.primary_keys:
        raise SchemaError(f"{old.name} has no primary key: its rows are in one bucket")
    before = old.snapshot()
    kept = {name: value for name, value in old.schema.options.items() if name != "bucket.count"}
    wanted = replace(old.schema, options=kept | {"bucket": str(buckets)}, id=0)
    new = warehouse.begin_table(old.name, wanted)
    try:
        if before is not None:
            _copy(spark, stored_at(place, old), stored_at(place, new), progress)
        after = old.snapshot()
        if (before and before.snapshot_id) != (after and after.snapshot_id):
            raise CommitConflictError(f"{old.name} was written to while it was rescaled", hint="run it again")
    except BaseException:
        forget_folder(new.store)
        raise
    return warehouse.publish_table(new, replace=True)


def _copy(spark: SparkSession, source: StoredAt, target: StoredAt, progress: Progress) -> None:
    store = source.open()
    plan = WritePlan(target, 0, "rescale", uuid.uuid4().hex, Operation.INSERT)
    splits = [part for split in Table(store).plan_scan().splits for part in cut_split(store, split, SPLIT_BYTES)]
    finish(plan, run_parts(spark.sparkContext, [(source, part, plan) for part in splits], _rewrite, progress))


def _rewrite(part: tuple[StoredAt, Split, WritePlan]) -> Written:
    source, split, plan = part
    return TaskWriter(plan).write(read_split(source.open(), split))
