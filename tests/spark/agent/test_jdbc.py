"""JDBC, on the Derby that comes with Spark: as a source, as a query, and as a catalog."""

import pytest
from tests.spark.agent.conftest import columns, shown
from tests.spark.test_sql_cases import lines

from headwater.spark import explain_lineage, lineage

pytestmark = pytest.mark.spark

URL = "jdbc:derby:memory:shop;create=true"
DRIVER = "org.apache.derby.iapi.jdbc.AutoloadedDriver"


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
    shop.spark.sql("DROP TABLE linked")


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
