"""Rows on their way to Python: narrow ones without weighing each batch, all from the first wide one on with it."""

import pytest
from pyspark.sql import functions as f

from headwater.spark import connect

pytestmark = pytest.mark.spark
WIDE = 20_000  # bytes: ten thousand rows of them are above Spark's limit


@pytest.fixture
def lake(spark, tmp_path):
    lake = connect(spark, tmp_path / "wh", catalog=f"handed_{tmp_path.name}".replace("-", "_"))
    lake.sql("CREATE NAMESPACE db")
    lake.sql("CREATE TABLE db.t (id BIGINT NOT NULL, s STRING, PRIMARY KEY (id))")
    return lake


def rows(spark, ids, wide):
    """One task's rows, in the order of their ids; those for which `wide` holds have a long text."""
    text = f.when(f.expr(wide), f.repeat(f.lit("x"), WIDE)).otherwise(f.concat(f.lit("s"), "id"))
    return spark.range(0, ids, 1, 1).select("id", text.alias("s"))


@pytest.mark.parametrize(
    ("wide", "parts"),
    [("false", 1), ("true", 1), ("id >= 500", 2), ("id = 500", 2), ("id = 0", 1)],
    ids=["narrow", "wide", "then wide", "once wide", "first wide"],
)
def test_every_row_arrives_whatever_its_width(spark, lake, wide, parts):
    given = rows(spark, 1000, wide)
    given.writeTo(f"{lake.catalog}.db.t").append()
    assert lake.table("db.t").orderBy("id").collect() == given.collect()
    table = lake.warehouse.table("db.t")
    assert len(table.snapshots()) == 1
    assert len([file for split in table.plan_scan().splits for file in split.files]) == parts


def test_tasks_without_rows_write_nothing(spark, lake):
    spark.range(0).selectExpr("id", "'x' AS s").writeTo(f"{lake.catalog}.db.t").append()
    assert lake.table("db.t").count() == 0


def test_the_limit_of_the_session_holds_after_a_write(spark, lake):
    """A task lifts it for itself alone."""
    before = spark.conf.get("spark.sql.execution.arrow.maxBytesPerBatch")
    rows(spark, 10, "false").writeTo(f"{lake.catalog}.db.t").append()
    assert spark.conf.get("spark.sql.execution.arrow.maxBytesPerBatch") == before


def test_of_rows_with_one_key_the_last_counts_across_the_two_ways(spark, lake):
    rows(spark, 3, "id = 1").selectExpr("7L AS id", "s").writeTo(f"{lake.catalog}.db.t").append()
    assert [row.s for row in lake.table("db.t").collect()] == ["s2"]
