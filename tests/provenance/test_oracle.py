"""`why` against brute force: all of TPC-H, and generated queries over every clause."""

import importlib.util
import random
from pathlib import Path

import duckdb
import pytest

from headwater.errors import SqlError
from tests.effort import examples
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


@pytest.mark.slow
@pytest.mark.parametrize("name", tpch.queries())
def test_tpch(session, name):
    peer, verdicts = filled(session, tpch.tables(0.01), tpch.KEYS), Verdicts()
    check(session, tpch.queries()[name], "r", peer, random.Random(name), verdicts, rows=examples(50))
    assert verdicts.wrong == []
    if name == "tpch-22":  # customers are named twice, around a NOT EXISTS
        assert set(verdicts.refused) == {"sufficient by place only"}
        return
    assert not verdicts.refused
    assert verdicts.told > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tpch-02", "tpch-11", "tpch-18", "tpch-20"])
def test_tpch_by_deletion(session, name):
    """Rows that are not reported can be deleted, one by one."""
    peer, verdicts = filled(session, tpch.tables(0.0005), tpch.KEYS), Verdicts()
    query = tpch.queries()[name]
    check(session, query, "r", peer, random.Random(name), verdicts, rows=1, brute=True)
    assert verdicts.wrong == []
    assert not verdicts.refused


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
@pytest.mark.timeout(900)
def test_generated_queries(session):
    """Sufficient, complete where nothing is decided by absence, and tight where values cannot hide a row."""
    peer, verdicts, chance = filled(session, world("1"), {}), Verdicts(), random.Random(5)
    for number in range(examples(200)):
        try:
            check(session, generated(7, number), "r", peer, chance, verdicts, rows=2, brute=number % 4 == 0)
        except SqlError:
            continue  # a query that the lake itself refuses
    assert verdicts.wrong == []
    assert verdicts.told > 5 * sum(verdicts.refused.values())
