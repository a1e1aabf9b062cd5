"""Lake tables in Spark on two cores, against Spark's own Parquet, and Delta and Paimon where their jars can be had.

Rows have a number, a text of 20 characters, a double and an integer. The source is Parquet in the order of the number
but for the rows within a task, which are shuffled, so that a sorted write has to sort. Times are by the clock, the
best of a few passes after one that does not count: what is measured is several processes at once.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import _spark_peers
from _report import Report, arguments
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from headwater.spark import connect
from headwater.spark.java import find_java, spark_environment

HALF = 0.6  # of Parquet's speed
Rows = list[tuple[object, ...]]


def main() -> None:
    quick = arguments(__doc__ or "").quick
    rows = 1_000_000 if quick else 10_000_000
    report, table = Report("spark_lake"), Rows()
    os.environ |= spark_environment(find_java())
    peers, missing = ({}, {}) if quick else _spark_peers.usable()
    with tempfile.TemporaryDirectory() as folder:
        spark = _session(Path(folder), _spark_peers.settings(peers, f"{folder}/paimon"))
        bench = Bench(spark, Path(folder), rows, 1 if quick else 3)
        theirs, ours = bench.parquet(), bench.headwater()
        for name in theirs:
            table.append((name, _shown(theirs[name]), _shown(ours[name]), round(theirs[name] / ours[name], 2)))
        for name in sorted(set(ours) - set(theirs)):
            table.append((name, "", _shown(ours[name]), ""))
        _judge(report, theirs, ours, upsert=2.0 if quick else 5.0)  # few rows: the fixed cost of a job counts more
        for peer in peers:
            other = getattr(bench, peer)()
            for name, value in other.items():
                table.append((f"{peer}: {name}", _shown(value), _shown(ours[name]), round(value / ours[name], 2)))
            report.ratios[f"upsert_{peer}"] = other["upsert 1 %"] / ours["upsert 1 %"]
            report.floor(f"upsert_{peer}", other["upsert 1 %"] / ours["upsert 1 %"], 1.0)
        table += [(f"{peer}: {why}", "", "", "") for peer, why in missing.items()]
        spark.stop()
    report.finish((f"{rows:,} rows, seconds", "parquet", "headwater", "ratio"), table)


class Bench:
    """One source, and what each format makes of it."""

    def __init__(self, spark: SparkSession, folder: Path, rows: int, passes: int) -> None:
        self.spark, self.folder, self.rows, self.passes = spark, folder, rows, passes
        made = spark.range(0, rows, numPartitions=8).select(
            f.col("id"),
            f.substring(f.md5(f.col("id").cast("string")), 1, 20).alias("s"),
            (f.col("id") * 0.5).alias("x"),
            (f.col("id") % 1000).cast("int").alias("n"),
        )
        made.sortWithinPartitions("s").write.parquet(str(folder / "source"))
        changed = made.where(f.abs(f.hash("id")) % 100 == 0).withColumn("n", f.lit(-1))
        changed.coalesce(2).write.parquet(str(folder / "changes"))
        self.source = spark.read.parquet(str(folder / "source"))
        self.changes = spark.read.parquet(str(folder / "changes"))

    def parquet(self) -> dict[str, float]:
        path, new = str(self.folder / "parquet"), str(self.folder / "parquet-new")
        found = {"write": self._best(lambda: self.source.write.mode("overwrite").parquet(path))}
        frame = self.spark.read.parquet(path)
        found |= self._reads(frame)

        def rewrite() -> None:
            kept = frame.join(self.changes.select("id"), "id", "left_anti")
            kept.unionByName(self.changes).write.mode("overwrite").parquet(new)

        return found | {"upsert 1 %": self._best(rewrite)}

    def headwater(self) -> dict[str, float]:
        lake = connect(self.spark, self.folder / "lake")
        lake.sql("CREATE NAMESPACE IF NOT EXISTS db")
        columns = "id BIGINT NOT NULL, s STRING, x DOUBLE, n INT"
        lake.sql(f"CREATE TABLE db.t ({columns}) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2')")
        found = {"write": self._best(lambda: self.source.write.mode("overwrite").insertInto("hw.db.t"))}
        found |= self._reads(lake.table("db.t"))
        found["upsert 1 %"] = self._best(lambda: self.changes.writeTo("hw.db.t").append())
        found["full read after upserts"] = self._reads(lake.table("db.t"))["full read"]
        lake.warehouse.table("db.t").compact()
        found["full read after compaction"] = self._reads(lake.table("db.t"))["full read"]
        assert lake.table("db.t").where("n = -1").count() == self.changes.count()
        assert lake.table("db.t").count() == self.rows
        return found

    def delta(self) -> dict[str, float]:
        path = str(self.folder / "delta")
        found = {"write": self._best(lambda: self.source.write.format("delta").mode("overwrite").save(path))}
        found |= self._reads(self.spark.read.format("delta").load(path))
        self.changes.createOrReplaceTempView("changes")
        merge = f"MERGE INTO delta.`{path}` t USING changes c ON t.id = c.id WHEN MATCHED THEN UPDATE SET *"
        return found | {"upsert 1 %": self._best(lambda: self.spark.sql(merge + " WHEN NOT MATCHED THEN INSERT *"))}

    def paimon(self) -> dict[str, float]:
        self.spark.sql("CREATE DATABASE IF NOT EXISTS paimon.db")
        columns = "id BIGINT NOT NULL, s STRING, x DOUBLE, n INT"
        self.spark.sql(f"CREATE TABLE paimon.db.t ({columns}) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2')")
        found = {"write": self._best(lambda: self.source.write.mode("overwrite").insertInto("paimon.db.t"))}
        found |= self._reads(self.spark.table("paimon.db.t"))
        return found | {"upsert 1 %": self._best(lambda: self.changes.writeTo("paimon.db.t").append())}

    def _reads(self, frame: DataFrame) -> dict[str, float]:
        key = self.rows // 3
        return {
            "full read": self._best(lambda: frame.write.format("noop").mode("overwrite").save()),
            "one column": self._best(lambda: frame.agg(f.sum("n")).collect()),
            "key lookup": self._best(lambda: frame.where(f.col("id") == key).collect()),
        }

    def _best(self, work: Callable[[], object]) -> float:
        best = float("inf")
        for at in range(self.passes + 1):
            start = time.perf_counter()
            work()
            if at or self.passes == 1:
                best = min(best, time.perf_counter() - start)
        return best


def _judge(report: Report, theirs: dict[str, float], ours: dict[str, float], *, upsert: float) -> None:
    for name, floor in (("full read", HALF), ("one column", HALF), ("write", HALF), ("upsert 1 %", upsert)):
        short = name.replace(" 1 %", "").replace(" ", "_")
        report.ratios[short] = theirs[name] / ours[name]
        report.floor(short, theirs[name] / ours[name], floor)
    report.floor("key_lookup_seconds", ours["key lookup"], 1.5, most=True)


def _session(folder: Path, more: dict[str, str]) -> SparkSession:
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "4g",
        "spark.local.dir": str(folder / "local"),
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
    }
    builder = SparkSession.builder.master("local[2]").appName("spark_lake")
    for name, value in (settings | more).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _shown(seconds: float) -> float:
    return round(seconds, 3)


if __name__ == "__main__":
    main()
