"""The 22 queries of TPC-H give the same answers as DuckDB on the same rows.

DuckDB is told, as ours is, not to rewrite `avg` beside a `sum`: the rewritten division loses the last bit.
"""

import importlib.util
from pathlib import Path

import duckdb
import pytest

import headwater

ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("tpch_rows", ROOT / "benchmarks" / "_tpch.py")
tpch = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(tpch)


@pytest.fixture(scope="module", params=["keyed", "appended"])
def both(request, tmp_path_factory):
    data = tpch.tables(0.003)
    with headwater.connect(tmp_path_factory.mktemp("tpch")) as session, duckdb.connect() as peer:
        peer.execute("SET disabled_optimizers = 'aggregate_function_rewriter'")
        for name, table in data.items():
            key = tpch.KEYS[name] if request.param == "keyed" else ()
            lake = session.warehouse.create_table(name, table.schema, primary_key=key, options={"bucket": "2"})
            half = table.num_rows // 2
            lake.write(table.slice(0, half))
            lake.write(table.slice(half))
            peer.register(name, table)
        yield session, peer


@pytest.mark.parametrize("name", tpch.queries())
def test_query(both, name):
    session, peer = both
    query = tpch.queries()[name]
    wanted = peer.sql(query).to_arrow_table()
    found = session.sql(query)
    assert found.columns == wanted.column_names
    assert found.fetchall() == list(zip(*(column.to_pylist() for column in wanted.columns)))


def test_the_rows_make_the_queries_say_something(both):
    _, peer = both
    rows = {name: len(peer.sql(query).fetchall()) for name, query in tpch.queries().items()}
    assert sum(count > 0 for count in rows.values()) >= 18, rows
