import datetime
from decimal import Decimal

import pytest

from headwater.errors import SqlError
from headwater.lake.metadata.snapshot import Operation


def rows(session, query):
    return session.sql(query).fetchall()


def test_insert_values_fills_defaults_and_converts(shop):
    assert rows(shop, "SELECT * FROM orders ORDER BY id") == [
        (1, "ann", Decimal("10.50"), datetime.date(2026, 1, 1)),
        (2, "nobody", Decimal("20.00"), datetime.date(2026, 1, 2)),
        (3, "bob", None, None),
    ]


def test_insert_with_columns_by_position_and_by_name(shop):
    shop.sql("INSERT INTO orders (amount, id) SELECT 5, 10")
    shop.sql("INSERT INTO orders BY NAME SELECT 'eve' AS customer, 11 AS id")
    assert rows(shop, "SELECT id, customer, amount FROM orders WHERE id >= 10 ORDER BY id") == [
        (10, "nobody", Decimal("5.00")),
        (11, "eve", None),
    ]


def test_insert_upserts_by_key_and_appends_without(shop):
    shop.sql("INSERT INTO orders VALUES (1, 'zoe', 1, NULL); INSERT INTO events SELECT * FROM events")
    assert rows(shop, "SELECT customer FROM orders WHERE id = 1") == [("zoe",)]
    assert shop.sql("SELECT count(*) FROM events").scalar() == 4


def test_insert_with_a_with_clause_on_either_side(shop):
    shop.sql(
        "WITH big AS (SELECT id + 100 AS id FROM orders WHERE id > 1) INSERT INTO orders (id) SELECT id FROM big"
    )
    shop.sql("INSERT INTO orders (id) WITH big AS (SELECT id + 200 AS id FROM orders WHERE id = 1) SELECT * FROM big")
    assert rows(shop, "SELECT id FROM orders WHERE id > 100 ORDER BY id") == [(102,), (103,), (201,)]


def test_insert_overwrite_replaces_the_table_or_the_partitions_it_writes(shop):
    shop.sql("INSERT OVERWRITE events SELECT TIMESTAMP '2026-02-02', 'only', 1")
    assert shop.sql("SELECT count(*) FROM events").scalar() == 1
    shop.sql("""
        CREATE TABLE p (day STRING NOT NULL, n INT) PARTITIONED BY (day);
        INSERT INTO p VALUES ('mon', 1), ('tue', 2);
        INSERT OVERWRITE p VALUES ('tue', 20);
        INSERT OVERWRITE p PARTITION (day = 'mon') SELECT 'mon', 10
    """)
    assert rows(shop, "SELECT * FROM p ORDER BY n") == [("mon", 10), ("tue", 20)]


@pytest.mark.parametrize("keyed", [True, False])
def test_update(session, keyed):
    key = "PRIMARY KEY" if keyed else ""
    session.sql(f"CREATE TABLE t (id INT {key}, v INT, s STRING DEFAULT 'd')")
    session.sql("INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, NULL, 'c')")
    result = session.sql("UPDATE t AS x SET v = x.v * 10, s = DEFAULT WHERE x.id >= 2 AND v IS NOT NULL")
    assert (result.rows, session.table("t").snapshot().operation) == (1, Operation.UPDATE)
    assert rows(session, "SELECT * FROM t ORDER BY id") == [(1, 1, "a"), (2, 20, "d"), (3, None, "c")]
    session.sql("UPDATE t SET id = id + 1")
    assert rows(session, "SELECT id FROM t ORDER BY id") == [(2,), (3,), (4,)]
    before = session.table("t").snapshot().snapshot_id
    assert session.sql("UPDATE t SET v = 0 WHERE id = 99").rows == 0
    assert session.table("t").snapshot().snapshot_id == before


@pytest.mark.parametrize("keyed", [True, False])
def test_update_from_and_delete_using_subqueries(session, keyed):
    key = "PRIMARY KEY" if keyed else ""
    session.sql(f"CREATE TABLE t (id INT {key}, v INT); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
    session.sql("CREATE TABLE u (id INT, w INT); INSERT INTO u VALUES (1, 100), (3, 300)")
    session.sql("UPDATE t SET v = u.w + t.v FROM u WHERE u.id = t.id")
    assert rows(session, "SELECT v FROM t ORDER BY id") == [(101,), (2,), (303,)]
    assert session.sql("DELETE FROM t WHERE id IN (SELECT id FROM u WHERE w > 200)").rows == 1
    assert rows(session, "SELECT id FROM t ORDER BY id") == [(1,), (2,)]
    session.sql("INSERT INTO u VALUES (1, 5)")
    with pytest.raises(SqlError, match="more than one row"):
        session.sql("UPDATE t SET v = u.w FROM u WHERE u.id = t.id")


@pytest.mark.parametrize("keyed", [True, False])
def test_merge(session, keyed):
    key = "PRIMARY KEY" if keyed else ""
    session.sql(f"CREATE TABLE t (id INT {key}, v INT, s STRING DEFAULT 'd')")
    session.sql("INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c'), (4, 4, 'e')")
    session.sql("CREATE TABLE u (id INT, v INT, gone BOOLEAN)")
    session.sql("INSERT INTO u VALUES (1, 10, false), (2, 0, true), (9, 90, false), (8, 80, true)")
    result = session.sql("""
        MERGE INTO t USING u AS s ON t.id = s.id
        WHEN MATCHED AND s.gone THEN DELETE
        WHEN MATCHED THEN UPDATE SET v = s.v + t.v
        WHEN NOT MATCHED AND NOT s.gone THEN INSERT (id, v) VALUES (s.id, s.v)
        WHEN NOT MATCHED BY SOURCE AND t.id = 4 THEN DELETE
    """)
    assert rows(session, "SELECT * FROM t ORDER BY id") == [(1, 11, "a"), (3, 3, "c"), (9, 90, "d")]
    assert "1 inserted, 1 updated, 2 deleted" in result.message
    assert session.table("t").snapshot().operation is Operation.MERGE


def test_merge_with_stars_and_a_query(shop):
    shop.sql("""
        MERGE INTO orders USING (SELECT id + 2 AS id, 'new' AS customer FROM orders) s ON orders.id = s.id
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
    """)
    assert rows(shop, "SELECT id, customer FROM orders ORDER BY id") == [
        *((1, "ann"), (2, "nobody"), (3, "new"), (4, "new"), (5, "new")),
    ]


def test_merge_refuses_two_rows_for_one(shop):
    before = rows(shop, "SELECT * FROM orders ORDER BY id")
    with pytest.raises(SqlError, match="several rows") as err:
        shop.sql(
            "MERGE INTO orders o USING (SELECT 1 AS id UNION ALL SELECT 1) s ON o.id = s.id WHEN MATCHED THEN DELETE"
        )
    assert err.value.span.line == 1
    assert rows(shop, "SELECT * FROM orders ORDER BY id") == before


def test_a_whole_table_by_its_name(shop):
    shop.sql(
        "CREATE TABLE copy AS TABLE orders; INSERT INTO copy TABLE orders; INSERT OVERWRITE TABLE copy TABLE orders"
    )
    assert rows(shop, "TABLE copy") == rows(shop, "TABLE orders")
    shop.sql("INSERT INTO copy (customer, id) SELECT customer, id FROM orders")
    assert shop.sql("SELECT count(*) FROM copy").scalar() == 6


def test_truncate_leaves_the_past(shop):
    shop.sql("TRUNCATE TABLE orders")
    assert shop.sql("SELECT count(*) FROM orders").scalar() == 0
    assert shop.sql("SELECT count(*) FROM orders VERSION AS OF 1").scalar() == 3


def test_rows_of_a_rewrite_do_not_take_rows_that_came_in_between_with_them(shop):
    """A table without a key is rewritten by the file; what another writer appended meanwhile stays."""
    other = shop.warehouse.table("events")
    shop.sql("UPDATE events SET size = 1")
    other.write([{"happened": datetime.datetime(2027, 1, 1), "kind": "late", "size": 9}])
    shop.sql("DELETE FROM events WHERE kind = 'open'")
    assert sorted(rows(shop, "SELECT kind, size FROM events")) == [("close", 1), ("late", 9)]


def test_several_statements_give_the_last_result(shop):
    assert shop.sql("SELECT 1 AS a; SELECT 2 AS b").dicts() == [{"b": 2}]
    assert [result.rows for result in shop.stream("SELECT 1; INSERT INTO events (kind) VALUES ('a'), ('b')")] == [
        1,
        2,
    ]


def test_parameters(shop):
    assert shop.sql("SELECT customer FROM orders WHERE id = ?", [1]).scalar() == "ann"
    assert shop.sql("SELECT customer FROM orders WHERE id = $key", {"key": 3}).scalar() == "bob"
    shop.sql("INSERT INTO orders (id, customer) VALUES (?, ?)", [7, "kim"])
    shop.sql("INSERT INTO orders (id) SELECT id + ? FROM orders WHERE id = 7", [1])
    shop.sql("UPDATE orders SET customer = ? WHERE id = ?", ["lee", 8])
    assert rows(shop, "SELECT id, customer FROM orders WHERE id > 6 ORDER BY id") == [(7, "kim"), (8, "lee")]
