"""Lake tables through Spark's catalog: versions of what is read and written, and lineage in the snapshot itself."""

import pytest
from tests.spark.agent.conftest import columns, shown

import headwater
from headwater.spark import connect

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def lake(watch, tmp_path_factory):
    """A warehouse as the catalog `watched`, with a table of two snapshots."""
    warehouse = tmp_path_factory.mktemp("lake")
    connect(watch.spark, str(warehouse), catalog="watched")
    watch.spark.sql("CREATE NAMESPACE IF NOT EXISTS watched.shop")
    watch.spark.sql("CREATE TABLE watched.shop.orders (id INT, amount INT, city STRING)")
    watch.spark.sql("INSERT INTO watched.shop.orders VALUES (1, 10, 'Bonn'), (2, 20, 'Bern')")
    watch.spark.sql("INSERT INTO watched.shop.orders VALUES (3, 30, 'Bonn')")
    return warehouse


def versions(datasets) -> list[str | None]:
    return [each["facets"].get("version", {}).get("datasetVersion") for each in datasets]


def test_versions_of_inputs_and_outputs(watch, lake):
    event = watch.run(
        "CREATE TABLE watched.shop.sums AS SELECT city, sum(amount) AS total FROM watched.shop.orders GROUP BY city"
    )
    (source,), (made,) = event["inputs"], event["outputs"]
    assert (source["namespace"], source["name"]) == (f"headwater:{lake}", "shop.orders")
    assert (made["namespace"], made["name"]) == (f"headwater:{lake}", "shop.sums")
    assert columns(event) == {"city": {"shop.orders.city"}, "total": {"shop.orders.amount"}}
    snapshots = headwater.Warehouse(str(lake)).table("shop.orders").snapshots()
    assert versions(event["inputs"]) == [str(max(each.snapshot_id for each in snapshots))]
    assert versions(event["outputs"])[0] is not None


def test_time_travel_is_an_older_version(watch, lake):
    oldest = min(each.snapshot_id for each in headwater.Warehouse(str(lake)).table("shop.orders").snapshots())
    event = watch.run(
        lambda: (
            watch.spark.sql(f"SELECT * FROM watched.shop.orders VERSION AS OF {oldest}")
            .write.mode("overwrite")
            .saveAsTable("old")
        )
    )
    assert versions(event["inputs"]) == [str(oldest)]
    watch.spark.sql("DROP TABLE old")


def test_the_snapshot_itself_knows_its_origin(watch, lake):
    watch.spark.sql("CREATE TABLE watched.shop.copy (id INT, twice INT)")
    event = watch.run(
        "INSERT INTO watched.shop.copy SELECT id, amount * 2 FROM watched.shop.orders WHERE city = 'Bonn'"
    )
    snapshot = headwater.Warehouse(str(lake)).table("shop.copy").snapshots()[-1]
    assert snapshot.origin is not None
    assert snapshot.origin.run_id == event["run"]["runId"]
    edges = {(each.column, each.source, each.kind) for each in snapshot.origin.columns}
    assert edges == {("id", "id", "IDENTITY"), ("twice", "amount", "TRANSFORMATION"), ("*", "city", "FILTER")}
    (source,) = snapshot.origin.inputs
    assert str(source.snapshot_id) == versions(event["inputs"])[0]
    assert versions(event["outputs"]) == [str(snapshot.snapshot_id)]


def test_changes_of_rows(watch, lake):
    watch.spark.sql(
        "CREATE TABLE watched.shop.goods (id INT NOT NULL, n INT, k STRING) TBLPROPERTIES ('primary-key' = 'id')"
    )
    watch.spark.sql("INSERT INTO watched.shop.goods SELECT id, amount, city FROM watched.shop.orders")
    event = watch.run(
        "MERGE INTO watched.shop.goods g USING u ON g.id = u.x "
        "WHEN MATCHED THEN UPDATE SET n = u.y WHEN NOT MATCHED THEN INSERT (id, n, k) VALUES (u.x, u.y, u.z)"
    )
    assert shown(event) == "u -> shop.goods"
    found = columns(event)
    assert (found["n"] - {"shop.goods.n"}, found["k"] - {"shop.goods.k"}) == ({"u.y"}, {"u.z"})


def written(event) -> dict[str, set[str | None]]:
    """What each column of the output is made of, in the words of the statement, and where they stand."""
    fields = event["outputs"][0]["facets"]["columnLineage"]["fields"]
    return {
        name: {each.get("description") for given in field["inputFields"] for each in given["transformations"]}
        for name, field in fields.items()
    }


def test_expressions_as_they_were_written_and_their_places(watch, lake):
    watch.spark.sql(
        "CREATE TABLE watched.shop.sums2 (id INT NOT NULL, n DOUBLE) TBLPROPERTIES ('primary-key' = 'id')"
    )
    event = watch.run("INSERT INTO watched.shop.sums2 SELECT id, amount * id FROM watched.shop.orders")
    assert written(event) == {"id": {"id -- at sql:1:39"}, "n": {"amount * id -- at sql:1:43"}}
    event = watch.run(
        "MERGE INTO watched.shop.sums2 s USING u ON s.id = u.x WHEN MATCHED THEN UPDATE SET n = u.y * u.x "
        "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (u.x, u.y)"
    )
    assert event["job"]["name"].endswith("merge_into_table.shop_sums2")
    assert written(event)["n"] == {"u.y * u.x -- at sql:1:88"}
    event = watch.run("""
        MERGE INTO watched.shop.sums2 s USING (SELECT x AS id, y * x AS n FROM u) v ON s.id = v.id
        WHEN MATCHED THEN UPDATE SET *
        WHEN NOT MATCHED THEN INSERT *""")
    assert written(event) == {"id": {"x -- at sql:2:55"}, "n": {"y * x -- at sql:2:64"}}
    [lineage] = [each["facets"]["columnLineage"] for each in event["outputs"]]
    conditions = {way.get("description") for each in lineage["dataset"] for way in each["transformations"]}
    assert not any("MERGE" in (text or "") for text in conditions)
    event = watch.run("UPDATE watched.shop.sums2 SET n = n * id WHERE id > 3")
    assert written(event)["n"] == {"n * id -- at sql:1:35"}


# statement → the command that Spark makes of it, and what its run reads and writes
COMMANDS = {
    "CREATE TABLE watched.shop.k (id INT NOT NULL, n INT) TBLPROPERTIES ('primary-key' = 'id')": (
        "create_table",
        "-> shop.k CREATE",
    ),
    "INSERT INTO watched.shop.k SELECT id, amount FROM watched.shop.orders": ("append_data", "shop.orders -> shop.k"),
    "ALTER TABLE watched.shop.k ADD COLUMNS (note STRING)": ("add_columns", "-> shop.k ALTER"),
    "ALTER TABLE watched.shop.k RENAME COLUMN note TO remark": ("rename_column", "-> shop.k ALTER"),
    "ALTER TABLE watched.shop.k ALTER COLUMN n TYPE BIGINT": ("alter_columns", "-> shop.k ALTER"),
    "ALTER TABLE watched.shop.k DROP COLUMN remark": ("drop_columns", "-> shop.k ALTER"),
    "ALTER TABLE watched.shop.k SET TBLPROPERTIES ('comment' = 'x')": ("set_table_properties", "-> shop.k ALTER"),
    "ALTER TABLE watched.shop.k UNSET TBLPROPERTIES ('comment')": ("unset_table_properties", "-> shop.k ALTER"),
    "DELETE FROM watched.shop.k WHERE id = 1": ("delete_from_table", "-> shop.k"),
    "UPDATE watched.shop.k SET n = n + 1 WHERE id = 2": ("update_table", "-> shop.k"),
    "CREATE OR REPLACE TABLE watched.shop.r AS SELECT id FROM watched.shop.k": (
        "replace_table_as_select",
        "shop.k -> shop.r OVERWRITE",
    ),
    "INSERT OVERWRITE watched.shop.r SELECT id FROM watched.shop.orders": (
        "overwrite_by_expression",
        "shop.orders -> shop.r OVERWRITE",
    ),
    "TRUNCATE TABLE watched.shop.r": ("truncate_table", "-> shop.r TRUNCATE"),
    "REPLACE TABLE watched.shop.r (id INT)": ("replace_table", "-> shop.r OVERWRITE"),
    "ALTER TABLE watched.shop.r RENAME TO shop.s": ("rename_table", "shop.r -> shop.s RENAME"),
    "DROP TABLE watched.shop.s": ("drop_table", "-> shop.s DROP"),
    "CACHE TABLE watched.shop.k": ("read_cache_table", "shop.k ->"),
}


def test_commands_of_a_second_catalog(watch, lake):
    """In one test, because they follow one another."""
    found = {}
    for statement in COMMANDS:
        event = watch.run(statement)
        found[statement] = (event["job"]["name"].split(".")[1], shown(event))
    watch.spark.sql("UNCACHE TABLE watched.shop.k")
    assert found == COMMANDS
    assert watch.said() == []


def test_partitions_are_overwritten(watch, lake):
    watch.spark.sql("CREATE TABLE watched.shop.days (id INT, day STRING) PARTITIONED BY (day)")
    frame = watch.spark.sql("SELECT id, city AS day FROM watched.shop.orders")
    event = watch.run(lambda: frame.writeTo("watched.shop.days").overwritePartitions())
    assert event["job"]["name"].split(".")[1] == "overwrite_partitions_dynamic"
    assert shown(event) == "shop.orders -> shop.days OVERWRITE"
    assert columns(event) == {"id": {"shop.orders.id"}, "day": {"shop.orders.city"}}
