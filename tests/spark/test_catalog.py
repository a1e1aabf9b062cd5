"""Tables by name: the catalog that Spark's own compiler makes at run time."""

import re
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import functions as f
from tests.effort import one_in

import headwater.spark.lake as lake_module
from headwater.errors import EngineError, UsageError
from headwater.lake.metadata.snapshot import Origin
from headwater.spark import connect
from headwater.spark.source import commits, origin

pytestmark = pytest.mark.spark
REFUSED = (PySparkException, Py4JJavaError)  # PySpark leaves some of Spark's own exceptions as they come


def rows(frame):
    return sorted((tuple(row) for row in frame.collect()), key=str)


def plan_text(frame):
    return frame._jdf.queryExecution().toString()


# -------------------------------------------------------------------------------------------------------- reading


def test_columns_and_filters_reach_the_scan(keyed):
    frame = keyed.sql("SELECT s FROM db.t WHERE id > 1 AND n = 2")
    assert rows(frame) == [("b",)]
    text = plan_text(frame)
    assert "headwater db.t at snapshot 1" in text
    assert "GreaterThan(id,1)" in text
    assert rows(keyed.sql("SELECT count(*) FROM db.t")) == [(3,)]
    assert rows(keyed.table("db.t").select("n")) == [(1,), (2,), (3,)]


@pytest.mark.parametrize(
    "condition",
    one_in(
        3,
        [
            "d = DATE '2026-01-02'",
            "ts >= TIMESTAMP '2026-01-02 00:00:00'",
            "ntz < TIMESTAMP_NTZ '2026-01-02 00:00:00'",
            "x > 1.5",
            "x = double('NaN')",
            "x <= 1.5",
            "m = 2.50",
            "m IN (1.25, 2.50)",
            "s LIKE 'b%'",
            "s IS NULL",
            "s IS NOT NULL AND NOT flag",
            "b = X'02'",
            "s <=> 'b2' OR id = 1",
            "id IN (1, 3) AND s <> 'zz'",
        ],
    ),
)
def test_filters_of_every_type_drop_what_spark_would_drop(lake, tmp_path, condition):
    """The same rows by Spark's own Parquet and by a scan that was told the filter."""
    source = lake.spark.sql(
        "SELECT * FROM VALUES "
        "(1L, DATE '2026-01-01', TIMESTAMP '2026-01-01 00:00:00', TIMESTAMP_NTZ '2026-01-01 10:00:00', 1.5D, "
        "CAST(1.25 AS DECIMAL(8,2)), 'a1', X'01', true), "
        "(2L, DATE '2026-01-02', TIMESTAMP '2026-01-02 00:00:00', TIMESTAMP_NTZ '2026-01-02 00:00:00', "
        "double('NaN'), CAST(2.50 AS DECIMAL(8,2)), 'b2', X'02', false), "
        "(3L, DATE '2026-01-03', NULL, NULL, 2.5D, NULL, NULL, NULL, NULL) "
        "AS v(id, d, ts, ntz, x, m, s, b, flag)"
    )
    source.write.parquet(str(tmp_path / "parquet"))
    source.writeTo(f"{lake.catalog}.db.v").create()
    wanted = lake.spark.read.parquet(str(tmp_path / "parquet")).where(condition)
    assert rows(lake.table("db.v").where(condition).select("id")) == rows(wanted.select("id"))


def test_aggregates_over_a_table_are_computed_where_it_is_read(keyed):
    keyed.sql("INSERT INTO db.t VALUES (2, NULL, NULL), (9, 'z', 2147483647)")
    keyed.sql("DELETE FROM db.t WHERE id = 1")
    frame = keyed.sql("SELECT count(*), count(n), sum(n), min(s), max(id), min(n) FROM db.t")
    assert rows(frame) == [(3, 2, 2147483650, "c", 9, 3)]
    assert "aggregate_2" in plan_text(frame)
    for query in ("SELECT sum(id) FROM db.t", "SELECT count(*) FROM db.t WHERE n > 3", "SELECT stddev(n) FROM db.t"):
        frame = keyed.sql(query)
        assert "aggregate_0" not in plan_text(frame)
        frame.collect()
    assert rows(keyed.sql("SELECT s, count(*) FROM db.t GROUP BY s")) == sorted(
        [("c", 1), ("z", 1), (None, 1)], key=str
    )
    assert rows(keyed.sql("SELECT count(*), max(s) FROM db.t VERSION AS OF 1")) == [(3, "c")]


def test_time_travel_in_sql(keyed):
    keyed.sql("DELETE FROM db.t WHERE id = 1")
    keyed.warehouse.table("db.t").create_tag("start", 1)
    for moment in ("VERSION AS OF 1", "VERSION AS OF 'start'", "VERSION AS OF '@-1'"):
        assert rows(keyed.sql(f"SELECT id FROM db.t {moment}")) == [(1,), (2,), (3,)]
    now = keyed.warehouse.table("db.t").snapshot(1).timestamp / 1000
    assert keyed.sql(f"SELECT * FROM db.t TIMESTAMP AS OF timestamp_millis({int(now * 1000)})").count() == 3
    assert rows(keyed.table("db.t", at=1).select("id")) == [(1,), (2,), (3,)]
    assert rows(keyed.sql("SELECT id FROM db.t")) == [(2,), (3,)]
    with pytest.raises(PySparkException, match="no snapshot 77"):
        keyed.sql("SELECT * FROM db.t VERSION AS OF 77")


def test_a_query_reads_one_snapshot(keyed):
    frame = keyed.sql("SELECT a.id FROM db.t a JOIN db.t b ON a.id = b.id")
    execution = frame._jdf.queryExecution()
    execution.optimizedPlan()  # by now it is known what is read
    keyed.warehouse.table("db.t").write([(4, "d", 4)])
    assert execution.toRdd().count() == 3
    assert execution.executedPlan().toString().count("at snapshot 1") >= 2
    assert len(rows(frame)) in (3, 4)  # Spark may move a frame to a later snapshot, but all of it


def test_an_empty_table_reads_as_empty(lake):
    lake.sql("CREATE TABLE db.e (id BIGINT)")
    assert rows(lake.sql("SELECT * FROM db.e")) == []
    assert rows(lake.sql("SELECT count(*) FROM db.e")) == [(0,)]


def test_what_is_not_there_is_told_as_spark_tells_it(lake):
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        lake.sql("SELECT * FROM db.nope")
    with pytest.raises(AnalysisException, match="SCHEMA_NOT_FOUND"):
        lake.sql("SHOW TABLES IN nope")
    lake.sql("CREATE TABLE db.t (id INT)")
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_ALREADY_EXISTS"):
        lake.sql("CREATE TABLE db.t (id INT)")
    with pytest.raises(AnalysisException, match="SCHEMA_ALREADY_EXISTS"):
        lake.sql("CREATE NAMESPACE db")


# ------------------------------------------------------------------------------------------------------------ DDL


def test_tables_and_databases_are_listed_and_described(keyed):
    assert rows(keyed.sql("SHOW NAMESPACES")) == [("db",), ("default",)]
    assert [row.tableName for row in keyed.sql("SHOW TABLES IN db").collect()] == ["t"]
    described = {row.col_name: row.data_type for row in keyed.sql("DESCRIBE TABLE EXTENDED db.t").collect()}
    assert described["id"] == "bigint"
    assert "headwater.snapshot=1" in described["Table Properties"]
    assert f"headwater.warehouse={keyed.warehouse.files.root}" in described["Table Properties"]


def test_keys_buckets_and_partitions_come_from_ddl(lake):
    lake.sql(
        "CREATE TABLE db.k (id BIGINT NOT NULL, r STRING NOT NULL COMMENT 'region', PRIMARY KEY (id, r)) "
        "PARTITIONED BY (r) COMMENT 'keys' TBLPROPERTIES ('bucket' = '3')"
    )
    schema = lake.warehouse.table("db.k").schema
    assert (schema.primary_keys, schema.partition_keys) == (("id", "r"), ("r",))
    assert (schema.options, schema.comment) == ({"bucket": "3"}, "keys")
    assert schema.field("r").description == "region"
    with pytest.raises(PySparkException, match=r"cannot be partitioned by years\(d\)"):
        lake.sql("CREATE TABLE db.y (id INT, d DATE) PARTITIONED BY (years(d))")


def test_alter_rename_and_drop(keyed):
    keyed.sql("ALTER TABLE db.t ADD COLUMN extra DOUBLE COMMENT 'more' AFTER s")
    keyed.sql("ALTER TABLE db.t RENAME COLUMN n TO number")
    keyed.sql("ALTER TABLE db.t ALTER COLUMN number TYPE BIGINT")
    keyed.sql("ALTER TABLE db.t SET TBLPROPERTIES ('file.compression' = 'zstd')")
    schema = keyed.warehouse.table("db.t").schema
    assert schema.names == ("id", "s", "extra", "number")
    assert str(schema.field("number").type) == "BIGINT"
    assert schema.options["file.compression"] == "zstd"
    assert rows(keyed.sql("SELECT * FROM db.t WHERE id = 2")) == [(2, "b", None, 2)]
    keyed.sql("ALTER TABLE db.t DROP COLUMN extra")
    with pytest.raises(PySparkException, match="non-nullable"):
        keyed.sql("ALTER TABLE db.t ALTER COLUMN number SET NOT NULL")
    keyed.sql("ALTER TABLE db.t RENAME TO db.renamed")
    assert keyed.sql("SELECT * FROM db.renamed").count() == 3
    keyed.sql("DROP TABLE db.renamed")
    assert keyed.warehouse.list_tables("db") == []
    keyed.sql("DROP TABLE IF EXISTS db.renamed")
    keyed.sql("DROP NAMESPACE db")
    assert keyed.warehouse.list_databases() == []


def test_aggregates_that_cannot_work_and_sums_that_do_not_fit_are_refused(lake):
    made = (
        "CREATE TABLE db.a (k INT NOT NULL, v {}, PRIMARY KEY (k)) TBLPROPERTIES ('merge-engine' = 'aggregation'{})"
    )
    function = "'fields.v.aggregate-function' = '{}'"
    for type, name in (("STRING", "sum"), ("INT", "bool_or"), ("TIMESTAMP", "listagg"), ("DECIMAL(9,2)", "product")):
        with pytest.raises(REFUSED, match=f"which has no `{name}`"):
            lake.sql(made.format(type, ", " + function.format(name)))
    lake.sql(made.format("TINYINT", ""))
    with pytest.raises(REFUSED, match="which has no `listagg`"):
        lake.sql(f"ALTER TABLE db.a SET TBLPROPERTIES ({function.format('listagg')})")
    lake.sql(f"ALTER TABLE db.a SET TBLPROPERTIES ({function.format('sum')})")
    lake.sql("INSERT INTO db.a VALUES (1, 100)")
    for insert in ("VALUES (1, 28)", "SELECT 2, CAST(64 AS TINYINT) FROM range(0, 2, 1, 2)"):
        with pytest.raises(REFUSED, match="the sum of column `v` would not fit TINYINT in the row"):
            lake.sql(f"INSERT INTO db.a {insert}").collect()
    lake.sql("INSERT INTO db.a SELECT 2, CAST(63 AS TINYINT) FROM range(0, 2, 1, 2)")
    assert rows(lake.table("db.a")) == [(1, 100), (2, 126)]


# -------------------------------------------------------------------------------------------------------- writing


def test_create_as_select_and_frames_by_name(lake):
    spark, name = lake.spark, lake.catalog
    lake.sql("CREATE TABLE db.c TBLPROPERTIES ('primary-key' = 'id') AS SELECT id, id * 2 AS d FROM range(10)")
    assert lake.warehouse.table("db.c").schema.primary_keys == ("id",)
    frame = spark.range(5, 15).withColumn("d", f.lit(0).cast("long"))
    frame.writeTo(f"{name}.db.c").append()
    assert lake.table("db.c").count() == 15
    frame.write.mode("append").insertInto(f"{name}.db.c")
    frame.write.mode("overwrite").saveAsTable(f"{name}.db.s")
    assert lake.table("db.s").count() == 10
    lake.sql("CREATE OR REPLACE TABLE db.c AS SELECT 1 AS one")
    assert rows(lake.table("db.c")) == [(1,)]


def test_a_table_is_replaced_when_the_new_one_is_whole(keyed):
    failing = "SELECT id, IF(id = 2, raise_error('stop'), s) AS s FROM db.t"
    with pytest.raises(PySparkException, match="stop"):
        keyed.sql(f"CREATE OR REPLACE TABLE db.t AS {failing}")
    assert keyed.table("db.t").count() == 3
    with pytest.raises(PySparkException, match="stop"):
        keyed.sql(f"CREATE TABLE db.fresh AS {failing}")
    assert keyed.warehouse.list_tables("db") == ["t"]
    keyed.sql("CREATE OR REPLACE TABLE db.t TBLPROPERTIES ('primary-key' = 'id') AS SELECT id + 1 AS id FROM db.t")
    assert rows(keyed.table("db.t")) == [(2,), (3,), (4,)]
    assert keyed.warehouse.remove_orphans(older_than=0).files == ()


def test_insert_overwrite_static_and_dynamic(plain):
    plain.sql("INSERT OVERWRITE db.p PARTITION (r = 'eu') SELECT 9")
    assert rows(plain.table("db.p")) == [(3, "us"), (9, "eu")]
    plain.spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        plain.sql("INSERT OVERWRITE db.p VALUES (5, 'us')")
    finally:
        plain.spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert rows(plain.table("db.p")) == [(5, "us"), (9, "eu")]
    plain.sql("INSERT OVERWRITE db.p VALUES (7, 'ap')")
    assert rows(plain.table("db.p")) == [(7, "ap")]
    plain.sql("TRUNCATE TABLE db.p")
    assert rows(plain.table("db.p")) == []


def test_commits_are_known_to_the_driver_with_their_origin(keyed):
    origin.set_origin_of(lambda execution: Origin(run_id=f"run-{execution}"))
    try:
        keyed.sql("INSERT INTO db.t VALUES (5, 'e', 5)")
    finally:
        origin.set_origin_of(None)
    last = commits.recent[-1]
    assert (last.table, last.snapshot.snapshot_id) == ("db.t", 2)
    assert last.snapshot.origin == Origin(run_id=f"run-{last.execution_id}")
    assert commits.landed("db.t", last.execution_id) == [last]


def test_streams_by_name(keyed, tmp_path):
    keyed.sql("CREATE TABLE db.copy (id BIGINT NOT NULL, s STRING, n INT) TBLPROPERTIES ('primary-key' = 'id')")
    name = keyed.catalog
    for _ in range(2):
        query = (
            keyed.spark.readStream.table(f"{name}.db.t")
            .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .toTable(f"{name}.db.copy")
        )
        query.awaitTermination()
        keyed.sql("INSERT INTO db.t VALUES (50, 'new', 0)")
    assert rows(keyed.table("db.copy")) == [(1, "a", 1), (2, "b", 2), (3, "c", 3), (50, "new", 0)]
    copy = keyed.warehouse.table("db.copy")
    assert {each.commit_user.split("-")[0] for each in copy.snapshots()} == {"stream"}
    assert len({each.commit_id for each in copy.snapshots()}) == len(copy.snapshots()) == 2


def test_without_the_catalog_there_are_views(spark, tmp_path, monkeypatch):
    def refuse(*_):
        raise EngineError("other internals")

    monkeypatch.setattr(lake_module, "install_catalog", refuse)
    with pytest.warns(UserWarning, match="other internals"):
        lake = connect(spark, tmp_path / "wh")
    lake.warehouse.create_database("db")
    lake.warehouse.create_table("db.t", {"id": "BIGINT"}).write([(1,), (2,)])
    assert rows(lake.sql("SELECT * FROM db_t WHERE id > 1")) == [(2,)]
    lake.sql("INSERT INTO db_t VALUES (3)")
    assert rows(lake.table("db.t")) == [(1,), (2,), (3,)]
    lake.sql("INSERT OVERWRITE db_t VALUES (9)")
    assert rows(lake.table("db.t")) == [(9,)]
    assert rows(lake.table("db.t", at=1)) == [(1,), (2,)]


def test_the_guide_runs(spark, tmp_path, monkeypatch):
    """Its snippets, as they are printed, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "guides" / "spark-tables.md"
    snippets = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(snippets) >= 7
    space = {"spark": spark}
    for snippet in snippets:
        for name in ("checkpoint", "warehouse"):  # Spark's working folder is where it was started
            snippet = re.sub(rf'(?<!")"{name}"(?!:)', f'"{tmp_path}/{name}"', snippet)
        exec(snippet, space)


def test_a_name_stays_with_its_warehouse(spark, lake, tmp_path):
    connect(spark, tmp_path / "wh", catalog=lake.catalog)
    with pytest.raises(UsageError, match="is the warehouse"):
        connect(spark, tmp_path / "other", catalog=lake.catalog)
