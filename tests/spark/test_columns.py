"""Batches of a table go to Spark whole, or as rows where Spark's reader is another."""

import pytest

from headwater.spark import connect

pytestmark = pytest.mark.spark


def test_rows_are_the_same_where_batches_cannot_be_taken_whole(spark, tmp_path):
    """What `connect` falls back to on a Spark whose reader is not the one we know."""
    lake = connect(spark, tmp_path / "wh", catalog="columns")
    lake.sql("CREATE NAMESPACE db")
    lake.sql("""
        CREATE TABLE db.all AS SELECT id, if(id % 3 = 0, NULL, id * 0.5D) AS x, concat('s', id) AS s,
            CAST(id AS DECIMAL(12, 2)) AS d, DATE '2026-01-01' + CAST(id AS INT) AS day, array(id, NULL) AS a,
            named_struct('p', id, 'q', 'r') AS st, map('k', id) AS m, id % 2 = 0 AS even, X'00FF' AS b,
            TIMESTAMP '2026-01-01 00:00:00' AS t
        FROM range(1000)
    """)
    reader, name = spark.read, "columns.db.all"
    columns, plain = reader.table(name), reader.option("columnar", "false").table(name)
    assert "ColumnarToRow" in columns._jdf.queryExecution().executedPlan().toString()
    assert "ColumnarToRow" not in plain._jdf.queryExecution().executedPlan().toString()
    assert columns.orderBy("id").collect() == plain.orderBy("id").collect()
    assert plain.where("x IS NULL").select("id", "a").count() == 334
