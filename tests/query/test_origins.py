"""Every snapshot knows where it came from: columns, and the states that were read."""

import pytest


def origin(session, table):
    return session.table(table).snapshot().origin


def columns(session, table):
    found = origin(session, table).columns
    return {(each.column, f"{each.dataset}.{each.source}", each.kind) for each in found}


def inputs(session, table):
    return {(each.dataset, each.snapshot_id, each.columns) for each in origin(session, table).inputs}


def test_a_chain_of_three_tables(shop):
    shop.sql("CREATE DATABASE mart")
    shop.sql("CREATE TABLE mart.daily AS SELECT day, sum(amount) AS total FROM orders WHERE id < 9 GROUP BY day")
    shop.sql("INSERT INTO orders VALUES (4, 'dan', 1, NULL)")
    shop.sql("USE mart; CREATE TABLE best (day DATE PRIMARY KEY, total DOUBLE)")
    shop.sql("INSERT INTO best SELECT day, max(total) OVER () FROM daily d WHERE day IS NOT NULL")
    assert columns(shop, "daily") == {
        ("day", "default.orders.day", "IDENTITY"),
        ("total", "default.orders.amount", "AGGREGATION"),
        ("*", "default.orders.id", "FILTER"),
        ("*", "default.orders.day", "GROUP_BY"),
    }
    assert inputs(shop, "daily") == {("default.orders", 1, ("day", "amount", "id"))}
    assert ("total", "mart.daily.total", "AGGREGATION") in columns(shop, "best")
    assert ("day", "mart.daily.day", "IDENTITY") in columns(shop, "best")
    assert inputs(shop, "best") == {("mart.daily", 1, ("day", "total"))}
    assert origin(shop, "best").sql.startswith("INSERT INTO best SELECT")
    assert origin(shop, "best").job == "sql"
    assert origin(shop, "best").run_id


def test_what_was_read_is_what_is_written_down(shop):
    """A query of the past names the snapshot of the past, and two states of one table are two inputs."""
    shop.sql("DELETE FROM orders WHERE id = 1; CREATE TABLE was AS SELECT id FROM orders VERSION AS OF 1")
    assert shop.sql("SELECT count(*) FROM was").scalar() == 3
    assert inputs(shop, "was") == {("default.orders", 1, ("id",))}
    shop.sql("CREATE TABLE gone AS SELECT a.id FROM orders VERSION AS OF 1 a ANTI JOIN orders b USING (id)")
    assert shop.sql("SELECT id FROM gone").fetchall() == [(1,)]
    assert {(name, id) for name, id, _ in inputs(shop, "gone")} == {("default.orders", 1), ("default.orders", 2)}


def test_insert_values_comes_from_nowhere(shop):
    assert origin(shop, "orders").inputs == ()
    assert origin(shop, "orders").columns == ()
    assert origin(shop, "orders").sql.startswith("INSERT INTO orders VALUES")


def test_update_and_merge(shop):
    shop.sql("CREATE TABLE rates (customer STRING, rate DOUBLE); INSERT INTO rates VALUES ('ann', 2)")
    shop.sql("UPDATE orders SET amount = orders.amount * r.rate FROM rates r WHERE r.customer = orders.customer")
    assert ("amount", "default.orders.amount", "TRANSFORMATION") in columns(shop, "orders")
    assert ("amount", "default.rates.rate", "TRANSFORMATION") in columns(shop, "orders")
    assert {(name, id) for name, id, _ in inputs(shop, "orders")} == {("default.orders", 1), ("default.rates", 1)}
    shop.sql("""
        MERGE INTO orders o USING (SELECT 1 AS id, rate FROM rates) s ON o.id = s.id
        WHEN MATCHED THEN UPDATE SET amount = s.rate WHEN NOT MATCHED THEN INSERT (id, amount) VALUES (s.id, s.rate)
    """)
    assert ("amount", "default.rates.rate", "IDENTITY") in columns(shop, "orders")
    assert {(name, id) for name, id, _ in inputs(shop, "orders")} == {("default.orders", 2), ("default.rates", 1)}


def test_the_lineage_table(shop):
    shop.sql("CREATE TABLE totals AS SELECT customer, sum(amount) AS total FROM orders GROUP BY customer")
    found = shop.sql("""
        SELECT target_column, source_dataset, source_snapshot_id, source_column, kind, expression FROM totals$lineage
        WHERE kind = 'AGGREGATION'
    """)
    assert found.fetchall() == [("total", "default.orders", 1, "amount", "AGGREGATION", "sum(amount)")]


@pytest.mark.parametrize(
    "name", ["snapshots", "schemas", "manifests", "files", "tags", "options", "audit_log", "lineage"]
)
def test_system_tables(shop, name):
    shop.sql("ALTER TABLE orders SET ('user.x' = 'y'); UPDATE orders SET amount = 1 WHERE id = 3")
    shop.sql("DELETE FROM orders WHERE id = 1")
    shop.table("orders").create_tag("first", 1)
    rows = shop.sql(f"SELECT * FROM orders${name}")
    assert rows.rows >= 1
    assert shop.sql(f'SELECT count(*) AS n FROM "default".orders${name} s').scalar() == rows.rows


def test_snapshots_and_audit_log(shop):
    shop.sql("UPDATE orders SET amount = 1 WHERE id = 3; DELETE FROM orders WHERE id = 1")
    made = shop.sql("SELECT snapshot_id, operation, inputs FROM orders$snapshots ORDER BY 1").fetchall()
    assert made == [(1, "INSERT", []), (2, "UPDATE", ["default.orders@1"]), (3, "DELETE", ["default.orders@2"])]
    log = shop.sql("SELECT _snapshot, _kind, id FROM orders$audit_log WHERE _snapshot > 1").fetchall()
    assert log == [(2, "-U", 3), (2, "+U", 3), (3, "-D", 1)]
    assert shop.sql("SELECT max(snapshot_id) FROM orders$snapshots VERSION AS OF 2").scalar() == 2
    assert shop.sql("SELECT sum(record_count) FROM orders$files VERSION AS OF 1").scalar() == 3
