"""Commits made through Spark keep recipes that DuckDB runs again, or say why they cannot be."""

import itertools

import pytest
from pyspark.sql import Window
from pyspark.sql import functions as f

import headwater
from headwater.graph.rebuild import find_tables, rebuild
from headwater.provenance.replay import replay
from headwater.provenance.why import why_rows
from headwater.spark import connect
from headwater.spark.rerun import rows_by, rows_now

pytestmark = pytest.mark.spark


_numbers = itertools.count()


@pytest.fixture
def filled(watch, tmp_path):
    """A warehouse with two tables that have rows, and one to write to; the agent is on."""
    lake = connect(watch.spark, str(tmp_path / "lake"), catalog=f"recipes{next(_numbers)}")
    lake.sql("CREATE NAMESPACE mart")
    lake.sql("CREATE TABLE mart.o (id BIGINT NOT NULL, c STRING, a BIGINT) TBLPROPERTIES ('primary-key' = 'id')")
    lake.sql("CREATE TABLE mart.e (c STRING, n BIGINT)")
    lake.sql("CREATE TABLE mart.r (c STRING, n BIGINT)")
    lake.sql("INSERT INTO mart.o VALUES (1, 'x', 10), (2, 'y', 20), (3, 'x', 30)")
    lake.sql("INSERT INTO mart.e VALUES ('x', 1), ('x', 2), ('z', 3)")
    return lake


def made(lake, frame):
    """The replay of the snapshot that writing a frame to `mart.r` makes, and its recipe."""
    frame.writeTo(f"{lake.catalog}.mart.r").append()
    (found,) = replay(lake.warehouse, "mart.r")
    return found, lake.warehouse.table("mart.r").snapshot().origin.recipe


FRAMES = {
    "join of columns with one name": lambda o, e: o.join(e, o.c == e.c, "left").select(e.c, (o.a + 1).alias("n")),
    "groups": lambda o, e: o.groupBy("c").agg(f.sum("a").alias("n")),
    "distinct groups": lambda o, e: o.groupBy("c").agg(f.countDistinct("id").alias("n")),
    "window": lambda o, e: o.select("c", f.sum("a").over(Window.partitionBy("c")).alias("n")),
    "union": lambda o, e: o.selectExpr("c", "a AS n").union(e).filter("n > 1"),
    "distinct": lambda o, e: o.select("c", f.lit(1).alias("n")).distinct(),
    "first rows": lambda o, e: o.orderBy(f.desc("id")).limit(2).selectExpr("c", "a AS n"),
    "functions": lambda o, e: o.select(
        f.upper(f.concat("c", f.lit("-'"))).alias("c"), f.when(f.col("a") > 10, 1).alias("n")
    ),
    "a table with itself": lambda o, e: (
        o.alias("l").join(o.alias("r"), f.expr("l.id < r.id")).selectExpr("l.c", "r.a AS n")
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_is_written_back_as_sql(filled, kind):
    found, recipe = made(filled, FRAMES[kind](filled.table("mart.o"), filled.table("mart.e")))
    assert recipe.reason is None
    assert recipe.sql.startswith("INSERT INTO mart.r SELECT")
    assert found.identical, found
    (again,) = replay(filled.warehouse, "mart.r", spark=rows_by(filled.spark))
    assert again.identical, again


def test_rebuild_runs_the_statement_on_the_states_of_now(filled):
    text = "SELECT o.c, sum(round(o.a / 3, 1) + e.n) AS n FROM {0}mart.o o JOIN {0}mart.e e ON e.c = o.c GROUP BY o.c"
    filled.sql(f"INSERT OVERWRITE mart.r {text.format('')}")
    warehouse = filled.warehouse
    tables = find_tables(warehouse, "mart.r")
    assert [each.way for each in rebuild(warehouse, tables)] == ["nothing"]
    filled.sql("INSERT INTO mart.o VALUES (1, 'x', 7), (4, 'z', 8)")
    (found,) = rebuild(warehouse, tables, spark=rows_now(filled.spark))
    assert (found.way, found.error) == ("full", None)
    kept = sorted(map(tuple, filled.sql("SELECT * FROM mart.r").collect()))
    wanted = filled.sql(f"SELECT c, CAST(n AS BIGINT) FROM ({text.format('')})").collect()
    assert kept == sorted(map(tuple, wanted))
    assert [each.way for each in rebuild(warehouse, tables)] == ["nothing"]
    (again,) = replay(warehouse, "mart.r", spark=rows_by(filled.spark))
    assert again.identical, again


def test_settings_that_change_the_meaning(filled):
    _, recipe = made(filled, filled.table("mart.e"))
    assert "test_recipes.py" in (recipe.place or "test_recipes.py")
    assert recipe.engine == "spark"
    assert set(recipe.settings) == {
        "spark.sql.ansi.enabled",
        "spark.sql.session.timeZone",
        "spark.sql.caseSensitive",
    }


def test_files_and_their_lines(filled, tmp_path):
    file = tmp_path / "in.csv"
    file.write_text("c,n\nx,1\ny,2\n")
    read = filled.spark.read.csv(str(file), header=True).withColumn("n", f.col("n").cast("bigint"))
    found, recipe = made(filled, read)
    assert [each.path for each in recipe.files] == [str(file)]
    assert found.identical, found
    (hop,) = why_rows(filled.warehouse, "mart.r", where="c = 'y'")
    assert [(each.path, each.lines) for each in hop.lines] == [(str(file), (3,))]


REASONS = {
    "a function of the program": lambda lake: lake.spark.range(2).select(
        f.udf(lambda id: f"{id}", "string")("id").alias("c"), f.col("id").alias("n")
    ),
    "rows of the program": lambda lake: lake.spark.createDataFrame([("x", 1)], "c string, n bigint"),
    "is another each time": lambda lake: lake.spark.range(2).select(
        f.lit("x").alias("c"), (f.rand() * 10).cast("bigint").alias("n")
    ),
}


@pytest.mark.parametrize("reason", REASONS)
def test_the_reason_why_not(filled, reason):
    found, recipe = made(filled, REASONS[reason](filled))
    assert reason in recipe.reason or "RDD" in recipe.reason
    assert found.comparison is None


def test_statements_of_spark(filled):
    filled.sql("""MERGE INTO mart.o t USING (SELECT c, CAST(sum(n) AS BIGINT) AS n FROM mart.e GROUP BY c) s
                  ON t.c = s.c WHEN MATCHED THEN UPDATE SET a = s.n""")
    filled.sql("UPDATE mart.o SET a = a + 1 WHERE id = 2")
    filled.sql("DELETE FROM mart.o WHERE id = 1")
    filled.sql("INSERT OVERWRITE mart.r SELECT c, count(*) FROM mart.o WHERE c <> 'q' GROUP BY c")
    warehouse = filled.warehouse
    for name in ("mart.o", "mart.e", "mart.r"):
        for snapshot in warehouse.table(name).snapshots():
            for spark in (None, rows_by(filled.spark)):
                (found,) = replay(warehouse, name, snapshot.snapshot_id, spark=spark)
                assert found.identical, found
    hops = why_rows(warehouse, "mart.r", where="c = 'x'")
    assert [f"{hop.dataset}@{hop.snapshot_id}" for hop in hops][:2] == ["mart.r@1", "mart.o@2"]
    assert hops[0].verified


ALIKE = [
    "CREATE TABLE mart.d AS SELECT c, sum(a) AS n, count(*) AS k FROM mart.o WHERE a > 5 GROUP BY ALL",
    "CREATE TABLE mart.d (PRIMARY KEY (id)) AS SELECT id, coalesce(c, 'none') AS c FROM mart.o VERSION AS OF 1",
    "INSERT INTO mart.r WITH x AS (SELECT c, n FROM mart.e) SELECT c, n + 1 FROM x UNION ALL SELECT c, a FROM mart.o",
    "INSERT OVERWRITE mart.r SELECT c, n FROM mart.e ORDER BY n DESC LIMIT 2",
    "UPDATE mart.o SET a = a + 1 WHERE id = 2",
    "DELETE FROM mart.o WHERE c = 'x'",
    "MERGE INTO mart.o t USING (SELECT c, sum(n) AS n FROM mart.e GROUP BY c) s ON t.c = s.c "
    "WHEN MATCHED THEN UPDATE SET a = s.n",
    "MERGE INTO mart.o USING mart.e ON mart.o.c = e.c AND e.n = 1 WHEN MATCHED THEN UPDATE SET a = e.n",
    "MERGE INTO mart.o t USING mart.e s ON t.c = s.c AND s.n = 1 WHEN MATCHED THEN UPDATE SET a = s.n",
]


@pytest.mark.parametrize("statement", ALIKE)
def test_statements_of_duckdb_run_again_by_spark(filled, statement):
    with headwater.connect(filled.warehouse.url) as session:
        session.sql(statement)
        session.sql("INSERT INTO mart.o VALUES (77, 'x', 1); INSERT INTO mart.e VALUES ('x', 1)")  # read by none
    name = "mart.d" if "mart.d" in statement else "mart.r" if "mart.r" in statement else "mart.o"
    moment = "@-1" if name == "mart.o" else None
    (found,) = replay(filled.warehouse, name, moment, spark=rows_by(filled.spark))
    assert found.identical, found


UNLIKE = {
    "SELECT list(c)[1] AS c FROM mart.o": "`ARRAY_AGG(c)[1]`",
    "SELECT CAST(a / 4 AS INT) AS n FROM mart.o": "CAST AS INT",
    "SELECT strftime(DATE '2020-01-01', '%j') AS c FROM mart.o": "STRFTIME",
}


@pytest.mark.parametrize("query", UNLIKE)
def test_what_spark_may_compute_in_another_way_is_named(filled, query):
    with headwater.connect(filled.warehouse.url) as session:
        session.sql(f"CREATE TABLE mart.d AS {query}")
    (found,) = replay(filled.warehouse, "mart.d", spark=rows_by(filled.spark))
    assert found.comparison is None
    assert UNLIKE[query] in found.reasons[0]


def test_rows_that_spark_computes_in_another_way_differ(filled):
    with headwater.connect(filled.warehouse.url) as session:
        session.sql("CREATE TABLE mart.d AS SELECT id, upper(c || 'ß') AS c FROM mart.o")
    (found,) = replay(filled.warehouse, "mart.d", spark=rows_by(filled.spark))
    assert found.comparison.different > 0
    assert "made by DuckDB and run again by Spark" in found.reasons[-1]


def test_recipes_keep_literals_that_events_do_not_and_mask_credentials(filled):
    """The agent's `literals` is off: it is about events, which leave the lake. A recipe stays beside the rows."""
    filled.sql("INSERT INTO mart.r SELECT c, n FROM mart.e WHERE c = 'x'")
    origin = filled.warehouse.table("mart.r").snapshot().origin
    assert "'x'" not in origin.sql
    assert "'x'" in origin.recipe.sql
    filled.sql(
        """INSERT INTO mart.r SELECT "AKIAIOSFODNN7EXAMPLE", n FROM mart.e WHERE c <> 'AKIAIOSFODNN7EXAMPLE'"""
    )
    filled.table("mart.e").select(f.lit("AKIAIOSFODNN7EXAMPLE").alias("c"), "n").writeTo(
        f"{filled.catalog}.mart.r"
    ).append()
    for snapshot in filled.warehouse.table("mart.r").snapshots()[-2:]:
        assert "AKIAIOSFODNN7EXAMPLE" not in str(snapshot.origin)
        assert "credential" in snapshot.origin.recipe.reason


def change(lake):
    """Add a row to both inputs, past Spark: it is not told that they changed."""
    with headwater.connect(lake.warehouse.url) as session:
        session.sql("INSERT INTO mart.o VALUES (9, 'x', 90); INSERT INTO mart.e VALUES ('x', 9)")


def read_states(lake):
    """The states that the newest commit of `mart.r` says that it read."""
    return {(each.dataset, each.snapshot_id) for each in lake.warehouse.table("mart.r").snapshot().origin.inputs}


LATER = {
    "a frame": lambda lake: lake.table("mart.e").filter("n > 0"),
    "a frame that has run": lambda lake: shown(lake.table("mart.e").filter("n > 0")),
    "a frame that is cached": lambda lake: shown(lake.table("mart.e").filter("n > 0").cache()),
    "a frame made of a cached one": lambda lake: shown(lake.table("mart.e").cache()).filter("n > 0"),
    "groups": lambda lake: lake.table("mart.o").groupBy("c").agg(f.sum("a").alias("n")),
}


def shown(frame):
    """A frame whose rows were asked for."""
    frame.collect()
    return frame


@pytest.mark.parametrize("kind", LATER)
@pytest.mark.parametrize("by_spark", [False, True])
def test_a_frame_made_before_its_table_changed(filled, kind, by_spark):
    frame = LATER[kind](filled)
    if by_spark:
        filled.sql("INSERT INTO mart.e VALUES ('x', 9)")
        filled.sql("INSERT INTO mart.o VALUES (9, 'x', 90)")
    else:
        change(filled)
    found, _ = made(filled, frame)
    filled.spark.catalog.clearCache()
    assert found.identical, found


def test_frames_of_one_table_made_at_two_moments(filled):
    before = filled.table("mart.e")
    change(filled)
    joined = before.alias("l").join(filled.table("mart.e").alias("r"), "n").selectExpr("l.c", "n")
    found, _ = made(filled, joined)
    states = read_states(filled)
    if len(states) > 1:  # before 4.2, each frame reads the state of when it was made
        assert "several states" in found.reasons[0]
    else:
        assert found.identical, found
        assert states == {("mart.e", 2)}


def test_a_frame_of_an_older_state(filled):
    change(filled)
    for frame in (filled.table("mart.e", 1), filled.spark.read.option("at", "1").table(f"{filled.catalog}.mart.e")):
        found, _ = made(filled, frame)
        assert read_states(filled) == {("mart.e", 1)}
        assert found.identical, found


def test_what_is_cached_is_read_until_the_table_changes(filled):
    def reads_cache():
        return "InMemoryRelation" in frame.groupBy("c").count()._jdf.queryExecution().optimizedPlan().toString()

    frame = shown(filled.table("mart.e").filter("n > 0").cache())
    assert reads_cache()
    change(filled)
    current = filled.table("mart.e").count() == 4
    assert reads_cache() != current
    filled.spark.catalog.clearCache()


FOUR_PARTS = {
    "a filter": "INSERT INTO {0}.mart.r SELECT {0}.mart.o.c, {0}.mart.o.a FROM {0}.mart.o WHERE {0}.mart.o.a > 10",
    "a join with groups": "INSERT INTO {0}.mart.r SELECT {0}.mart.o.c, sum({0}.mart.e.n) FROM {0}.mart.o "
    "JOIN {0}.mart.e ON {0}.mart.o.c = {0}.mart.e.c GROUP BY {0}.mart.o.c ORDER BY {0}.mart.o.c",
    "all columns of a table": "INSERT INTO {0}.mart.r SELECT {0}.mart.e.* FROM {0}.mart.e",
    "another case": "INSERT INTO {0}.mart.r SELECT {1}.MART.O.C, {0}.mart.o.a FROM {0}.mart.o",
    "quotes": "INSERT INTO `{0}`.`mart`.`r` SELECT `{0}`.`mart`.`o`.`c`, `{0}`.`mart`.`o`.`a` FROM `{0}`.`mart`.`o`",
    "tables without the catalog": "INSERT INTO mart.r SELECT {0}.mart.o.c, {0}.mart.o.a FROM mart.o",
    "tables by their last name": "INSERT INTO r SELECT {0}.mart.o.c, mart.o.a FROM o",
    "a subquery": "INSERT INTO {0}.mart.r SELECT {0}.mart.o.c, {0}.mart.o.a FROM {0}.mart.o WHERE EXISTS "
    "(SELECT 1 FROM {0}.mart.e WHERE {0}.mart.e.c = {0}.mart.o.c)",
    "a new table": "CREATE TABLE {0}.mart.d USING headwater AS SELECT {0}.mart.o.c, {0}.mart.o.a FROM {0}.mart.o",
    "a merge": "MERGE INTO {0}.mart.o USING {0}.mart.e ON {0}.mart.o.c = {0}.mart.e.c AND {0}.mart.e.n = 1 "
    "WHEN MATCHED THEN UPDATE SET {0}.mart.o.a = {0}.mart.o.a + {0}.mart.e.n",
    "an update": "UPDATE {0}.mart.o SET {0}.mart.o.a = {0}.mart.o.a + 1 WHERE {0}.mart.o.c = 'x'",
    "a delete": "DELETE FROM {0}.mart.o WHERE {0}.mart.o.id = 2",
}


@pytest.mark.parametrize("kind", FOUR_PARTS)
def test_columns_named_by_their_catalog(filled, kind):
    statement = FOUR_PARTS[kind].format(filled.catalog, filled.catalog.upper())
    name = "mart.d" if "mart.d" in statement else "mart.r" if statement.startswith("INSERT") else "mart.o"
    before = filled.spark.catalog.currentCatalog(), filled.spark.catalog.currentDatabase()
    if f"{filled.catalog}.mart.r" not in statement:
        filled.spark.sql(f"USE {filled.catalog}.mart")
    try:
        filled.spark.sql(statement)
    finally:
        filled.spark.sql("USE {}.{}".format(*before))
    recipe = filled.warehouse.table(name).snapshot().origin.recipe
    assert f"{filled.catalog}.mart.o." in recipe.sql.replace("`", "") or "mart.e." in recipe.sql
    for spark in (None, rows_by(filled.spark)):
        (found,) = replay(filled.warehouse, name, spark=spark)
        assert found.identical, found
    for hop in why_rows(filled.warehouse, name, where="c = 'x'"):
        assert hop.reason is None, hop
        assert hop.verified is not False, hop


RENAMED = [
    "INSERT INTO mart.r SELECT o.c, mart.o.a FROM mart.o WHERE a > 10",
    "INSERT INTO mart.r SELECT {0}.mart.o.c, e.n FROM {0}.mart.o JOIN mart.e ON o.c = e.c",
    "MERGE INTO mart.r USING mart.o ON r.c = o.c AND o.a < 30 WHEN NOT MATCHED THEN INSERT (c, n) VALUES (o.c, o.a)",
    "UPDATE mart.r SET n = mart.r.n + 1 WHERE r.c IN (SELECT c FROM mart.o)",
]


@pytest.mark.parametrize("statement", RENAMED)
def test_tables_that_have_another_name_since(filled, statement):
    filled.sql("INSERT INTO mart.r VALUES ('q', 1)")
    filled.sql(statement.format(filled.catalog))
    with headwater.connect(filled.warehouse.url) as session:
        session.sql("ALTER TABLE mart.o RENAME TO oo; ALTER TABLE mart.r RENAME TO rr; CREATE TABLE mart.o (x INT)")
    for spark in (None, rows_by(filled.spark)):
        (found,) = replay(filled.warehouse, "mart.rr", spark=spark)
        assert found.identical, found


def test_a_merge_that_only_inserts_has_its_lineage(filled):
    filled.sql("MERGE INTO mart.r USING mart.o ON r.c = o.c WHEN NOT MATCHED THEN INSERT (c, n) VALUES (o.c, o.a)")
    origin = filled.warehouse.table("mart.r").snapshot().origin
    assert {each.dataset for each in origin.inputs} <= {"mart.o", "mart.r"}
    assert {("n", "mart.o", "a"), ("c", "mart.o", "c")} <= {
        (each.column, each.dataset, each.source) for each in origin.columns
    }
    (hop, *_) = why_rows(filled.warehouse, "mart.r", where="n = 20")
    assert [row["id"] for each in hop.inputs for row in each.rows.to_pylist()] == [2]
    assert hop.verified
