"""The Spark agent: what it costs a job, and whether very large plans stay bounded.

    python benchmarks/agent.py [--quick]

One Spark runs the same mixed queries again and again, in turns: unobserved, under Headwater's agent, and under
OpenLineage's listener where its jar can be fetched. A turn under an agent is not over before the agent has said
everything, so work that it puts off is counted. The facts in the events of the two are compared: none that
OpenLineage's listener gives may be missing from ours. What the agent adds is judged by the long run: in the quick one
Spark is still warming up.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median

import msgspec
from _report import Report, arguments
from openlineage.client import event_v2
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from headwater.spark import observe
from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.plan_reader import PlanReader
from headwater.spark.environment import spark_environment
from headwater.spark.plan.dump import dumper_of

OPENLINEAGE = "io.openlineage:openlineage-spark_2.13:1.53.0"
ADDED_WALL = 0.05
"""The most that the agent may add to the wall time of the job."""
ADDED_CPU = 0.01
"""The most that it may add to the CPU time of Python and Java together."""
CHAIN_SECONDS, CHAIN_BYTES = 1.0, 5_000_000
"""The most that a plan of 400 stacked projections may take."""


def start_spark(folder: Path, jars: str | None) -> SparkSession:
    builder = SparkSession.builder.master("local[2]").appName("bench").config("spark.ui.enabled", "false")
    settings = {
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    if jars is not None:
        settings |= {
            "spark.jars.packages": jars,
            "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
            "spark.openlineage.transport.type": "file",
            "spark.openlineage.transport.location": str(folder / "openlineage.ndjson"),
        }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def queries(spark: SparkSession, count: int) -> list[Callable[[], object]]:
    """Mixed work on two tables: reports, windows, joins, subqueries, and a third of them writes."""
    sales = "SELECT id, id % 1000 AS customer, id % 17 AS shop, id * 3 % 101 AS amount FROM range({rows})"
    spark.sql(f"CREATE TABLE sales USING parquet AS {sales.format(rows=300_000)}")
    spark.sql("CREATE TABLE shops USING parquet AS SELECT id AS shop, concat('s', id) AS name FROM range(17)")
    texts = [
        "SELECT shop, sum(amount) AS s FROM sales WHERE amount > {n} GROUP BY shop",
        "SELECT name, avg(amount) AS a FROM sales JOIN shops USING (shop) WHERE customer < {n} GROUP BY name",
        "SELECT customer, rank() OVER (PARTITION BY shop ORDER BY amount) AS r FROM sales WHERE id < {n}000",
        "SELECT count(*) AS c FROM sales WHERE shop IN (SELECT shop FROM shops WHERE name <> 's{n}')",
        "WITH w AS (SELECT shop, max(amount) AS m FROM sales GROUP BY shop) SELECT * FROM w JOIN shops USING (shop)",
        "SELECT shop, count(DISTINCT customer) AS c, count(DISTINCT amount) AS a FROM sales GROUP BY ROLLUP (shop)",
    ]

    def read(text: str) -> Callable[[], object]:
        return lambda: spark.sql(text).collect()

    def write(text: str, number: int) -> Callable[[], object]:
        return lambda: spark.sql(text).write.mode("overwrite").saveAsTable(f"made_{number}")

    made: list[Callable[[], object]] = []
    for at in range(count):
        text = texts[at % len(texts)].format(n=at % 50 + 1)
        writes = at % 3 == at // len(texts) % 3  # each of them is written now and then
        made.append(write(text, at % len(texts)) if writes else read(text))
    return made


class Turns:
    """The three ways to run: nobody watches, our agent does, theirs does."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.bus = spark.sparkContext._jsc.sc().listenerBus()
        self.theirs = next(self._listeners(), None)
        if self.theirs is not None:
            self.bus.removeListener(self.theirs)

    def _listeners(self) -> Iterator[object]:
        for listener in self.bus.listeners().toArray():
            if "OpenLineage" in listener.getClass().getName():
                yield listener

    @property
    def modes(self) -> list[str]:
        return ["unobserved", "headwater"] + (["openlineage"] if self.theirs is not None else [])

    @contextmanager
    def turn(self, mode: str) -> Iterator[Callable[[], object]]:
        """Gives what must be waited for at the end of the turn."""
        if mode == "headwater":
            with observe(self.spark, f"file:{self.folder}/headwater.ndjson") as agent:
                yield agent.flush
        elif mode == "openlineage":
            self.bus.addToSharedQueue(self.theirs)
            yield lambda: self.bus.waitUntilEmpty(60_000)
            self.bus.removeListener(self.theirs)
        else:
            yield lambda: None

    def cpu(self) -> float:
        """Seconds of processor that this process and its JVM have used so far."""
        spent = Path(f"/proc/{self.spark.sparkContext._gateway.proc.pid}/stat").read_text().rpartition(")")[2].split()
        return time.process_time() + (int(spent[11]) + int(spent[12])) / os.sysconf("SC_CLK_TCK")


def measure(turns: Turns, work: list[Callable[[], object]], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Seconds of each turn by the clock and of processor, by mode. Modes change places from round to round."""
    seconds: dict[str, list[tuple[float, float]]] = {mode: [] for mode in turns.modes}
    for number in range(rounds + 1):  # the first warms up
        order = turns.modes if number % 2 else turns.modes[::-1]
        for mode in order:
            with turns.turn(mode) as settle:
                begun, used = time.perf_counter(), turns.cpu()
                for query in work:
                    query()
                settle()
                took = time.perf_counter() - begun, turns.cpu() - used
            if number:
                seconds[mode].append(took)
    return seconds


def large_plans(spark: SparkSession) -> Iterator[tuple[str, float, int, int, int]]:
    """Name, seconds to read, size of the dump, edges, and output columns without any edge."""
    reader = PlanReader(OpenLineageContext(spark._jsparkSession, spark.sparkContext))
    for name, df in _large_frames(spark):
        plan = df._jdf.queryExecution().analyzed()
        best, size, edges, bare = 1e9, 0, 0, 0
        for _ in range(3):
            begun = time.perf_counter()
            dumped = reader.dump(plan)
            lineage = reader.read(dumped)
            best = min(best, time.perf_counter() - begun)
            (statement,) = lineage.statements or (None,)
            edges = len(statement.edges) if statement else 0
            reached = {edge.target.column for edge in statement.edges} if statement else set()
            bare = len({column.name for column in statement.columns} - reached) if statement else len(df.columns)
        size = len(dumper_of(spark.sparkContext).dump(plan, 100_000_000, 60_000))
        yield name, best, size, edges, bare


def _large_frames(spark: SparkSession) -> Iterator[tuple[str, DataFrame]]:
    sales = spark.table("sales")
    chain = sales
    for at in range(400):
        chain = chain.withColumn(f"c{at}", F.col("amount") + at)
    yield "400 withColumn", chain
    wide = spark.range(1).select(*[F.col("id").alias(f"c{at}") for at in range(2000)])
    wide.write.mode("overwrite").saveAsTable("wide")
    yield "2,000 columns", spark.table("wide").select(*[(F.col(f"c{at}") + 1).alias(f"d{at}") for at in range(2000)])
    union = sales
    for at in range(299):
        union = union.union(sales.withColumn("amount", F.col("amount") + at))
    yield "union of 300", union


def facts(path: Path) -> set[tuple[str, ...]]:
    """What the events of a file say of what was written, each fact once: inputs, columns, schemas, statistics."""
    found: set[tuple[str, ...]] = set()
    for line in path.read_text().splitlines() if path.is_file() else ():
        event = json.loads(line)
        msgspec.convert(event, event_v2.RunEvent)  # it has the published form
        for output in event.get("outputs", ()) if event["eventType"] == "COMPLETE" else ():
            target, facets = output["name"], output.get("facets", {})
            found |= {("input", target, each["name"]) for each in event.get("inputs", ())}
            found |= {("schema", target, each["name"]) for each in facets.get("schema", {}).get("fields", ())}
            found |= {
                ("statistics", target, name) for name in output.get("outputFacets", {}).get("outputStatistics", {})
            }
            lineage = facets.get("columnLineage", {})
            for name, made in [
                *lineage.get("fields", {}).items(),
                ("*", {"inputFields": lineage.get("dataset", ())}),
            ]:
                for source in made["inputFields"]:
                    # which rows there are is one fact: the optimizer, whose plan they read, makes filters of joins
                    kinds = {way["type"] for way in source["transformations"]}
                    found |= {("column", target, name, source["name"], source["field"], kind) for kind in kinds}
    return found


def main() -> None:
    quick = arguments(__doc__ or "").quick
    os.environ |= spark_environment()
    folder = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    try:
        spark = start_spark(folder, OPENLINEAGE)
    except Exception:  # no way to the jar: Spark does not start with it
        print("OpenLineage's jar cannot be fetched here: Headwater alone is measured.")
        spark = start_spark(folder, None)
    try:
        report(spark, folder, quick)
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


def report(spark: SparkSession, folder: Path, quick: bool) -> None:
    turns = Turns(spark, folder)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    work = queries(spark, 10 if quick else 200)
    seconds = measure(turns, work, rounds=2 if quick else 3)
    outcome = Report("agent")
    rows: list[tuple[object, ...]] = []
    given = {mode: facts(folder / f"{mode}.ndjson") for mode in seconds}
    lacking = sorted(given.get("openlineage", set()) - given["headwater"])
    for each in lacking[:20]:
        print("only OpenLineage's listener says:", *each)
    outcome.floor("facts that only OpenLineage's listener gives", len(lacking), 0, most=True)
    plain, plain_cpu = (median(took) for took in zip(*seconds["unobserved"], strict=True))
    for mode, turns_of_mode in seconds.items():
        pairs = "" if mode == "unobserved" else len(given[mode])
        took, cpu = (median(each) for each in zip(*turns_of_mode, strict=True))
        outcome.ratios[mode], outcome.ratios[f"{mode}, CPU"] = took / plain, cpu / plain_cpu
        outcome.less |= {mode, f"{mode}, CPU"}
        added = f"{100 * (took / plain - 1):+.1f} %", f"{cpu:.2f}", f"{100 * (cpu / plain_cpu - 1):+.1f} %"
        rows.append((f"{len(work)} queries, {mode}", f"{took:.2f}", *added, "", pairs))
    memory = (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024
    rows.append(("memory of the driver's Python, MB more", f"{memory:.0f}", "", "", "", "", ""))
    if not quick:
        outcome.floor("added wall", outcome.ratios["headwater"] - 1, ADDED_WALL, most=True)
        outcome.floor("added CPU", outcome.ratios["headwater, CPU"] - 1, ADDED_CPU, most=True)
    for name, best, size, edges, bare in large_plans(spark):
        rows.append((name, f"{best:.3f}", "", "", "", f"{size // 1024:,}", edges))
        outcome.floor(f"{name}: columns without edges", bare, 0, most=True)
        if name == "400 withColumn":
            outcome.floor(f"{name}: seconds", best, CHAIN_SECONDS, most=True)
            outcome.floor(f"{name}: bytes", size, CHAIN_BYTES, most=True)
    outcome.finish(("work", "seconds", "added", "CPU", "added", "dump, KB", "facts, edges"), rows)


if __name__ == "__main__":
    main()
