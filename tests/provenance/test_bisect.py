"""The commit that moved a figure: of the table itself, of an input, of an input of an input."""

import json

import pytest

from headwater.cli.main import run
from headwater.errors import UsageError
from headwater.provenance.bisect import bisect

GOLD = "INSERT OVERWRITE gold SELECT customer, sum(amount) AS total FROM silver GROUP BY customer"
SILVER = "INSERT INTO silver SELECT b.id, b.customer, b.price * r.rate FROM bronze b JOIN rates r USING (customer)"


@pytest.fixture
def night(session):
    """Two nights: bronze → silver → gold; in the second, one price was corrected."""
    session.sql("""
        CREATE TABLE bronze (id INT PRIMARY KEY, customer STRING, price INT);
        CREATE TABLE rates (customer STRING PRIMARY KEY, rate INT);
        CREATE TABLE silver (id INT PRIMARY KEY, customer STRING, amount INT);
        CREATE TABLE gold (customer STRING PRIMARY KEY, total INT);
        INSERT INTO bronze VALUES (1, 'ann', 10), (2, 'bob', 20), (3, 'ann', 30);
        INSERT INTO rates VALUES ('ann', 2), ('bob', 3)
    """)
    for statement in (SILVER, GOLD):
        session.sql(statement)
    return session


def again(session):
    for statement in (SILVER, GOLD):
        session.sql(statement)


def test_a_row_of_an_input_of_an_input(night):
    night.sql("INSERT INTO bronze VALUES (2, 'bob', 20), (3, 'ann', 35)")
    again(night)
    (move,) = bisect(night.warehouse, "default.gold", "sum(total)")
    assert (move.snapshot_id, move.before, move.after, move.share) == (2, 140, 150, 10)
    (silver,) = move.causes
    assert (silver.dataset, silver.snapshot_id, silver.share) == ("default.silver", 2, 10)
    (bronze,) = silver.causes
    assert (bronze.dataset, bronze.snapshot_id, bronze.share) == ("default.bronze", 2, 10)
    (row,) = bronze.rows
    assert (row.change.columns, row.change.before["price"], row.change.after["price"], row.share) == (
        ("price",),
        30,
        35,
        10,
    )


def test_each_input_and_each_commit_has_its_share(night):
    night.sql("UPDATE bronze SET price = 11 WHERE id = 1; UPDATE bronze SET price = 24 WHERE id = 2")
    night.sql("UPDATE rates SET rate = 4 WHERE customer = 'bob'")
    again(night)
    (move,) = bisect(night.warehouse, "default.gold", "sum(total)")
    assert move.share == 2 + 24 * 4 - 20 * 3
    (silver,) = move.causes
    found = {(each.dataset.removeprefix("default."), each.snapshot_id): each.share for each in silver.causes}
    assert found == {("bronze", 2): 2, ("bronze", 3): 16, ("rates", 2): 24}


def test_only_where_the_condition_holds(night):
    night.sql("UPDATE bronze SET price = 24 WHERE id = 2")
    again(night)
    assert bisect(night.warehouse, "default.gold", "sum(total)", where="customer = 'ann'") == []
    assert len(bisect(night.warehouse, "default.gold", "max(total)", where="customer = 'bob'")) == 1


def test_a_table_written_by_hand(session):
    session.sql("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
    session.table("t").write([{"k": 1, "v": 5}, {"k": 2, "v": 7}])
    session.table("t").write([{"k": 2, "v": 9}, {"k": 3, "v": 0}])
    session.table("t").delete([1])
    moves = bisect(session.warehouse, "default.t", "sum(v)")
    assert [(each.snapshot_id, each.share) for each in moves] == [(2, 2), (3, -5)]
    assert [(row.change.columns, row.share) for row in moves[0].rows] == [(("v",), 2)]
    assert moves[1].rows[0].change.after is None
    assert [each.snapshot_id for each in bisect(session.warehouse, "default.t", "sum(v)", start=2)] == [3]


def test_inputs_that_have_expired(night):
    night.sql("UPDATE bronze SET price = 24 WHERE id = 2")
    again(night)
    night.table("silver").expire_snapshots(keep_min=1, keep_max=1)
    (move,) = bisect(night.warehouse, "default.gold", "sum(total)")
    assert "default.silver@1 was read, and has expired" in move.reason
    assert [row.share for row in move.rows] == [12]  # of its own rows, it can be told


def test_what_is_no_figure(night):
    again(night)
    for text in ("customer", "nope(total)"):
        with pytest.raises(UsageError):
            bisect(night.warehouse, "default.gold", text)
    with pytest.raises(UsageError, match="no two snapshots"):
        bisect(night.warehouse, "default.rates", "sum(rate)")


def test_the_command(night, capsys):
    night.sql("UPDATE bronze SET price = 24 WHERE id = 2")
    again(night)
    at = ["--warehouse", night.warehouse.url]
    assert run(["bisect", "gold", "--expr", "sum(total)", *at]) == 1
    said = capsys.readouterr().out
    assert "sum(total) of default.gold@2  140 → 152 (+12)" in said
    assert "price 20 → 24  (+12)" in said
    assert run(["bisect", "gold", "--expr", "sum(total)", "--json", *at]) == 1
    (told,) = json.loads(capsys.readouterr().out)
    assert told["causes"][0]["causes"][0]["rows"][0]["share"] == 12
    assert run(["bisect", "gold", "--expr", "count(*)", *at]) == 0
