"""Views: queries with a name."""

import pytest

from headwater.errors import NotFoundError, SqlError, StorageError

BIG = "CREATE VIEW big AS SELECT id, amount * 2 AS twice FROM orders WHERE amount > 5"


def rows(session, text):
    return session.sql(text).fetchall()


def test_a_view_is_its_query(shop):
    shop.sql(BIG)
    assert rows(shop, "SELECT * FROM big ORDER BY id") == rows(
        shop, "SELECT id, amount * 2 AS twice FROM orders WHERE amount > 5 ORDER BY id"
    )
    assert rows(shop, "SELECT b.id, o.customer FROM big b JOIN orders o USING (id) ORDER BY 1") == [
        *((1, "ann"), (2, "nobody")),
    ]
    shop.sql("INSERT INTO orders VALUES (9, 'zoe', 100, NULL)")
    assert rows(shop, "SELECT max(big.id) FROM big") == [(9,)]
    assert [row[0] for row in rows(shop, "DESCRIBE big")] == ["id", "twice"]
    assert any("scan default.orders" in line for (line,) in rows(shop, "EXPLAIN SELECT * FROM BIG"))


def test_a_view_means_the_same_wherever_it_is_asked(shop):
    shop.sql(BIG + "; CREATE DATABASE other; USE other")
    assert rows(shop, 'SELECT count(*) FROM "default".big') == [(2,)]
    shop.sql('CREATE VIEW small (number) AS SELECT id FROM "default".big WHERE id < 2')
    assert rows(shop, "SELECT number FROM small") == [(1,)]
    assert rows(shop, "SELECT s.number FROM small s") == [(1,)]
    assert rows(shop, "SHOW VIEWS") == [("small",)]
    assert rows(shop, "SHOW VIEWS IN default LIKE 'b%'") == [("big",)]
    assert 'CREATE VIEW "default"."big" AS SELECT' in rows(shop, "SHOW CREATE VIEW default.big")[0][0]
    with pytest.raises(StorageError, match="0 tables and 1 views"):
        shop.sql("DROP DATABASE other")
    shop.sql("USE default; DROP DATABASE other CASCADE")
    assert shop.warehouse.list_databases() == ["default"]


def test_lineage_goes_through_a_view(shop):
    shop.sql(BIG + "; CREATE TABLE copy AS SELECT twice AS n FROM big")
    origin = shop.table("copy").snapshot().origin
    assert [(each.dataset, each.snapshot_id) for each in origin.inputs] == [("default.orders", 1)]
    assert ("n", "default.orders", "amount") in {(each.column, each.dataset, each.source) for each in origin.columns}


def test_a_view_of_the_past_stays_there(shop):
    shop.sql("CREATE VIEW before AS SELECT count(*) AS n FROM orders VERSION AS OF 1; DELETE FROM orders")
    assert rows(shop, "SELECT n FROM before") == [(3,)]
    with pytest.raises(SqlError, match="no past of its own"):
        shop.sql("SELECT * FROM before VERSION AS OF 1")


def test_replace_and_drop(shop):
    shop.sql(BIG)
    with pytest.raises(SqlError, match=r"view default\.big already"):
        shop.sql(BIG)
    with pytest.raises(SqlError, match="there is a table"):
        shop.sql("CREATE VIEW orders AS SELECT 1")
    with pytest.raises(SqlError, match="there is a view"):
        shop.sql("CREATE TABLE big (a INT)")
    shop.sql("CREATE OR REPLACE VIEW big AS SELECT 1 AS one; CREATE VIEW IF NOT EXISTS big AS SELECT 2 AS two")
    assert rows(shop, "SELECT * FROM big") == [(1,)]
    shop.sql("DROP VIEW big; DROP VIEW IF EXISTS big")
    with pytest.raises(NotFoundError, match=r"no table default\.big"):
        shop.sql("SELECT * FROM big")
    with pytest.raises(NotFoundError, match=r"no view default\.big"):
        shop.sql("DROP VIEW big")


@pytest.mark.parametrize(
    "text",
    ["INSERT INTO big VALUES (1, 2)", "UPDATE big SET id = 1", "DELETE FROM big", "ALTER TABLE big ADD COLUMN c INT"],
)
def test_a_view_is_not_changed(shop, text):
    shop.sql(BIG)
    with pytest.raises((SqlError, NotFoundError)) as caught:
        shop.sql(text)
    assert "is a view" in caught.value.message


def test_errors_are_found_back_in_the_text_as_it_was_written(shop):
    shop.sql(BIG)
    with pytest.raises(SqlError) as caught:
        shop.sql("SELECT 1;\nSELECT id, twiec FROM big WHERE id = 1")
    assert (caught.value.span.line, caught.value.source.excerpt(caught.value.span)) == (2, "twiec")
    with pytest.raises(SqlError, match="names for"):
        shop.sql("CREATE VIEW v (a, b, c) AS SELECT 1, 2")
    shop.sql("ALTER TABLE orders RENAME TO gone")
    with pytest.raises(NotFoundError, match=r"no table default\.orders") as lost:
        shop.sql("SELECT * FROM big")
    assert lost.value.source.excerpt(lost.value.span).startswith("b")
    with pytest.raises(NotFoundError):
        shop.sql("CREATE VIEW v AS SELECT * FROM nowhere")
