"""Streaming queries: one run from start to end, batches joined to their source."""

import pytest
from pyspark.sql import functions as F  # noqa: N812
from tests.spark.agent.conftest import columns, shown

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
