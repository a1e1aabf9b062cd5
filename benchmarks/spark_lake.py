"""Lake tables in Spark on two cores, against Spark's own Parquet, and Delta and Paimon where their jars can be had.

Rows have a number, a text of 20 characters, a double and an integer. The source is Parquet in the order of the number
but for the rows within a task, which are shuffled, so that a sorted write has to sort. Times are by the clock, the
best of a few passes after one that does not count: what is measured is several processes at once.

Floors compare with Parquet that is written as the rows come. Ours is sorted by key and finds keys again, so what it
costs Parquet to write the same rows sorted is shown beside it.
"""

import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import _spark_peers
from _report import Report, arguments
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from headwater.spark import connect
from headwater.spark.environment import spark_environment

HALF = 0.6  # of Parquet's speed
SORTED = "write sorted by key"
Rows = list[tuple[object, ...]]


def main() -> None:
    quick = arguments(__doc__ or "").quick
    rows = 1_000_000 if quick else 10_000_000
    report, table = Report("spark_lake"), Rows()
    os.environ |= spark_environment()
    peers, missing = ({}, {}) if quick else _spark_peers.usable()
    with tempfile.TemporaryDirectory() as folder:
        spark = _session(Path(folder), _spark_peers.settings(peers, f"{folder}/paimon"))
        bench = Bench(spark, Path(folder), rows, 3)
        kinds: list[type[Format]] = [Format, Headwater, *(PEERS[name] for name in peers)]
        found = bench.run([kind(bench) for kind in kinds])
        ours, theirs = found["headwater"], found["parquet"]
        for work in ours:
            ratio = round(theirs[work] / ours[work], 2)
            table.append((work, *(round(each[work], 3) for each in found.values()), ratio))
        report.ratios["write_sorted"] = theirs[SORTED] / ours["write"]
        blank = ("" for _ in list(found)[1:])
        table.append((SORTED, round(theirs[SORTED], 3), *blank, round(report.ratios["write_sorted"], 2)))
        _judge(report, theirs, ours, upsert=2.0 if quick else 5.0)  # few rows: the fixed cost of a job counts more
        for peer in peers:
            report.ratios[f"upsert_{peer}"] = found[peer]["upsert 1 %"] / ours["upsert 1 %"]
            report.floor(f"upsert_{peer}", found[peer]["upsert 1 %"] / ours["upsert 1 %"], 1.0)
        table += [(f"{peer}: {why}", *("" for _ in found), "") for peer, why in missing.items()]
        spark.stop()
    report.finish((f"{rows:,} rows, seconds", *found, "parquet / headwater"), table)


class Bench:
    """One source, and what each format makes of it. Formats take turns, so that a busy moment hits them alike."""

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
        self.changes.createOrReplaceTempView("changes")

    def run(self, formats: list["Format"]) -> dict[str, dict[str, float]]:
        """The best time of each format for each piece of work."""
        found: dict[str, dict[str, float]] = {each.name: {} for each in formats}
        self._turns("write", {each.name: each.write for each in formats}, found)
        self._turns(SORTED, {formats[0].name: formats[0].write_sorted}, found)
        frames = {each.name: each.frame() for each in formats}
        key = self.rows // 3
        works: dict[str, Callable[[DataFrame], object]] = {
            "full read": lambda frame: frame.write.format("noop").mode("overwrite").save(),
            "one column": lambda frame: frame.agg(f.sum("n")).collect(),
            "key lookup": lambda frame: frame.where(f.col("id") == key).collect(),
        }
        for work, run in works.items():
            self._turns(work, {name: partial(run, frame) for name, frame in frames.items()}, found)
        self._turns("upsert 1 %", {each.name: each.upsert for each in formats}, found)
        after = {each.name: partial(works["full read"], each.frame()) for each in formats}
        self._turns("full read after upserts", after, found)
        for each in formats:
            assert each.frame().where("n = -1").count() == self.changes.count(), each.name
            assert each.frame().count() == self.rows, each.name
        return found

    def _turns(self, work: str, runs: dict[str, Callable[[], object]], found: dict[str, dict[str, float]]) -> None:
        for at in range(self.passes + 1):
            for name, run in runs.items():
                start = time.perf_counter()
                run()
                if at or self.passes == 1:
                    taken = time.perf_counter() - start
                    found[name][work] = min(taken, found[name].get(work, taken))


class Format:
    """Parquet, rewritten by hand."""

    name = "parquet"

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.path = str(bench.folder / self.name)
        self.read_from = self.path

    def write(self) -> None:
        self.bench.source.write.mode("overwrite").parquet(self.path)

    def write_sorted(self) -> None:
        self.bench.source.sortWithinPartitions("id").write.mode("overwrite").parquet(f"{self.path}-sorted")

    def frame(self) -> DataFrame:
        return self.bench.spark.read.parquet(self.read_from)

    def upsert(self) -> None:
        changes, new = self.bench.changes, f"{self.path}-new"
        kept = self.bench.spark.read.parquet(self.path).join(changes.select("id"), "id", "left_anti")
        kept.unionByName(changes).write.mode("overwrite").parquet(new)
        self.read_from = new


class Headwater(Format):
    """A table with a key and two buckets."""

    name = "headwater"

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self.table = "hw.db.t"
        lake = connect(bench.spark, self.path)
        lake.sql("CREATE NAMESPACE IF NOT EXISTS db")
        self._create(self.table)

    def _create(self, table: str) -> None:
        columns = "id BIGINT NOT NULL, s STRING, x DOUBLE, n INT"
        properties = "'primary-key' = 'id', 'bucket' = '2'"
        self.bench.spark.sql(f"CREATE TABLE {table} ({columns}) TBLPROPERTIES ({properties})")

    def write(self) -> None:
        self.bench.source.write.mode("overwrite").insertInto(self.table)

    def frame(self) -> DataFrame:
        return self.bench.spark.table(self.table)

    def upsert(self) -> None:
        self.bench.changes.writeTo(self.table).append()


class Paimon(Headwater):
    """The same on Paimon."""

    name = "paimon"

    def __init__(self, bench: Bench) -> None:
        Format.__init__(self, bench)
        self.table = "paimon.db.t"
        bench.spark.sql("CREATE DATABASE IF NOT EXISTS paimon.db")
        self._create(self.table)


class Delta(Format):
    """Delta, by MERGE."""

    name = "delta"

    def write(self) -> None:
        self.bench.source.write.format("delta").mode("overwrite").save(self.path)

    def frame(self) -> DataFrame:
        return self.bench.spark.read.format("delta").load(self.path)

    def upsert(self) -> None:
        merge = f"MERGE INTO delta.`{self.path}` t USING changes c ON t.id = c.id WHEN MATCHED THEN UPDATE SET *"
        self.bench.spark.sql(merge + " WHEN NOT MATCHED THEN INSERT *")


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
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    builder = SparkSession.builder.master("local[2]").appName("spark_lake")
    for name, value in (settings | more).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


PEERS: dict[str, type[Format]] = {"delta": Delta, "paimon": Paimon}

if __name__ == "__main__":
    main()
