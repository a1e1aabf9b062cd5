"""`why` against brute force: all of TPC-H, and generated queries over every clause."""

import importlib.util
import random
from pathlib import Path

import duckdb
import pytest

import headwater
from headwater.errors import SqlError
from tests.effort import LONG, examples
from tests.proof.expressions import SCHEMA
from tests.proof.shapes import generated
from tests.proof.tables import make_tables
from tests.provenance.oracle import Peer, Verdicts, check

ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("tpch_rows", ROOT / "benchmarks" / "_tpch.py")
tpch = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(tpch)


def filled(session, tables, keys):
    """The tables in a lake, and as the lake gives them back."""
    found = {}
    for name, table in tables.items():
        session.warehouse.create_table(f"default.{name}", table.schema, primary_key=keys.get(name, ())).write(table)
        found[name] = session.table(name).to_arrow()
    return Peer(found)


# Of these seeds, the queries have rows at a scale of 0.001.
SEEDS = {"tpch-07": 8, "tpch-08": 8, "tpch-11": 8, "tpch-19": 8, "tpch-02": 13, "tpch-18": 14}
BY_ABSENCE = ("tpch-13", "tpch-16", "tpch-21")
"""A row more or less, of a NOT EXISTS, NOT IN or LEFT JOIN, may make another result: nothing is deleted there."""
SCALES = [0.01, *([0.1] if LONG else [])]


def check_verdicts(verdicts, name):
    assert verdicts.wrong == []
    if name == "tpch-22":  # customers are named twice, around a NOT EXISTS
        assert set(verdicts.refused) == {"sufficient by place only"}
        return
    assert not verdicts.refused
    assert verdicts.told > 0


@pytest.fixture(scope="module", params=SCALES)
def tpch_tables(request, tmp_path_factory):
    """A session on all tables of TPC-H, and the same rows in DuckDB."""
    with headwater.connect(tmp_path_factory.mktemp("tpch")) as session:
        yield session, filled(session, tpch.tables(request.param), tpch.KEYS)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", tpch.queries())
def test_tpch(tpch_tables, name):
    (session, peer), verdicts = tpch_tables, Verdicts()
    check(session, tpch.queries()[name], "r", peer, random.Random(name), verdicts, rows=50 if LONG else 5)
    print(name, peer.tables["lineitem"].num_rows, verdicts)
    check_verdicts(verdicts, name)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", tpch.queries() if LONG else ["tpch-01", "tpch-03"])
def test_tpch_by_deletion(session, name):
    """Rows that are not reported can be deleted, one by one."""
    peer, verdicts = filled(session, tpch.tables(0.001, SEEDS.get(name, 7)), tpch.KEYS), Verdicts()
    query = tpch.queries()[name]
    check(session, query, "r", peer, random.Random(name), verdicts, rows=1, brute=300 if LONG else 50)
    print(name, verdicts)
    assert verdicts.wrong == []
    if name == "tpch-22":
        assert set(verdicts.refused) == {"sufficient by place only"}
    else:
        assert verdicts.told
        assert verdicts.deleted or name in BY_ABSENCE


def world(seed):
    """The tables of the generated queries, as Arrow has them."""
    tables = {}
    for name, table in make_tables(SCHEMA, random.Random(seed), rows=7).items():
        count = len(next(iter(table.values())).values)
        rows = (
            "(" + ", ".join(f"CAST({column.values[at]} AS {column.type})" for column in table.values()) + ")"
            for at in range(count)
        )
        with duckdb.connect() as run:
            text = f"SELECT * FROM (VALUES {', '.join(rows)}) AS v({', '.join(table)})"
            tables[name] = run.sql(text).to_arrow_table()
    return tables


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_generated_queries(session):
    """Sufficient, complete where nothing is decided by absence, and tight where values cannot hide a row."""
    peer, verdicts, chance = filled(session, world("1"), {}), Verdicts(), random.Random(5)
    for number in range(1000 if LONG else examples(200)):
        try:
            check(session, generated(7, number), "r", peer, chance, verdicts, rows=2, brute=100 * (number % 4 == 0))
        except SqlError:
            continue  # a query that the lake itself refuses
    print(verdicts)
    assert verdicts.wrong == []
    assert verdicts.told > 5 * sum(verdicts.refused.values())
