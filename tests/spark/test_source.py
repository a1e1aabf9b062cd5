"""`format("headwater")`: reads, writes, time travel and changes, with nothing registered by hand."""

import datetime
import decimal
import time
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from headwater.lake.metadata.snapshot import InputVersion, Operation, Origin
from headwater.lake.tables import Warehouse

pytestmark = pytest.mark.spark


@pytest.fixture
def warehouse(tmp_path):
    warehouse = Warehouse(tmp_path / "wh")
    warehouse.create_database("db")
    return warehouse


def write(frame, warehouse, table="db.t", mode="append", **options):
    writer = frame.write.format("headwater").mode(mode)
    options = {name.replace("_", "-"): value for name, value in options.items()}
    writer.options(warehouse=warehouse.url, table=table, **options).save()


def read(spark, warehouse, table="db.t", **options):
    options = {name.rstrip("_").replace("_", "-"): value for name, value in options.items()}
    return spark.read.format("headwater").options(warehouse=warehouse.url, table=table, **options).load()


def rows(frame):
    return sorted(tuple(row) for row in frame.collect())


def test_a_table_is_made_upserted_and_read(spark, warehouse):
    frame = spark.range(1000).withColumn("s", f.concat(f.lit("s"), "id"))
    write(frame, warehouse, primary_key="id")
    write(spark.createDataFrame([(7, "new"), (5000, "more")], "id long, s string"), warehouse)
    back = read(spark, warehouse)
    assert back.count() == 1001
    assert back.where("id = 7").collect()[0].s == "new"
    table = warehouse.table("db.t")
    assert table.schema.primary_keys == ("id",)
    assert table.get(5000)["s"] == "more"
    assert [each.commit_user for each in table.snapshots()] == ["spark", "spark"]


def test_every_type_goes_there_and_back(spark, warehouse):
    row = {
        "b": True,
        "i8": 1,
        "i16": 2,
        "i32": 3,
        "i64": 4,
        "f": 0.5,
        "d": 0.25,
        "s": "ü",
        "bin": bytearray(b"\x00\xff"),
        "day": datetime.date(2026, 2, 3),
        "ltz": datetime.datetime(2026, 2, 3, 4, 5, 6, 7),
        "ntz": datetime.datetime(2026, 2, 3, 4, 5, 6, 7),
        "dec": decimal.Decimal("12345.67"),
        "arr": [1, None, 3],
        "map": {"k": 1},
        "st": (1, "x"),
        "deep": [{"k": [(1, "y")]}],
    }
    schema = (
        "b boolean, i8 byte, i16 short, i32 int, i64 long, f float, d double, s string, bin binary, day date, "
        "ltz timestamp, ntz timestamp_ntz, dec decimal(12,2), arr array<int>, map map<string,int>, "
        "st struct<x:int,y:string>, deep array<map<string,array<struct<x:int,y:string>>>>"
    )
    frame = spark.createDataFrame([tuple(row.values()), (None,) * len(row)], schema)
    write(frame, warehouse, create="true")
    back = read(spark, warehouse)
    assert back.schema.simpleString() == frame.schema.simpleString()
    assert sorted(map(str, back.collect())) == sorted(map(str, frame.collect()))


def test_rows_of_all_tasks_are_one_commit(spark, warehouse):
    frame = spark.range(0, 10_000, numPartitions=7).withColumn("v", f.col("id") % 5)
    write(frame, warehouse, create="true")
    table = warehouse.table("db.t")
    assert len(table.snapshots()) == 1
    assert table.snapshot().summary.added_records == 10_000
    assert read(spark, warehouse).agg(f.sum("v")).collect()[0][0] == 20_000


def test_a_task_that_fails_leaves_nothing(spark, warehouse, tmp_path):
    """Nor do those that have succeeded before it."""
    data = str(tmp_path / "wh" / "db" / "t" / "data")

    @f.udf("string")
    def null_after_the_others(number):
        if number < 99:
            return "x"
        end = time.monotonic() + 60
        while not list(Path(data).rglob("*.sst")) and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(1)  # for the task that has written it to say so
        return None

    frame = spark.range(0, 100, numPartitions=2).withColumn("s", null_after_the_others("id"))
    warehouse.create_table("db.t", {"id": "BIGINT NOT NULL", "s": "STRING NOT NULL"}, primary_key="id")
    with pytest.raises(PySparkException, match="`s` may not be null"):
        write(frame, warehouse)
    table = warehouse.table("db.t")
    assert table.snapshot() is None
    assert table.remove_orphans(older_than=0).files == ()


def test_time_travel_by_snapshot_tag_and_time(spark, warehouse):
    for version in ("a", "b"):
        write(spark.createDataFrame([(1, version)], "id long, s string"), warehouse, primary_key="id")
    table = warehouse.table("db.t")
    table.create_tag("first", 1)
    assert rows(read(spark, warehouse, snapshot="1")) == [(1, "a")]
    assert rows(read(spark, warehouse, tag="first")) == [(1, "a")]
    assert rows(read(spark, warehouse, at="@-1")) == [(1, "a")]
    assert rows(read(spark, warehouse)) == [(1, "b")]


def test_columns_and_filters_are_pushed(spark, warehouse):
    write(spark.range(100).withColumn("s", f.lit("x")), warehouse, primary_key="id")
    assert read(spark, warehouse, columns="s").columns == ["s"]
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        pushed = read(spark, warehouse, pushdown="true").where("id between 10 and 12 and s is not null")
        assert rows(pushed.select("id")) == [(10,), (11,), (12,)]
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_counting_reads_no_column(spark, warehouse):
    write(spark.range(1000), warehouse, primary_key="id")
    write(spark.range(10).withColumn("_kind", f.lit("-D")), warehouse)
    frame = spark.read.format("headwater").schema(StructType([]))
    assert frame.options(warehouse=warehouse.url, table="db.t").load().count() == 990


def test_a_changelog_is_applied_in_order(spark, warehouse):
    write(spark.range(5).withColumn("s", f.lit("old")), warehouse, primary_key="id")
    changes = [(1, None, "-D"), (2, "old", "-U"), (2, "new", "+U"), (9, "x", "+I"), (9, None, "-D"), (3, None, "-D")]
    changes += [(3, "again", "+I")]
    frame = spark.createDataFrame(changes, "id long, s string, _kind string").coalesce(1)
    write(frame, warehouse)
    assert rows(read(spark, warehouse)) == [(0, "old"), (2, "new"), (3, "again"), (4, "old")]


def test_changes_between_snapshots(spark, warehouse):
    write(spark.createDataFrame([(1, "a"), (2, "b")], "id long, s string"), warehouse, primary_key="id")
    write(spark.createDataFrame([(2, "c"), (3, "d")], "id long, s string"), warehouse)
    assert rows(read(spark, warehouse, from_="1")) == [(2, "c"), (3, "d")]
    full = read(spark, warehouse, from_="1", changelog="true")
    assert rows(full) == [(2, "b", "-U"), (2, "c", "+U"), (3, "d", "+I")]
    write(spark.createDataFrame([(1, "-D")], "id long, _kind string"), warehouse)
    assert rows(read(spark, warehouse, from_="2", changelog="true")) == [(1, "a", "-D")]
    with pytest.raises(PySparkException, match="removed rows"):
        read(spark, warehouse, from_="2").collect()
    assert read(spark, warehouse, from_="2", ignore_deletes="true").count() == 0


def test_overwrites_whole_dynamic_and_listed(spark, warehouse):
    schema = {"id": "BIGINT NOT NULL", "r": "STRING NOT NULL"}
    warehouse.create_table("db.t", schema, primary_key=("id", "r"), partition_by="r")
    frame = spark.createDataFrame([(1, "eu"), (2, "us"), (3, "us")], "id long, r string")
    write(frame, warehouse)
    write(spark.createDataFrame([(9, "us")], frame.schema), warehouse, mode="overwrite", overwrite="dynamic")
    assert rows(read(spark, warehouse)) == [(1, "eu"), (9, "us")]
    write(spark.createDataFrame([(5, "eu")], frame.schema), warehouse, overwrite='[{"r": "eu"}]')
    assert rows(read(spark, warehouse)) == [(5, "eu"), (9, "us")]
    with pytest.raises(PySparkException, match="not in the partitions to overwrite"):
        write(spark.createDataFrame([(5, "us")], frame.schema), warehouse, overwrite='[{"r": "eu"}]')
    write(spark.createDataFrame([(7, "ap")], frame.schema), warehouse, mode="overwrite")
    assert rows(read(spark, warehouse)) == [(7, "ap")]
    assert warehouse.table("db.t").snapshot().operation is Operation.OVERWRITE


def test_a_commit_lands_once_and_keeps_its_origin(spark, warehouse):
    origin = '{"runId": "r1", "inputs": [{"dataset": "db.src", "snapshotId": 3, "columns": ["a"]}]}'
    for _ in range(2):
        write(
            spark.range(3),
            warehouse,
            create="true",
            commit_user="job",
            commit_id="1",
            **{"headwater.origin": origin},
        )
    table = warehouse.table("db.t")
    assert len(table.snapshots()) == 1
    assert table.to_arrow().num_rows == 3
    inputs = (InputVersion(dataset="db.src", snapshot_id=3, columns=("a",)),)
    assert table.snapshot().origin == Origin(run_id="r1", inputs=inputs)
    assert table.remove_orphans(older_than=0).files == ()


def test_what_is_not_there_is_said(spark, warehouse):
    with pytest.raises(PySparkException, match=r"there is no table db\.nope"):
        read(spark, warehouse, table="db.nope")
    with pytest.raises(PySparkException, match="did you mean `snapshot`"):
        read(spark, warehouse, snapshots="1")
    with pytest.raises(PySparkException, match="set the option `create`"):
        write(spark.range(1), warehouse, table="db.nope")
