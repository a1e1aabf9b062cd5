"""Recipes run again: identical, or which rows differ and why that can be."""

import json

import pytest

from headwater.cli.main import run
from headwater.provenance.commits import find_commit
from headwater.provenance.compare import compare_rows
from headwater.provenance.replay import replay, replay_rows

CHANGES = [
    "INSERT INTO orders SELECT id + 10, customer, amount FROM orders",
    "INSERT INTO rates SELECT customer, 7 FROM rates",
    "UPDATE orders SET amount = amount + 1 WHERE id = 1",
    "UPDATE rates SET rate = rate + o.amount FROM orders o WHERE o.customer = rates.customer AND o.id = 1",
    "DELETE FROM orders WHERE id = 2",
    "DELETE FROM rates WHERE customer = 'cid'",
    "MERGE INTO orders o USING (SELECT 1 AS id, 'q' AS customer UNION ALL SELECT 99, 'w') s ON o.id = s.id "
    "WHEN MATCHED THEN UPDATE SET customer = s.customer "
    "WHEN NOT MATCHED THEN INSERT (id, customer) VALUES (s.id, s.customer)",
    "INSERT OVERWRITE orders SELECT id, customer, amount FROM orders WHERE id > 1",
    "TRUNCATE TABLE rates",
    "CREATE OR REPLACE TABLE gold AS SELECT customer FROM orders VERSION AS OF 1",
]


@pytest.mark.parametrize("statement", CHANGES)
def test_every_statement_gives_the_same_rows_again_whatever_came_later(shop, statement):
    shop.sql(statement)
    for name in ("orders", "rates", "gold"):
        shop.sql("INSERT INTO orders VALUES (500, 'late', 0); DELETE FROM orders WHERE id = 500")
        for snapshot in shop.table(name).snapshots():
            (found,) = replay(shop.warehouse, f"default.{name}", snapshot.snapshot_id)
            assert found.identical, found


def test_deep_goes_down_to_the_first_commit(shop):
    shop.sql("INSERT INTO orders SELECT id + 10, customer, amount FROM orders")
    shop.sql("INSERT OVERWRITE gold SELECT customer, 1, 1 FROM orders")
    found = replay(shop.warehouse, "default.gold", deep=True)
    assert [f"{each.dataset}@{each.snapshot_id}" for each in found] == [
        "default.gold@2",
        "default.orders@2",
        "default.orders@1",
    ]
    assert all(each.identical for each in found)


def test_what_differs_is_shown_with_the_reason(session):
    session.sql("CREATE TABLE t AS SELECT 1 AS id, random() AS x, now() AS y")
    (found,) = replay(session.warehouse, "default.t")
    assert found.comparison.different == 2  # one row that is kept, one that is replayed: the table has no key
    assert {reason.split("(")[0] for reason in found.reasons} == {"rand", "now"}


def test_an_input_that_differs_in_one_value_is_never_identical(shop):
    """The recipe on a state of an input in which one row was changed by hand."""
    commit = find_commit(shop.warehouse, "default.gold")
    kept = commit.table.to_arrow()
    for row in shop.table("orders").to_arrow().to_pylist():
        changed = shop.table("orders").write([{**row, "amount": row["amount"] + 0.001}])
        rows = replay_rows(shop.warehouse, commit, {"default.orders": changed.snapshot_id})
        assert compare_rows(kept, kept, ()).identical
        wanted = row["id"] != 2  # bob has no rate: his total stays null
        assert compare_rows(kept, rows, ()).identical is not wanted
        shop.table("orders").write([row])


def test_expired_inputs_are_named_with_what_would_have_kept_them(shop):
    shop.sql("INSERT INTO orders VALUES (7, 'x', 1)")
    shop.warehouse.table("default.orders").expire_snapshots(keep_min=1, keep_max=1)
    (found,) = replay(shop.warehouse, "default.gold")
    assert found.comparison is None
    assert "default.orders@1 was read, and has expired" in found.reasons[0]
    assert "lake tag default.orders" in found.hint


def test_dropped_and_replaced_inputs(shop):
    shop.sql("CREATE OR REPLACE TABLE rates AS SELECT 'ann' AS customer, 1 AS rate")
    assert "another table has its name" in replay(shop.warehouse, "default.gold")[0].reasons[0]
    shop.sql("DROP TABLE rates")
    assert "dropped since" in replay(shop.warehouse, "default.gold")[0].reasons[0]


def test_renamed_columns_and_changed_schemas_do_not_matter(shop):
    shop.sql("ALTER TABLE orders RENAME COLUMN amount TO price; ALTER TABLE orders ADD COLUMN more INT")
    assert replay(shop.warehouse, "default.gold")[0].identical
    shop.sql("INSERT OVERWRITE gold SELECT customer, sum(price), max(more) FROM orders GROUP BY customer")
    shop.sql("ALTER TABLE orders DROP COLUMN more; ALTER TABLE gold RENAME COLUMN total TO sum")
    assert [replay(shop.warehouse, "default.gold", id)[0].identical for id in (1, 2)] == [True, True]


def test_files_that_have_changed(session, tmp_path):
    file = tmp_path / "in.csv"
    file.write_text("a,b\n1,2\n")
    session.sql(f"CREATE TABLE t AS SELECT * FROM '{file}'")
    assert replay(session.warehouse, "default.t")[0].identical
    file.write_text("a,b\n1,3\n")
    assert "has changed since" in replay(session.warehouse, "default.t")[0].reasons[0]
    file.unlink()
    assert "is gone" in replay(session.warehouse, "default.t")[0].reasons[0]


def test_writes_of_programs_have_no_recipe(session):
    session.sql("CREATE TABLE t (a INT)")
    session.table("t").write([{"a": 1}])
    assert "kept no recipe" in replay(session.warehouse, "default.t")[0].reasons[0]


def test_the_command(shop, capsys):
    at = ["--warehouse", shop.warehouse.url]
    assert run(["replay", "gold", *at]) == 0
    assert "default.gold@1  identical: 2 rows" in capsys.readouterr().out
    assert run(["replay", "gold", "--json", "--as-table", "again.gold", *at]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["identical"], told["comparison"]["rows"]) == (True, 2)
    assert shop.sql("SELECT count(*) FROM again.gold").scalar() == 2
    shop.table("orders").write([{"id": 1, "customer": "x", "amount": 1.0}])
    assert run(["replay", "orders", *at]) == 1
    assert "cannot be told" in capsys.readouterr().out
