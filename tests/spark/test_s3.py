"""The same tables in an object store."""

import pytest

from headwater.spark import connect

pytestmark = pytest.mark.spark


def test_tables_in_a_bucket_are_made_changed_and_read(spark, s3_options, bucket):
    lake = connect(spark, f"s3://{bucket}/spark", catalog="s3lake", storage=s3_options)
    lake.sql("CREATE NAMESPACE db")
    lake.sql("CREATE TABLE db.t TBLPROPERTIES ('primary-key' = 'id') AS SELECT id, id % 7 AS n FROM range(1000)")
    lake.sql("UPDATE db.t SET n = -1 WHERE id < 10")
    lake.sql("DELETE FROM db.t WHERE id >= 990")
    found = lake.sql("SELECT count(*), sum(if(n = -1, 1, 0)) FROM db.t").collect()[0]
    assert tuple(found) == (990, 10)
    assert lake.sql("SELECT * FROM db.t VERSION AS OF 1").count() == 1000
    assert lake.warehouse.table("db.t").get(5)["n"] == -1


def test_a_secret_is_not_shown(spark, s3_options, bucket):
    lake = connect(spark, f"s3://{bucket}/secret", catalog="s3secret", storage=s3_options | {"region": "us-east-1"})
    lake.sql("CREATE NAMESPACE db")
    lake.sql("CREATE TABLE db.t AS SELECT 1 AS id")
    shown = lake.sql("EXPLAIN EXTENDED SELECT * FROM db.t").collect()[0][0]
    described = "".join(str(row) for row in lake.sql("DESCRIBE TABLE EXTENDED db.t").collect())
    assert "secret_access_key" not in shown + described
