"""JDBC, on the Derby that comes with Spark: as a source, as a query, and as a catalog."""

import pytest
from tests.spark.agent.conftest import columns, shown
from tests.spark.conftest import RELEASE
from tests.spark.test_sql_cases import lines

from headwater.spark import explain_lineage, lineage
from headwater.spark.agent import plan_reader as reading
from headwater.spark.agent.datasets import JdbcQuery
from headwater.spark.agent.jdbc import tables_of_query

pytestmark = pytest.mark.spark

URL = "jdbc:derby:memory:shop;create=true"
DRIVER = f"org.apache.derby.{'iapi.' if RELEASE >= (4, 0) else ''}jdbc.AutoloadedDriver"


@pytest.fixture(scope="module")
def shop(watch):
    """A Derby database in memory, also as the catalog `shop`."""
    conf = watch.spark.conf
    conf.set("spark.sql.catalog.shop", "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
    conf.set("spark.sql.catalog.shop.url", URL)
    conf.set("spark.sql.catalog.shop.driver", DRIVER)
    frame = watch.spark.createDataFrame([(1, "x", 5), (2, "y", 7)], "id int, name string, n int")
    frame.write.jdbc(URL, "items", properties={"driver": DRIVER})
    watch.spark.sql("CREATE TABLE shop.goods (id INT, name STRING, n INT)")
    return watch


def read(shop, **options):
    reader = shop.spark.read.format("jdbc").option("url", URL).option("driver", DRIVER)
    return reader.options(**options).load()


def test_a_table_is_named_by_its_server(shop):
    event = shop.run(lambda: read(shop, dbtable="items").write.mode("overwrite").saveAsTable("copied"))
    (source,) = event["inputs"]
    assert (source["namespace"], source["name"]) == ("derby", "memory:shop.items")
    assert columns(event) == {name: {f"memory:shop.items.{name}"} for name in ("id", "name", "n")}
    assert source["inputFacets"]["inputStatistics"]["rowCount"] == 2
    shop.spark.sql("DROP TABLE copied")


def test_saving_is_one_run(shop):
    frame = shop.spark.table("t").select("a", "c")
    event = shop.run(lambda: frame.write.jdbc(URL, "saved", properties={"driver": DRIVER, "password": "hush"}))
    assert shown(event) == "t -> memory:shop.saved CREATE"
    assert columns(event) == {"a": {"t.a"}, "c": {"t.c"}}
    assert "hush" not in str(event)


def test_a_query_is_read_by_our_own_lineage(shop):
    query = """SELECT i."id", SUM(i."n" * 2) AS "total" FROM items i WHERE i."name" IS NOT NULL GROUP BY i."id" """
    df = read(shop, query=query)
    result = lineage(df.selectExpr("id", "total + 1 AS t1"))
    table = "derby.memory:shop.items"
    assert lines(result) == [
        f"--> * | {table}.id GROUP_BY, {table}.name FILTER",
        f"--> id <- {table}.id IDENTITY",
        f"--> t1 <- {table}.n AGGREGATION",
    ]


def test_a_subquery_as_table(shop):
    df = read(shop, dbtable='(SELECT "id", "name" FROM items) AS part')
    assert [str(each.source) for each in lineage(df).edges] == [
        "derby.memory:shop.items.id",
        "derby.memory:shop.items.name",
    ]


STARS = {
    "select * from items": {"id": "items.id", "name": "items.name", "n": "items.n"},
    "select * from (select * from items) x": {"id": "items.id", "name": "items.name", "n": "items.n"},
    'select o.*, i."name" from orders o join items i on o."item" = i."id"': {
        "item": "orders.item",
        "price": "orders.price",
        "name": "items.name",
    },
    'select "item", (select max("id") from items) as "most" from orders': {"item": "orders.item", "most": "items.id"},
}


@pytest.fixture(scope="module")
def orders(shop):
    frame = shop.spark.createDataFrame([(1, 5)], "item int, price int")
    frame.write.jdbc(URL, "orders", properties={"driver": DRIVER})


@pytest.mark.parametrize("query", STARS)
def test_a_star_brings_the_columns_that_spark_knows(shop, orders, tmp_path, query):
    event = shop.run(lambda: read(shop, query=query).write.parquet(f"{tmp_path}/out"))
    assert columns(event) == {name: {f"memory:shop.{source}"} for name, source in STARS[query].items()}
    assert "extractionError" not in event["run"]["facets"]


def test_what_two_stars_bring_cannot_be_told(shop, orders, tmp_path):
    query = 'select o.*, i.* from orders o join items i on o."item" = i."id"'
    event = shop.run(lambda: read(shop, query=query).write.parquet(f"{tmp_path}/out"))
    assert {each["name"] for each in event["inputs"]} == {"memory:shop.items", "memory:shop.orders"}
    assert columns(event) == {"item": {"memory:shop.orders.item"}, "id": {"memory:shop.items.id"}}
    doubts = [each["errorMessage"] for each in event["run"]["facets"]["extractionError"]["errors"]]
    assert any("cannot be told" in doubt and "`price`" in doubt for doubt in doubts)


def test_rows_of_a_query_are_those_of_no_table(shop, orders, tmp_path):
    both = read(shop, dbtable="items").crossJoin(read(shop, query='select "price" from orders'))
    event = shop.run(lambda: both.write.parquet(f"{tmp_path}/out"))
    rows = {each["name"]: each.get("inputFacets", {}).get("inputStatistics", {}) for each in event["inputs"]}
    assert rows["memory:shop.items"]["rowCount"] == 2
    assert rows["memory:shop.orders"] == {}


PREPARED = {
    'WITH w AS (SELECT "id" AS k, "n" FROM items WHERE "name" <> \'z\')': ("SELECT * FROM w", ["id", "n"]),
    "(SELECT x AS k, n INTO #some FROM items)": ("SELECT * FROM #some", ["x", "n"]),
}


@pytest.mark.parametrize("prepared", PREPARED)
def test_what_is_prepared_for_a_query_is_no_table(prepared):
    """Derby takes no `prepareQuery`, so the text is read without a database."""
    text, sources = PREPARED[prepared]
    behind = tables_of_query(JdbcQuery(text, "mssql", "jdbc:sqlserver://db:1433;databaseName=shop", prepared))
    assert [each.name.name for each in behind.tables.values()] == ["shop.items"]
    assert [edge.source.column for edge in behind.edges if edge.target.column is not None] == sources


def test_a_query_that_cannot_be_read_is_no_table(shop, monkeypatch, tmp_path):
    monkeypatch.setattr(reading, "tables_of_query", lambda query: None)
    event = shop.run(lambda: read(shop, query='select "id" from items').write.parquet(f"{tmp_path}/out"))
    assert shown(event) == "-> out"
    (doubt,) = event["run"]["facets"]["extractionError"]["errors"]
    assert "could not be understood" in doubt["errorMessage"]


def test_credentials_never_leave(shop):
    with_password = "jdbc:derby:memory:shop;user=APP;password=hush"
    reader = shop.spark.read.format("jdbc").option("url", with_password).option("driver", DRIVER)
    event = shop.run(lambda: reader.option("dbtable", "items").load().write.mode("overwrite").saveAsTable("copied"))
    assert "hush" not in str(event)
    shop.spark.sql("DROP TABLE copied")


def test_a_jdbc_table_of_the_session_catalog(shop):
    shop.spark.sql(f"CREATE TABLE linked USING jdbc OPTIONS (url '{URL}', dbtable 'saved', driver '{DRIVER}')")
    event = shop.run("INSERT INTO linked SELECT x, z FROM u")
    assert shown(event) == "u -> memory:shop.saved"
    assert columns(event) == {"a": {"u.x"}, "c": {"u.z"}}
    assert event["outputs"][0]["facets"]["symlinks"]["identifiers"][0]["name"] == "cases.linked"
    event = shop.run("INSERT INTO linked SELECT 7, 'x'")
    assert event["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 1
    event = shop.run("INSERT INTO linked SELECT a + 1, c FROM linked WHERE a > 0")
    assert shown(event) == "memory:shop.saved -> memory:shop.saved"
    assert columns(event) == {"a": {"memory:shop.saved.a"}, "c": {"memory:shop.saved.c"}}
    assert "extractionError" not in event["run"]["facets"]
    shop.spark.sql("DROP TABLE linked")


def test_a_query_of_the_session_catalog(shop, tmp_path):
    query = "select * from items"
    shop.spark.sql(f"CREATE TABLE asked USING jdbc OPTIONS (url '{URL}', query '{query}', driver '{DRIVER}')")
    event = shop.run(lambda: shop.spark.table("asked").write.parquet(f"{tmp_path}/out"))
    assert shown(event) == "memory:shop.items -> out"
    assert columns(event)["n"] == {"memory:shop.items.n"}
    shop.spark.sql("DROP TABLE asked")


CATALOG = {
    "CREATE TABLE shop.made (a INT, b VARCHAR(20))": "-> memory:shop.made CREATE",
    "INSERT INTO shop.made SELECT a, c FROM t": "t -> memory:shop.made",
    "CREATE TABLE shop.more AS SELECT a + 1 AS n, b FROM shop.made": "memory:shop.made -> memory:shop.more CREATE",
    "ALTER TABLE shop.made ADD COLUMNS (d INT)": "-> memory:shop.made ALTER",
    "DROP TABLE shop.more": "-> memory:shop.more DROP",
}


def test_a_catalog_of_the_second_generation(shop):
    found = {statement: shown(shop.run(statement)) for statement in CATALOG}
    assert found == CATALOG


MERGE = """
MERGE INTO shop.goods i USING u ON i.id = u.x
WHEN MATCHED AND u.y > 3 THEN UPDATE SET name = upper(u.z), n = i.n + u.y
WHEN NOT MATCHED THEN INSERT (id, name, n) VALUES (u.x, u.z, 0)
"""

CHANGES = {
    MERGE: [
        "--> shop.goods.* | shop.goods.id MERGE, u.x MERGE, u.y MERGE",
        "--> shop.goods.id <- u.x IDENTITY",
        "--> shop.goods.n <- shop.goods.n TRANSFORMATION, u.y TRANSFORMATION",
        "--> shop.goods.name <- u.z IDENTITY, u.z TRANSFORMATION",
    ],
    "MERGE INTO shop.goods i USING (SELECT x AS id, z AS name, y AS n FROM u) s ON i.id = s.id "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *": [
        "--> shop.goods.* | shop.goods.id MERGE, u.x MERGE",
        "--> shop.goods.id <- u.x IDENTITY",
        "--> shop.goods.n <- u.y IDENTITY",
        "--> shop.goods.name <- u.z IDENTITY",
    ],
    "UPDATE shop.goods SET n = n + 1, name = 'x' WHERE id > 3": [
        "--> shop.goods.* | shop.goods.id FILTER",
        "--> shop.goods.n <- shop.goods.n TRANSFORMATION",
        "--> shop.goods.name",
    ],
    "DELETE FROM shop.goods WHERE id IN (SELECT x FROM u)": ["--> shop.goods.* | shop.goods.id FILTER, u.x FILTER"],
}


@pytest.mark.parametrize("statement", CHANGES, ids=["merge", "merge star", "update", "delete"])
def test_changes_of_rows(shop, statement):
    """Derby's catalog cannot run them, but what they would do is known."""
    assert lines(explain_lineage(shop.spark, statement)) == CHANGES[statement]
