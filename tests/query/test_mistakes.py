"""Every error has a place in the text, and a statement that fails has changed nothing."""

import pytest

from headwater.errors import HeadwaterError, NotFoundError, SqlError

MISTAKES = [
    ("SELECT amonut FROM orders", "1:8", "amonut", "amount"),
    ("SELECT *\nFROM oders", "2:6", "default.oders", "default.orders"),
    ("SELECT * FROM nowhere.orders", "1:15", "nowhere", None),
    ("SELECT o.idd FROM orders o", "1:8", "idd", "id"),
    ("SELECT summ(amount) FROM orders", "1:8", "summ", "sum"),
    ("SELECT * FROM orders WHERE", "1:", "", None),
    ("SELEC 1", "1:1", "SELEC", "SELECT"),
    ("SELECT 'open FROM orders", "1:1", "", None),
    ("SELECT CAST(customer AS INT) FROM orders", "1:8", "ann", None),
    ("SELECT * FROM orders$snapshot", "1:15", "orders$snapshot", "orders$snapshots"),
    ("INSERT INTO orders VALUES (1, 'x')", "1:28", "2 values for 4 columns", None),
    ("INSERT INTO orders SELECT 1, 2", "1:20", "2 values for 4 columns", None),
    ("INSERT INTO orders (id, idd) VALUES (1, 2)", "1:25", "idd", "id"),
    ("INSERT INTO orders (id, ID) VALUES (1, 2)", "1:25", "twice", None),
    ("INSERT INTO orders (customer) VALUES ('x')", "1:21", "`id`", None),
    ("INSERT INTO orders (id) VALUES (9),\n (NULL)", "2:3", "`id`", None),
    ("INSERT INTO orders (id, day) VALUES (9, '2026-01-01'),\n (8, 'monday')", "2:6", "'monday'", None),
    ("INSERT INTO orders (id) VALUES (99999999999999999999)", "1:33", "99999999999999999999", None),
    ("INSERT INTO orders (id) SELECT NULL", "1:13", "`id`", None),
    ("INSERT INTO oders VALUES (1)", "1:13", "default.oders", "default.orders"),
    ("INSERT INTO orders$files VALUES (1)", "1:13", "read only", None),
    ("INSERT INTO orders VERSION AS OF 1 VALUES (1)", "1:20", "past", None),
    ("DELETE FROM orders VERSION AS OF 1 WHERE id = 1", "1:20", "past", None),
    ("CREATE OR REPLACE TABLE orders (PRIMARY KEY (day)) AS SELECT day FROM orders", "1:1", "`day`", None),
    ("UPDATE orders SET amonut = 1", "1:19", "amonut", "amount"),
    ("UPDATE orders SET amount = amonut", "1:28", "amonut", "amount"),
    ("UPDATE orders SET amount = 1, amount = 2", "1:31", "twice", None),
    ("UPDATE orders SET id = NULL", "1:19", "`id`", None),
    ("UPDATE orders SET amount = 'much'", "1:", "much", None),
    ("DELETE FROM orders WHERE custmer = 'ann'", "1:26", "custmer", "customer"),
    ("MERGE INTO orders USING oders s ON TRUE WHEN MATCHED THEN DELETE", "1:25", "default.oders", "default.orders"),
    ("CREATE TABLE t (a INT, A INT)", "1:24", "twice", None),
    ("CREATE TABLE t (a INT, PRIMARY KEY (b))", "1:37", "`b`", None),
    ("CREATE TABLE t (a GEOGRAPHY)", "1:17", "GEOGRAPHY", None),
    ("CREATE TABLE t (a INT DEFAULT 'x')", "1:17", "default", None),
    ("CREATE TABLE t (a INT UNIQUE)", "1:17", "constraint", None),
    ("CREATE TABLE orders (a INT)", "1:14", "already", None),
    ("CREATE TABLE t AS SELECT 1 AS a, 2 AS a", "1:1", "twice", None),
    ("CREATE TABLE t AS SELECT nothing FROM orders", "1:26", "nothing", None),
    ("CREATE TABLE t (a INT) WITH ('bucket' = 'many')", "1:1", "bucket", None),
    ("ALTER TABLE orders DROP COLUMN amonut", "1:32", "amonut", "amount"),
    ("ALTER TABLE orders DROP COLUMN id", "1:1", "`id`", None),
    ("ALTER TABLE orders ADD COLUMN n INT NOT NULL", "1:1", "`n`", None),
    ("DROP TABLE oders", "1:12", "default.oders", "default.orders"),
    ("USE shopp", "1:5", "shopp", None),
    ("SHOW EVERYTHING", "1:6", "SHOW", None),
    ("GRANT SELECT ON orders TO me", "1:1", "GRANT", None),
    ("CREATE SEQUENCE v", "1:1", "SEQUENCE", None),
    ("EXPLAIN DELETE FROM orders", "1:9", "EXPLAIN", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "says", "suggests"), MISTAKES, ids=[each[0][:40] for each in MISTAKES])
def test_place_words_and_suggestion(shop, text, place, says, suggests):
    before = state(shop)
    with pytest.raises(HeadwaterError) as err:
        shop.sql(text)
    assert err.value.place.startswith(f"<input>:{place}")
    assert says in err.value.message
    if suggests is not None:
        assert f"did you mean `{suggests}`?" in err.value.hint
    assert state(shop) == before


def test_the_first_failure_ends_the_text_and_keeps_what_was_done(shop):
    with pytest.raises(NotFoundError) as err:
        shop.sql("INSERT INTO events (kind) VALUES ('a');\nSELECT * FROM nothing;\nDROP TABLE orders", name="job.sql")
    assert err.value.place == "job.sql:2:15"
    assert shop.sql("SELECT count(*) FROM events").scalar() == 3
    assert shop.sql("SHOW TABLES").rows == 2


def test_places_count_characters_not_bytes(shop):
    with pytest.raises(SqlError) as err:
        shop.sql("SELECT 'äöü€' AS x, amonut FROM orders")
    assert err.value.place == "<input>:1:21"


def state(session):
    tables = session.sql("SHOW TABLES").fetchall()
    return {
        name: (session.table(name).schema, [each.snapshot_id for each in session.table(name).snapshots()])
        for (name,) in tables
    }
