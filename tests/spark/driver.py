"""Spark drivers that tests start in processes of their own, to kill them or to run them elsewhere.

python tests/spark/driver.py MODE FOLDER [MASTER]
"""

import json
import os
import sys
import time
from pathlib import Path

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from headwater.spark import connect
from headwater.spark.environment import spark_environment
from headwater.spark.source import HeadwaterSource, commits
from headwater.spark.source.streams import StreamWriter
from headwater.spark.source.writer import TableWriter

ROWS, TASKS = 4000, 20


def session(master, **settings):
    os.environ |= spark_environment()
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    settings = {"spark.log.level": "ERROR", "spark.sql.session.timeZone": "UTC", **settings}
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def hang(marker, times=1):
    """Say that this moment has come, and wait for the end; not if it was said before."""
    if len(list(marker.parent.glob(f"{marker.name}*"))) < times:
        marker.with_name(f"{marker.name}-{time.time_ns()}").touch()
        time.sleep(600)


def write(folder, master):
    """A write that is to be killed when all tasks have written and nothing is committed."""
    lake = connect(session(master), folder / "wh")
    finish = commits.finish

    def slow(plan, messages):
        hang(folder / "committing")
        return finish(plan, messages)

    commits.finish = slow
    lake.spark.range(0, ROWS, numPartitions=4).writeTo("hw.db.t").append()


class HangingWriter(StreamWriter):
    """A sink of which one batch stops before its commit, and one after it."""

    def __init__(self, task, folder):
        super().__init__(task)
        self.folder = folder
        self.moments = json.loads((folder / "moments.json").read_text())

    def commit(self, messages, batchId):
        if batchId == self.moments["before"]:
            hang(self.folder / "before")
        super().commit(messages, batchId)
        if batchId == self.moments["after"]:
            hang(self.folder / "after")


class Hanging(HeadwaterSource):
    @classmethod
    def name(cls):
        return "hanging"

    def streamWriter(self, schema, overwrite):
        return HangingWriter(super().streamWriter(schema, overwrite).task, Path(self.options["path"]))


def stream(folder, master):
    """A stream that is to be killed at two moments, and comes to its end otherwise."""
    spark = session(master)
    spark.dataSource.register(Hanging)
    warehouse = str(folder / "wh")
    source = spark.readStream.format("headwater").options(warehouse=warehouse, table="db.source")
    frame = source.option("max-snapshots-per-trigger", "1").load()
    sink = frame.writeStream.format("hanging").options(warehouse=warehouse, table="db.sink", path=str(folder))
    query = sink.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()


class FlakyWriter(TableWriter):
    """Three of ten attempts fail when their files are written."""

    def write(self, iterator):
        written = super().write(iterator)
        context = TaskContext.get()
        if (context.partitionId() * 7 + context.attemptNumber() * 13) % 10 < 3:
            raise RuntimeError("injected")
        return written


class Flaky(HeadwaterSource):
    @classmethod
    def name(cls):
        return "flaky"

    def writer(self, schema, overwrite):
        return FlakyWriter(super().writer(schema, overwrite).task)


def numbers(spark, pause):
    """The numbers below `ROWS`, in tasks that each pause before they begin."""

    def rows(part):
        pause()
        yield from ((each,) for each in part)

    return spark.createDataFrame(spark.sparkContext.parallelize(range(ROWS), TASKS).mapPartitions(rows), "id long")


def sometimes_long():
    """The first attempts of some tasks take their time, so that Spark starts second ones."""
    context = TaskContext.get()
    if context.partitionId() % 6 == 5 and context.attemptNumber() == 0:
        time.sleep(6)


def cluster(folder, master):
    """What is asked of a cluster: the same answers, and exact writes whatever fails."""
    from queries import QUERIES, plain

    spark = session(
        master,
        **{
            "spark.speculation": "true",
            "spark.speculation.interval": "100ms",
            "spark.speculation.multiplier": "1.2",
            "spark.speculation.quantile": "0.3",
            "spark.speculation.minTaskRuntime": "100ms",
            "spark.task.maxFailures": "20",
            "spark.executor.memory": "512m",
        },
    )
    lake = connect(spark, folder / "wh")
    answers = [plain(lake.sql(query).collect()) for query in QUERIES]
    (folder / "answers.json").write_text(json.dumps(answers))
    spark.dataSource.register(Flaky)
    rows = numbers(spark, sometimes_long)
    place = {"warehouse": str(folder / "wh"), "table": "db.flaky"}
    rows.write.format("flaky").options(**place).mode("append").save()
    (folder / "writing").touch()
    numbers(spark, lambda: time.sleep(0.25)).withColumn("s", f.lit("x")).writeTo("hw.db.killed").append()
    lake.sql("UPDATE db.killed SET s = 'y' WHERE id % 2 = 0")
    lake.sql("DELETE FROM db.killed WHERE id >= 3990")
    spark.stop()


def bucket(folder, master):
    """Tables of an object store: asked, made and changed."""
    from queries import QUERIES, plain

    place = json.loads((folder / "place.json").read_text())
    lake = connect(session(master), place["url"], storage=place["storage"])
    answers = [plain(lake.sql(query).collect()) for query in QUERIES]
    (folder / "bucket.json").write_text(json.dumps(answers))
    lake.sql("CREATE TABLE db.made TBLPROPERTIES ('primary-key' = 'id') AS SELECT id, 0 AS n FROM range(100)")
    lake.sql("UPDATE db.made SET n = 1 WHERE id < 10")
    lake.sql("DELETE FROM db.made WHERE id >= 50")
    lake.spark.stop()


if __name__ == "__main__":
    modes = {"write": write, "stream": stream, "cluster": cluster, "bucket": bucket}
    modes[sys.argv[1]](Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "local[2]")
