"""The Spark of a soak: a batch writer and a stream, in one process: `python -m tests.soak.sparks FOLDER SEED [once]`.

The batch writer upserts into the table that an embedded writer uses too, under names by which a commit lands once.
The stream carries `db.feed` to `db.drain`, and must carry every row once, whatever is killed. With `once` it brings
the stream to the end of its source, and ends.
"""

import os
import random
import sys
import time

from pyspark.sql import SparkSession

from headwater import Warehouse
from headwater.spark.environment import spark_environment
from tests.soak.actors import again_or_not, latest_of
from tests.soak.stage import GROUP, OWN, SHARED, Journal, Stage

ME, NUMBER = "spark", 3
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.memory": "600m",
    "spark.sql.shuffle.partitions": "1",
}


def session(stage: Stage) -> SparkSession:
    os.environ |= spark_environment()
    builder = SparkSession.builder.master("local[1]")
    builder = builder.config("spark.sql.warehouse.dir", str(stage.root / "spark-warehouse"))
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def write_batch(spark: SparkSession, stage: Stage, journal: Journal, chance: random.Random) -> None:
    table = Warehouse(stage.lake).table("db.sparked")
    intent = again_or_not(journal, chance, table)
    if intent is None:
        turn = journal.turn
        keys = [*range(OWN * (NUMBER + 1), OWN * (NUMBER + 1) + GROUP), *chance.sample(range(SHARED), 4)]
        rows = [{"k": key, "w": ME, "n": turn} for key in keys]
        intent = {"turn": turn, "latest": latest_of(table), "rows": rows, "deletes": []}
        journal.note("intend", table="lake/db.sparked", user=ME, ids={"k": 0, "w": 1, "n": 2}, **intent)
    frame = spark.createDataFrame(
        [(row["k"], row["w"], row["n"]) for row in intent["rows"]], "k long, w string, n long"
    )
    options = {"warehouse": str(stage.lake), "table": "db.sparked"}
    options |= {"commit-user": ME, "commit-id": str(intent["turn"])}
    frame.write.format("headwater").options(**options).mode("append").save()
    journal.note("done", turn=intent["turn"])


def run_stream(spark: SparkSession, stage: Stage, most: int = 3) -> None:
    lake = str(stage.lake)
    source = spark.readStream.format("headwater").options(warehouse=lake, table="db.feed")
    frame = source.option("max-snapshots-per-trigger", str(most)).load()
    sink = frame.writeStream.format("headwater").options(warehouse=lake, table="db.drain")
    checkpoint = str(stage.root / "checkpoint")
    sink.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()


def main(folder: str, seed: int, once: bool) -> None:
    stage, chance = Stage.load(folder), random.Random(seed)
    journal = Journal(stage.journal(ME))
    spark = session(stage)
    if once:
        run_stream(spark, stage, most=1000)
    while not stage.is_over:
        write_batch(spark, stage, journal, chance)
        run_stream(spark, stage)
        journal.note("streamed")
        time.sleep(chance.uniform(0.2, 1.0))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), "once" in sys.argv[3:])
