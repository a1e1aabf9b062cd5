"""Every command that changes data: what is read, what is written, what happens to it."""

import pytest
from tests.spark.agent.conftest import columns, shown
from tests.spark.conftest import RELEASE

pytestmark = pytest.mark.spark

HAS_METRICS = RELEASE >= (4, 3)
METRICS = """CREATE VIEW w2 WITH METRICS LANGUAGE YAML AS $$
version: "0.1"
source: t
dimensions: [{name: c, expr: c}]
measures: [{name: total, expr: sum(a)}]
$$"""

TWO_INSERTS = "FROM t INSERT INTO dst SELECT a, c INSERT INTO part PARTITION (ds = 'x') SELECT b"
# statement → what its run reads and writes
SQL = {
    "CREATE TABLE n1 (a INT, b STRING) USING parquet": "-> n1 CREATE",
    "INSERT INTO n1 SELECT a, c FROM t": "t -> n1",
    "INSERT INTO n1 VALUES (1, 'x')": "-> n1",
    "INSERT OVERWRITE n1 SELECT x, z FROM u": "u -> n1 OVERWRITE",
    "CREATE TABLE n2 USING orc AS SELECT a, c, z FROM t JOIN u ON a = x": "t, u -> n2 CREATE",
    "CREATE TABLE n3 LIKE n2": "n2 -> n3 CREATE",
    **({TWO_INSERTS: "t -> dst, part"} if RELEASE >= (4, 0) else {}),
    "ALTER TABLE n1 RENAME TO n4": "n1 -> n4 RENAME",
    "ALTER TABLE n4 ADD COLUMNS (z INT)": "-> n4 ALTER",
    "ALTER TABLE n4 SET TBLPROPERTIES ('k' = 'v')": "-> n4 ALTER",
    "ALTER TABLE n4 UNSET TBLPROPERTIES ('k')": "-> n4 ALTER",
    "COMMENT ON TABLE n4 IS 'four'": "-> n4 ALTER",
    "ALTER TABLE part ADD PARTITION (ds = 'y')": "-> part ALTER",
    "ALTER TABLE part PARTITION (ds = 'y') RENAME TO PARTITION (ds = 'z')": "-> part ALTER",
    "ALTER TABLE part DROP PARTITION (ds = 'z')": "-> part ALTER",
    "MSCK REPAIR TABLE part": "-> part ALTER",
    "TRUNCATE TABLE n4": "-> n4 TRUNCATE",
    "ALTER TABLE n4 ALTER COLUMN z COMMENT 'last'": "-> n4 ALTER",
    "ANALYZE TABLE t COMPUTE STATISTICS": "t ->",
    "ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS": "t ->",
    "CACHE TABLE t": "t ->",
    "REFRESH TABLE t": "t ->",
    "DROP TABLE n4": "-> n4 DROP",
    "CREATE OR REPLACE VIEW w1 AS SELECT a + 1 AS n FROM t": "t -> cases.w1 CREATE",
    "ALTER VIEW w1 AS SELECT y AS n FROM u": "u -> cases.w1 ALTER",
    **({"ALTER VIEW w1 WITH SCHEMA EVOLUTION": "-> cases.w1 ALTER"} if RELEASE >= (4, 0) else {}),
    "DROP VIEW w1": "-> cases.w1 DROP",
    **({METRICS: "-> cases.w2 CREATE", "DROP VIEW w2": "-> cases.w2 DROP"} if HAS_METRICS else {}),
    "CREATE TABLE h1 STORED AS TEXTFILE AS SELECT a, c FROM t": "t -> h1 CREATE",
    "INSERT INTO h1 SELECT x, z FROM u": "u -> h1",
    "INSERT OVERWRITE TABLE h1 SELECT p, q FROM hive_dst": "hive_dst -> h1 OVERWRITE",
    "CREATE TABLE h2 STORED AS PARQUET AS SELECT a FROM h1": "h1 -> h2 CREATE",
    "DROP TABLE h1": "-> h1 DROP",
    "DROP TABLE n2": "-> n2 DROP",
    "DROP TABLE n3": "-> n3 DROP",
    "DROP TABLE h2": "-> h2 DROP",
}


def test_commands_of_sql(watch):
    """In one test, because they follow one another."""
    found = {statement: shown(watch.run(statement)) for statement in SQL}
    assert found == SQL


@pytest.mark.skipif(RELEASE >= (4, 0), reason="later releases run both as one")
def test_an_insert_into_two_tables_is_two_runs_of_spark_3(watch):
    watch.said()
    watch.spark.sql(TWO_INSERTS)
    assert [shown(event) for event in watch.said() if event["eventType"] == "COMPLETE"] == ["t -> dst", "t -> part"]


def test_what_is_not_data_is_not_reported(watch, tmp_path):
    (tmp_path / "words.txt").write_text("one")
    watch.said()
    for statement in (
        "SHOW TABLES",
        "DESCRIBE t",
        "SET spark.sql.shuffle.partitions",
        "USE cases",
        "EXPLAIN SELECT 1",
        "UNCACHE TABLE t",
        f"REFRESH '{tmp_path}'",
        f"CREATE TEMPORARY VIEW seen USING text OPTIONS (path '{tmp_path}')",
        "DROP VIEW seen",
    ):
        watch.spark.sql(statement).collect()
    watch.spark.range(3).collect()
    watch.spark.table("t").createOrReplaceTempView("of_this_session")
    assert watch.said() == []


def test_the_place_of_a_table_changes(watch, tmp_path):
    watch.spark.sql("CREATE TABLE moved (a INT) USING parquet")
    event = watch.run(f"ALTER TABLE moved SET LOCATION '{tmp_path}/elsewhere'")
    assert shown(event) == "-> elsewhere ALTER"
    watch.spark.sql("DROP TABLE moved")


def test_statistics_of_a_whole_database(watch):
    watch.spark.sql("CREATE DATABASE counted")
    watch.spark.sql("CREATE TABLE counted.one USING parquet AS SELECT 1 AS a")
    assert shown(watch.run("ANALYZE TABLES IN counted COMPUTE STATISTICS")) == "one ->"
    watch.spark.sql("DROP DATABASE counted CASCADE")


def test_files_of_every_format(watch, tmp_path):
    t = watch.spark.table("t")
    found = {}
    for name in ("parquet", "orc", "json", "csv", "text", *(["xml"] if RELEASE >= (4, 0) else [])):
        rows = t.select("c") if name == "text" else t.select("a", "c")
        options = {"rowTag": "row"} if name == "xml" else {}
        writer = rows.write.format(name).options(**options)
        event = watch.run(lambda writer=writer, name=name: writer.save(str(tmp_path / name)))
        (output,) = event["outputs"]
        found[name] = (shown(event), output["facets"]["storage"]["fileFormat"], output["namespace"])
    assert found == {name: (f"t -> {name}", name, "file") for name in found}


def test_insert_overwrite_directory(watch, tmp_path):
    spark_way = watch.run(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/one' USING csv SELECT a FROM t")
    hive_way = watch.run(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/two' STORED AS TEXTFILE SELECT a FROM t")
    assert shown(spark_way) == "t -> one OVERWRITE"
    assert shown(hive_way) == "t -> two OVERWRITE"
    assert columns(spark_way) == {"a": {"t.a"}}


def test_load_data(watch, tmp_path):
    (tmp_path / "rows.txt").write_text("1\x01x\n")
    event = watch.run(f"LOAD DATA LOCAL INPATH '{tmp_path}/rows.txt' INTO TABLE hive_dst")
    assert shown(event) == "rows.txt -> hive_dst"


def test_tables_by_dataframe(watch):
    t = watch.spark.table("t").select("a", "c")
    found = [
        shown(watch.run(lambda: t.write.saveAsTable("s1"))),
        shown(watch.run(lambda: t.write.mode("append").saveAsTable("s1"))),
        shown(watch.run(lambda: t.write.mode("overwrite").saveAsTable("s1"))),
        shown(watch.run(lambda: t.write.insertInto("s1"))),
        shown(watch.run(lambda: t.writeTo("s2").using("parquet").create())),
    ]
    assert found == ["t -> s1 CREATE", "t -> s1", "t -> s1 OVERWRITE", "t -> s1", "t -> s2 CREATE"]
    watch.spark.sql("DROP TABLE s1")
    watch.spark.sql("DROP TABLE s2")


def test_reading_is_reported_too(watch):
    t = watch.spark.table("t")
    actions = [t.collect, t.count, t.show, t.toPandas, lambda: t.take(2), lambda: t.filter("a > 1").head()]
    assert [shown(watch.run(action)) for action in actions] == ["t ->"] * len(actions)


def test_cache(watch):
    cached = watch.spark.table("t").join(watch.spark.table("u"), watch.spark.table("t").a == watch.spark.table("u").x)
    cached = cached.select("a", "z").cache()
    watch.run(cached.count)
    event = watch.run(lambda: cached.write.mode("overwrite").saveAsTable("from_cache"))
    assert shown(event) == "t, u -> from_cache OVERWRITE"
    assert columns(event) == {"a": {"t.a"}, "z": {"u.z"}}
    cached.unpersist()
    watch.spark.sql("DROP TABLE from_cache")


def test_cache_table_as_select_and_temporary_views_are_datasets_on_request(watch):
    watch.said()
    watch.spark.sql("CACHE TABLE hot AS SELECT a FROM t")
    assert [shown(event) for event in watch.said() if event["outputs"]] == []
    watch.spark.sql("UNCACHE TABLE hot")
