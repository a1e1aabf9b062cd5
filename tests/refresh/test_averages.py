"""Averages from kept sums and counts are those of DuckDB, to the last bit."""

import random
from decimal import Decimal

import pyarrow as pa
import pytest

import headwater
from headwater.query import Session
from headwater.query.refresh.averages import averages, is_narrow

TYPES = {
    "TINYINT": 2,
    "SMALLINT": 4,
    "INTEGER": 9,
    "BIGINT": 18,
    "UTINYINT": 2,
    "USMALLINT": 4,
    "UINTEGER": 9,
    "UBIGINT": 19,
    "DECIMAL(4,2)": 4,
    "DECIMAL(9,3)": 9,
    "DECIMAL(15,2)": 15,
    "DECIMAL(18,6)": 18,
    "DECIMAL(30,4)": 30,
    "DECIMAL(38,10)": 37,
}
"""The types that can be averaged, and the digits of the values that are tried."""


@pytest.fixture
def session(tmp_path):
    with headwater.connect(tmp_path) as session:
        yield session


def groups(session: Session, type: str, count: int = 400) -> str:
    """A table of groups with values of all sizes, and its name."""
    rng = random.Random(type)
    lowest = 0 if type.startswith("U") else -1
    rows = []
    for group in range(count):
        for _ in range(rng.randint(1, 6)):
            digits = rng.randint(1, TYPES[type])
            value = Decimal(rng.randint(lowest * 10**digits, 10**digits - 1))
            scale = int(type.rstrip(")").split(",")[1]) if "," in type else 0
            rows.append(f"({group}, {value.scaleb(-scale):f})")
    session.sql(f"CREATE TABLE x AS SELECT g, CAST(v AS {type}) AS v FROM (VALUES {', '.join(rows)}) AS r(g, v)")
    return "x"


@pytest.mark.parametrize("type", TYPES)
def test_averages_are_those_of_the_engine(session, type):
    name = groups(session, type)
    whole = f"SELECT g, CAST(sum(v) AS DECIMAL(38,{10 if '38' in type else 6})) AS s, count(v) AS n, avg(v) AS a"
    rows = session.sql(f"{whole} FROM {name} GROUP BY g").to_arrow()
    scale = int(type.rstrip(")").split(",")[1]) if "," in type else 0
    sums = rows.column("s").cast(pa.decimal128(38, scale))
    assert averages(sums, rows.column("n"), narrow=is_narrow(type)).to_pylist() == rows.column("a").to_pylist()


@pytest.mark.parametrize("type", ["BIGINT", "DECIMAL(15,2)", "DECIMAL(30,4)"])
def test_an_average_does_not_depend_on_what_stands_beside_it(session, type):
    name = groups(session, type)
    alone = session.sql(f"SELECT g, avg(v) FROM {name} GROUP BY g ORDER BY g").fetchall()
    beside = session.sql(f"SELECT g, avg(v), sum(v), count(*) FROM {name} GROUP BY g ORDER BY g").fetchall()
    assert [row[:2] for row in beside] == alone
    assert [session.sql(f"SELECT avg(v) FROM {name} WHERE g = {g}").fetchall()[0][0] for g, _ in alone[:50]] == [
        average for _, average in alone[:50]
    ]


def test_sums_of_more_than_64_bits_and_groups_without_values():
    sums = pa.chunked_array([pa.array([Decimal(2**64 * 3 + 1), None, Decimal(-(2**70) - 7)], pa.decimal128(38, 0))])
    counts = pa.chunked_array([pa.array([3, 0, 7])])
    assert averages(sums, counts, narrow=False).to_pylist() == [(2**64 * 3 + 1) / 3, None, (-(2**70) - 7) / 7]
    assert averages(sums.slice(2), counts.slice(2), narrow=False).to_pylist() == [(-(2**70) - 7) / 7]


def test_a_view_with_an_average_beside_a_sum_is_refreshed_by_groups(session):
    groups(session, "DECIMAL(15,2)", 2000)
    query = "SELECT g % 50 AS k, avg(v) AS a, sum(v) AS s, count(*) AS n FROM x GROUP BY g % 50"
    session.sql(f"CREATE MATERIALIZED VIEW m AS {query}")
    session.sql("INSERT INTO x VALUES (7, 12.34), (51, -1.01)")
    assert "by groups" in session.sql("REFRESH MATERIALIZED VIEW m").message
    left = session.sql("SELECT * FROM m ORDER BY k").fetchall()
    assert left == session.sql(f"{query} ORDER BY k").fetchall()
