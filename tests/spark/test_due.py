"""Buckets that writes of Spark fill are compacted by tasks, while the queries go on."""

import threading

import pytest

from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables import Warehouse
from headwater.spark.source import due
from headwater.spark.source.due import Compactor, compact_after, start_compactor
from headwater.spark.source.options import Options, stored_at

pytestmark = pytest.mark.spark
GROUP = "headwater-compaction"


def operations(table):
    return [snapshot.operation for snapshot in table.snapshots()]


def jobs(spark):
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup(GROUP))


def write(spark, warehouse, number):
    frame = spark.createDataFrame([(each, number) for each in range(20)], "id long, n int")
    options = {"warehouse": str(warehouse), "table": "db.t", "primary-key": "id"}
    frame.coalesce(1).write.format("headwater").options(**options).mode("append").save()


def test_batches_are_compacted_by_tasks(spark, tmp_path):
    compactor, before = start_compactor(spark.sparkContext), jobs(spark)
    for number in range(5):
        write(spark, tmp_path / "wh", number)
    compactor.wait()
    table = Warehouse(tmp_path / "wh").table("db.t")
    assert operations(table).count(Operation.COMPACT) == 1
    assert jobs(spark) == before + 1
    assert {row["n"] for row in table.to_arrow().to_pylist()} == {4}


def test_a_query_does_not_wait(lake, spark, monkeypatch):
    """Statements through the catalog return, and the next ones run, while a compaction is under way."""
    going, begun, compact = threading.Event(), threading.Event(), Compactor._compact

    def slow(self, note):
        begun.set()
        going.wait()
        compact(self, note)

    monkeypatch.setattr(Compactor, "_compact", slow)
    lake.sql("CREATE TABLE db.t (id BIGINT NOT NULL, n INT) TBLPROPERTIES ('primary-key' = 'id')")
    try:
        for number in range(5):
            lake.sql(f"INSERT INTO db.t VALUES (1, {number}), (2, {number})")
        assert begun.wait(60)
        table = lake.warehouse.table("db.t")
        assert Operation.COMPACT not in operations(table)
        lake.sql("UPDATE db.t SET n = 9 WHERE id = 1")
        assert lake.sql("SELECT n FROM db.t WHERE id = 1").collect()[0][0] == 9
    finally:
        going.set()
    start_compactor(spark.sparkContext).wait()
    assert operations(table)[-1] is Operation.COMPACT
    assert [row["n"] for row in table.to_arrow().sort_by("id").to_pylist()] == [9, 4]


@pytest.mark.slow
def test_a_stream_is_compacted_by_tasks(spark, tmp_path):
    compactor, before = start_compactor(spark.sparkContext), jobs(spark)
    warehouse = Warehouse(tmp_path / "wh")
    warehouse.create_database("db")
    source = warehouse.create_table("db.s", {"id": "BIGINT NOT NULL", "n": "INT"}, primary_key="id")
    warehouse.create_table("db.t", {"id": "BIGINT NOT NULL", "n": "INT"}, primary_key="id")
    options = {"warehouse": str(tmp_path / "wh")}
    for number in range(5):
        source.write([(1, number), (2, number)])
        stream = spark.readStream.format("headwater").options(**options, table="db.s").load()
        writer = stream.writeStream.format("headwater").options(**options, table="db.t")
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        writer.start().awaitTermination()
    compactor.wait()
    table = warehouse.table("db.t")
    assert operations(table).count(Operation.COMPACT) == 1
    assert jobs(spark) == before + 1


@pytest.mark.parametrize("folder", ["none", "of somebody else"])
def test_a_stream_compacts_by_itself_where_no_driver_reads_notes(tmp_path, monkeypatch, folder):
    monkeypatch.setattr(due, "_ancestors", lambda: [1])
    monkeypatch.setattr(due, "_folder", lambda process: tmp_path / f"due-{process}")
    if folder != "none":
        (tmp_path / "due-1").mkdir()
        monkeypatch.setattr(due.os, "getuid", lambda: -1)
    warehouse = Warehouse(tmp_path / "wh")
    warehouse.create_database("db")
    options = {"num-sorted-run.compaction-trigger": "2"}
    table = warehouse.create_table("db.t", {"id": "BIGINT NOT NULL"}, primary_key="id", options=options)
    place = Options({"warehouse": str(tmp_path / "wh"), "table": "db.t"}).place()
    with monkeypatch.context() as patch:
        patch.setattr("headwater.lake.tables.table.compact_if_due", lambda *each: None)
        snapshots = [table.write([(1,)]), table.write([(2,)])]
    compact_after(stored_at(place, table), snapshots[-1])
    assert Operation.COMPACT not in operations(table)
    compact_after(stored_at(place, table), snapshots[-1], streamed=True)
    assert operations(table)[-1] is Operation.COMPACT
    assert not any(tmp_path.glob("due-1/*"))
