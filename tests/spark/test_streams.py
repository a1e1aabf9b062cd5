"""Tables as streams: restart, rate limit, exactly once."""

import pytest
from pyspark.sql import functions as f

from headwater.lake.tables import Warehouse
from headwater.spark.source import streams
from headwater.spark.source.commits import Written, finish_batch
from headwater.spark.source.options import Options
from headwater.spark.source.planning import plan_stream_write
from headwater.spark.source.writer import TaskWriter

pytestmark = pytest.mark.spark


@pytest.fixture
def warehouse(tmp_path):
    warehouse = Warehouse(tmp_path / "wh")
    warehouse.create_database("db")
    for name in ("source", "sink"):
        warehouse.create_table(f"db.{name}", {"id": "BIGINT NOT NULL", "s": "STRING"}, primary_key="id")
    return warehouse


def run(spark, warehouse, tmp_path, **options):
    options = {name.replace("_", "-"): value for name, value in options.items()}
    frame = spark.readStream.format("headwater").options(warehouse=warehouse.url, table="db.source", **options).load()
    query = (
        frame.writeStream.format("headwater")
        .options(warehouse=warehouse.url, table="db.sink", checkpointLocation=str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return [progress["numInputRows"] for progress in query.recentProgress]


def test_a_stream_reads_each_snapshot_once_and_resumes(spark, warehouse, tmp_path):
    source, sink = warehouse.table("db.source"), warehouse.table("db.sink")
    for step in range(3):
        source.write([(step * 10 + each, f"v{step}") for each in range(10)])
    batches = [20, 10] if streams.limits is not None else [30]  # Spark asks for limits since 4.2
    assert run(spark, warehouse, tmp_path, max_snapshots_per_trigger="2") == batches
    source.write([(1, "new"), (77, "x")])
    source.compact()
    assert sum(run(spark, warehouse, tmp_path, max_snapshots_per_trigger="2")) == 2
    assert sink.to_arrow().sort_by("id").equals(source.to_arrow().sort_by("id"))
    users = {(each.commit_user, each.commit_id) for each in sink.snapshots()}
    assert len(users) == len(sink.snapshots())


def test_deletes_stream_as_a_changelog(spark, warehouse, tmp_path):
    source, sink = warehouse.table("db.source"), warehouse.table("db.sink")
    source.write([(1, "a"), (2, "b")])
    run(spark, warehouse, tmp_path, changelog="true")
    source.delete([1])
    source.write([(2, "c")])
    run(spark, warehouse, tmp_path, changelog="true")
    assert sink.to_arrow().to_pylist() == [{"id": 2, "s": "c"}]


def test_a_batch_that_landed_is_not_written_again(spark, warehouse):
    """The driver died after the commit and before Spark noted it: the batch comes again."""
    options = Options({"warehouse": warehouse.url, "table": "db.sink", "checkpointlocation": "/c"})
    schema = spark.range(1).select("id", f.lit("x").alias("s")).schema
    sink = warehouse.table("db.sink")
    for attempt in range(2):
        plan = plan_stream_write(options, schema)
        written = TaskWriter(plan).write(spark.range(3).select("id", f.lit("x").alias("s")).toArrow().to_batches())
        assert isinstance(written, Written)
        for batch in range(attempt + 1):
            finish_batch(plan, [written], batch)
            written = TaskWriter(plan).write(
                spark.range(3).select("id", f.lit("y").alias("s")).toArrow().to_batches()
            )
    assert [each.commit_id for each in sink.snapshots()] == ["0", "1"]
