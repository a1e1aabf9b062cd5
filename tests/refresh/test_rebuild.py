"""`headwater rebuild`: tables in order, the least of them, and the same rows whatever happens on the way."""

import random
import signal
import subprocess
import sys
import time

import pytest

import headwater
from headwater.errors import NotFoundError
from headwater.graph.rebuild import adopt_table, find_tables, plan_rebuild, rebuild

CHAIN = {
    "paid": "SELECT id, customer, amount FROM orders WHERE amount > 2",
    "totals": "SELECT customer, sum(amount) AS total, count(*) AS n FROM paid GROUP BY customer",
    "names": "SELECT id, upper(name) AS name FROM customers",
    "report": "SELECT n.name, t.total FROM totals t JOIN names n ON n.id = t.customer",
}


@pytest.fixture
def chain(session):
    for name, query in CHAIN.items():
        session.sql(f"CREATE MATERIALIZED VIEW {name} AS {query}")
    return session


def rows(session, text):
    return sorted(session.sql(text).fetchall(), key=repr)


def check(session):
    for name, query in CHAIN.items():
        assert rows(session, f"FROM {name}") == rows(session, query), name


def ways(found):
    return {each.table.removeprefix("default."): each.way for each in found}


def test_tables_come_after_what_they_are_made_of(chain):
    chain.sql("INSERT INTO orders VALUES (9, 3, 8, '')")
    tables = find_tables(chain.warehouse)
    assert ways(plan_rebuild(chain.warehouse, tables)) == {
        "paid": "rows",
        "totals": "waits",
        "names": "nothing",
        "report": "waits",
    }
    assert ways(rebuild(chain.warehouse, tables, verify=True)) == {
        "paid": "rows",
        "totals": "groups",
        "names": "nothing",
        "report": "rows",
    }
    check(chain)


def test_only_what_is_behind_is_touched(chain):
    chain.sql("INSERT INTO orders VALUES (9, 3, 1, '')")  # too little to be paid
    found = rebuild(chain.warehouse, find_tables(chain.warehouse))
    assert [each.table for each in found if each.snapshot_id is not None] == ["default.paid"]
    before = {name: chain.table(name).snapshot().snapshot_id for name in CHAIN}
    assert set(ways(rebuild(chain.warehouse, find_tables(chain.warehouse), jobs=2)).values()) == {"nothing"}
    assert before == {name: chain.table(name).snapshot().snapshot_id for name in CHAIN}


def test_a_selector_names_tables_and_those_around_them(chain):
    found = [*find_tables(chain.warehouse, "+default.totals")]
    assert found == ["default.paid", "default.totals"]
    assert set(find_tables(chain.warehouse, "default.totals+1")) == {"default.totals", "default.report"}
    with pytest.raises(NotFoundError, match="total"):
        find_tables(chain.warehouse, "default.total")


def test_what_is_made_of_a_table_that_fails_is_left(chain):
    chain.sql("ALTER TABLE orders RENAME COLUMN amount TO price; INSERT INTO customers VALUES (9, 'zoe')")
    found = {each.table: each for each in rebuild(chain.warehouse, find_tables(chain.warehouse))}
    assert "amount" in (found["default.paid"].error or "")
    assert "default.paid failed" in (found["default.totals"].error or "")
    assert found["default.names"].way == "rows"


def test_a_table_of_create_table_as_is_adopted(session):
    session.sql("CREATE DATABASE other; USE other; CREATE TABLE copy AS SELECT id, amount FROM default.orders")
    assert find_tables(session.warehouse) == {}
    assert [*find_tables(session.warehouse, "other.copy")] == ["other.copy"]
    adopt_table(session.warehouse, "other.copy")
    session.sql("INSERT INTO default.orders VALUES (9, 3, 8, '')")
    assert [each.way for each in rebuild(session.warehouse, find_tables(session.warehouse), verify=True)] == ["full"]
    session.sql("INSERT INTO default.orders VALUES (10, 3, 8, '')")
    (found,) = rebuild(session.warehouse, find_tables(session.warehouse), verify=True)
    assert (found.way, found.differs) == ("rows", 0)


@pytest.mark.fault
def test_a_rebuild_that_is_killed_goes_on_where_it_was(chain, tmp_path):
    chance = random.Random(5)
    command = [sys.executable, "-m", "headwater", "--warehouse", str(tmp_path / "warehouse"), "rebuild"]
    for number in range(6):
        chain.sql(f"INSERT INTO orders VALUES ({100 + number}, {number % 3 + 1}, {number + 3}, '')")
        chain.sql(f"UPDATE customers SET name = 'n{number}' WHERE id = {number % 3 + 1}")
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.3, 2.0))
        child.send_signal(signal.SIGKILL)
        child.wait()
    with headwater.connect(tmp_path / "warehouse") as opened:
        found = rebuild(opened.warehouse, find_tables(opened.warehouse), verify=True)
        assert all(each.error is None and not each.differs for each in found)
        check(opened)
