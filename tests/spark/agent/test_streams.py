"""Streaming queries: one run from start to end, batches joined to their source."""

import re
import zipfile
from pathlib import Path

import pyspark
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import functions as F  # noqa: N812
from tests.effort import first_then_slow, one_in
from tests.spark.agent.conftest import columns, shown
from tests.spark.conftest import RELEASE

import headwater.spark
from headwater.lake.tables import Warehouse
from headwater.spark.agent.datasets import PlanOutput
from headwater.spark.agent.visitors.catalog import visitor_classes

pytestmark = pytest.mark.spark


@pytest.fixture
def landing(watch, tmp_path):
    """A folder of files that streams read."""
    watch.spark.createDataFrame([(1, "x"), (2, "y")], "a int, c string").write.json(str(tmp_path / "landing"))
    return watch.spark.readStream.schema("a int, c string").json(str(tmp_path / "landing"))


def run_stream(watch, writer) -> list[dict]:
    watch.said()
    writer.trigger(availableNow=True).start().awaitTermination()
    events = watch.said()
    assert len({event["run"]["runId"] for event in events}) == 1
    assert [event["eventType"] for event in events] == ["START", "RUNNING", "COMPLETE"]
    assert {event["job"]["facets"]["jobType"]["processingType"] for event in events} == {"STREAMING"}
    return events


def test_files_to_files(watch, landing, tmp_path):
    writer = landing.select((F.col("a") + 1).alias("n")).writeStream.format("parquet").queryName("copy")
    writer = writer.option("path", f"{tmp_path}/out").option("checkpointLocation", f"{tmp_path}/cp")
    *_, event = run_stream(watch, writer)
    assert shown(event) == "landing -> out"
    assert columns(event) == {"n": {"landing.a"}}
    assert event["job"]["name"] == "suite.stream.copy"


@pytest.mark.parametrize(
    ("path", "read"), [("landing", "landing"), ("landing/*", "landing"), ("landing/kind=*", "landing")]
)
def test_a_batch_of_one_file_is_the_folder_that_is_read(watch, tmp_path, path, read):
    rows = watch.spark.range(2).selectExpr("id", "'x' AS kind").repartition(1)
    rows = rows.write if path == "landing/*" else rows.write.partitionBy("kind")
    rows.json(f"{tmp_path}/landing")
    stream = watch.spark.readStream.schema("id long").json(f"{tmp_path}/{path}")
    writer = stream.writeStream.format("parquet").option("checkpointLocation", f"{tmp_path}/cp")
    *_, event = run_stream(watch, writer.option("path", f"{tmp_path}/out"))
    assert shown(event) == f"{read} -> out"
    assert columns(event)["id"] == {f"{read}.id"}


def test_streams_without_a_name_are_jobs_of_their_own(watch, landing, tmp_path):
    for name in ("one", "two"):
        writer = landing.writeStream.format("parquet").option("checkpointLocation", f"{tmp_path}/cp_{name}")
        events = run_stream(watch, writer.option("path", f"{tmp_path}/{name}"))
        assert {event["job"]["name"] for event in events} == {f"suite.stream.landing_to_{name}"}
        assert events[0]["eventTime"] <= events[1]["eventTime"]


def test_a_stream_without_a_name_that_does_nothing(watch, tmp_path):
    (tmp_path / "empty").mkdir()
    watch.said()
    rows = watch.spark.readStream.schema("a int").json(f"{tmp_path}/empty")
    writer = rows.writeStream.format("parquet").option("checkpointLocation", f"{tmp_path}/cp")
    writer.trigger(availableNow=True).start(f"{tmp_path}/out").awaitTermination()
    events = watch.said()
    assert [(event["eventType"], event["job"]["name"]) for event in events] == [
        ("START", "suite.stream.unnamed"),
        ("COMPLETE", "suite.stream.unnamed"),
    ]


def test_foreach_batch_is_joined_to_its_source(watch, landing, tmp_path):
    def save(batch, number):
        batch.withColumn("k", F.upper("c")).write.mode("append").parquet(f"{tmp_path}/batches")

    writer = landing.filter("a > 0").writeStream.foreachBatch(save).option("checkpointLocation", f"{tmp_path}/cp")
    *_, event = run_stream(watch, writer)
    assert shown(event) == "landing -> batches"
    assert columns(event) == {"a": {"landing.a"}, "c": {"landing.c"}, "k": {"landing.c"}}
    assert event["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 2


def test_a_stream_into_a_table(watch, landing, tmp_path):
    watch.spark.sql("CREATE TABLE streamed (a INT, c STRING) USING parquet")
    watch.said()
    query = landing.writeStream.option("checkpointLocation", f"{tmp_path}/cp").trigger(availableNow=True)
    query.toTable("streamed").awaitTermination()
    event = watch.said()[-1]
    assert shown(event) == "landing -> streamed"
    assert columns(event) == {"a": {"landing.a"}, "c": {"landing.c"}}
    watch.spark.sql("DROP TABLE streamed")


def test_aggregates_over_streams(watch, landing, tmp_path):
    counted = landing.groupBy("c").agg(F.sum("a").alias("s"))
    writer = counted.writeStream.outputMode("complete").foreachBatch(
        lambda batch, number: batch.write.mode("overwrite").parquet(f"{tmp_path}/sums")
    )
    *_, event = run_stream(watch, writer.option("checkpointLocation", f"{tmp_path}/cp"))
    assert columns(event) == {"c": {"landing.c"}, "s": {"landing.a"}}


def test_a_stream_that_fails(watch, landing, tmp_path):
    def refuse(batch, number):
        raise ValueError("not today")

    watch.said()
    query = landing.writeStream.foreachBatch(refuse).option("checkpointLocation", f"{tmp_path}/cp")
    query = query.trigger(availableNow=True).start()
    with pytest.raises(Exception, match="not today"):
        query.awaitTermination()
    *_, event = watch.said()
    assert event["eventType"] == "FAIL"
    assert "not today" in event["run"]["facets"]["errorMessage"]["message"]


def test_sources_without_data_of_their_own(watch, tmp_path):
    watch.said()
    rate = watch.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()
    query = rate.writeStream.format("parquet").option("checkpointLocation", f"{tmp_path}/cp")
    query = query.option("path", f"{tmp_path}/out").start()
    while not query.lastProgress:
        query.awaitTermination(0.2)
    query.stop()
    *_, event = watch.said()
    assert event["eventType"] == "COMPLETE"
    assert shown(event).endswith("-> out")


# ------------------------------------------------------------------------------ sinks of the second generation


@pytest.fixture(scope="module")
def lake(watch, tmp_path_factory):
    """A warehouse as the catalog `streams`, with a table to read and one to write."""
    if RELEASE < (4, 1):
        pytest.skip("lake tables, and sinks in Python, need Spark 4.1")
    from tests.spark.agent.discard import DiscardSource

    warehouse = Warehouse(tmp_path_factory.mktemp("streams"))
    warehouse.create_database("db")
    for name in ("source", "sink"):
        warehouse.create_table(f"db.{name}", {"a": "INT NOT NULL", "c": "STRING"}, primary_key="a")
    warehouse.table("db.source").write([(1, "x"), (2, "y")])
    headwater.spark.connect(watch.spark, warehouse.url, catalog="streams")
    watch.spark.dataSource.register(DiscardSource)
    return warehouse


def place(lake, table):
    return {"warehouse": lake.url, "table": table}


SINKS = {
    "our table by its name": (lambda writer, lake: writer.toTable("streams.db.sink"), "db.sink"),
    "our table by the source": (
        lambda writer, lake: writer.format("headwater").options(**place(lake, "db.sink")).start(),
        "db.sink",
    ),
    "our table by its path": (
        lambda writer, lake: writer.format("headwater").option("path", f"{lake.url}/db/sink").start(),
        "db.sink",
    ),
    "our table in foreachBatch": (
        lambda writer, lake: writer.foreachBatch(lambda rows, _: rows.writeTo("streams.db.sink").append()).start(),
        "db.sink",
    ),
    "a source in Python": (lambda writer, lake: writer.format("discard").start(), "discard"),
    "a path in Python": (lambda writer, lake: writer.format("discard").option("path", "/x/y").start(), "y"),
    "noop": (lambda writer, lake: writer.format("noop").start(), "noop"),
    "console": (lambda writer, lake: writer.format("console").start(), "console"),
    "memory": (lambda writer, lake: writer.format("memory").queryName("kept").start(), "memorysink"),
    "foreach": (lambda writer, lake: writer.foreach(lambda row: None).start(), "foreachwriter"),
}
"""How a stream is started into each kind of sink, and the name of the output."""
SINKS_ANYWHERE = ("noop", "console", "memory", "foreach")


@pytest.mark.parametrize("sink", one_in(4, SINKS))
@pytest.mark.parametrize("reads", first_then_slow(["by name", "by source", "itself"]))
def test_what_a_stream_writes_is_an_output_and_no_input(watch, lake, tmp_path, sink, reads):
    start, target = SINKS[sink]
    stream, table = watch.spark.readStream, "db.sink" if reads == "itself" else "db.source"
    rows = (
        stream.format("headwater").options(**place(lake, table)).load()
        if reads == "by source"
        else stream.table(f"streams.{table}")
    )
    watch.said()
    writer = rows.writeStream.option("checkpointLocation", f"{tmp_path}/cp").trigger(availableNow=True)
    start(writer, lake).awaitTermination()
    events = watch.said()
    assert [event["eventType"] for event in events] == ["START", "RUNNING", "COMPLETE"]
    for event in events[1:]:
        assert shown(event) == f"{table} -> {target}"
        assert columns(event) == {"a": {f"{table}.a"}, "c": {f"{table}.c"}}
        assert [each["namespace"] for each in event["inputs"]] == [f"headwater:{lake.url}"]
        if target == "db.sink":
            assert [each["namespace"] for each in event["outputs"]] == [f"headwater:{lake.url}"]


@pytest.mark.parametrize("sink", SINKS_ANYWHERE)
def test_files_into_sinks_that_every_spark_has(watch, landing, tmp_path, sink):
    start, target = SINKS[sink]
    watch.said()
    writer = landing.writeStream.option("checkpointLocation", f"{tmp_path}/cp").trigger(availableNow=True)
    start(writer, None).awaitTermination()
    *_, event = watch.said()
    assert (event["eventType"], shown(event)) == ("COMPLETE", f"landing -> {target}")
    assert columns(event) == {"a": {"landing.a"}, "c": {"landing.c"}}


@pytest.mark.parametrize("sink", ["our table by its name", "a source in Python", "noop", "console", "memory"])
def test_continuous_streams(watch, request, tmp_path, sink):
    """Their plans have no table: it is that of the running query."""
    start, target = SINKS[sink]
    lake = None if sink in SINKS_ANYWHERE else request.getfixturevalue("lake")
    rate = watch.spark.readStream.format("rate").load()
    rows = rate.select(F.col("value").cast("int").alias("a"), F.col("timestamp").cast("string").alias("c"))
    watch.said()
    writer = rows.writeStream.option("checkpointLocation", f"{tmp_path}/cp").trigger(continuous="200 milliseconds")
    query = start(writer, lake)
    while not watch.spark.sparkContext.statusTracker().getActiveJobsIds():
        query.awaitTermination(0.2)
    assert watch.agent.flush(30)
    query.stop()
    *_, event = watch.said()
    assert event["eventType"] == "COMPLETE"
    assert shown(event) == f"ratestream -> {target}"
    assert columns(event) == {"a": {"ratestream.value"}, "c": {"ratestream.timestamp"}}


def held_by(kind) -> set[str]:
    """The types of the fields that a class is made with."""
    try:
        return {str(each.getName()) for made in kind.getConstructors() for each in made.getParameterTypes()}
    except Py4JJavaError:  # it needs a library that is not here
        return set()


@pytest.mark.slow  # it loads every class of Spark
def test_every_node_that_writes_a_stream_is_known(watch):
    """All plans in Spark's jars that hold a sink or a writer, so that a release which adds one is noticed."""
    jvm = watch.spark.sparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    sql = "org.apache.spark.sql"
    plan = jvm.java.lang.Class.forName(f"{sql}.catalyst.plans.logical.LogicalPlan", False, loader)
    writers = {
        f"{sql}.execution.streaming.Sink",
        f"{sql}.connector.write.streaming.StreamingWrite",
        f"{sql}.connector.write.BatchWrite",
        f"{sql}.connector.catalog.SupportsWrite",
    }
    found = set()
    for jar in (Path(pyspark.__file__).parent / "jars").glob("spark-*.jar"):
        for name in zipfile.ZipFile(jar).namelist():
            if not re.fullmatch(r"org/apache/spark/sql/(catalyst|execution)/[\w/]+\.class", name):
                continue
            kind = jvm.java.lang.Class.forName(name.removesuffix(".class").replace("/", "."), False, loader)
            if plan.isAssignableFrom(kind) and not jvm.java.lang.reflect.Modifier.isAbstract(kind.getModifiers()):
                parents = {str(each.getSimpleName()) for each in kind.getInterfaces()}
                if held_by(kind) & writers or "V2StreamingWriteCommand" in parents or "/streaming/Write" in name:
                    found.add(str(kind.getSimpleName()))
    known = {name for visitor in visitor_classes() if visitor.makes is PlanOutput for name in visitor.nodes}
    before = {"WriteToStream", "WriteToStreamStatement"}  # of a query before it runs: no execution has them
    reads = {"MemoryPlan"}  # of the table that `memory` fills
    assert found - known <= before | reads
    assert {"WriteToMicroBatchDataSource", "WriteToMicroBatchDataSourceV1", "WriteToContinuousDataSource"} <= found
