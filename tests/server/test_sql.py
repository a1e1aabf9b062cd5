"""SQL over HTTP: what a stranger asks costs the server neither its memory nor an unanswered request."""

import json
import re
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest
from tests.effort import one_in
from tests.server.conftest import client_of

from headwater.query.sandbox import ReadLimits
from headwater.server.options import Limits
from headwater.server.sql_pool import SqlPool
from headwater.server.sql_worker import Question

MEMORY = 256 << 20

GREEDY = [
    "SELECT list_sum(range(3000000000))",
    "SELECT list_sum(range(100000000))",
    "SELECT list_aggregate(range(200000000), 'sum')",
    "SELECT length(repeat('x', 3000000000))",
    "SELECT lpad('x', 2000000000, 'y')",
    "SELECT repeat('x', 30000000) FROM range(100)",
    "SELECT array_to_string(range(50000000), ',')",
    "SELECT string_agg(i::VARCHAR, ',') FROM range(1000000000) t(i)",
    "SELECT list(i) FROM range(1000000000) t(i)",
    "SELECT histogram(i) FROM range(1000000000) t(i)",
    "SELECT count(*) FROM (SELECT unnest(range(300000000)) AS u)",
    "SELECT count(*) FROM range(3000000) a, range(3000000) b",
    "SELECT i, count(*) FROM range(1000000000) t(i) GROUP BY i",
    "SELECT * FROM generate_series(1, 3000000000) ORDER BY 1 DESC",
    "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r",
    "WITH RECURSIVE r AS (SELECT 'x' AS s UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r",
    "SELECT range(1000000) FROM range(500)",
    "SELECT " + ", ".join(f"repeat('x', 2000) AS c{at}" for at in range(500)) + " FROM range(1000)",
]


@pytest.fixture(scope="module")
def bounded(estate):
    """A server whose queries have little time and memory; the process of the tests stands for it."""
    limits = Limits(queries=1e6, sql=ReadLimits(rows=1_000, seconds=2, memory=MEMORY))
    with client_of(estate, limits=limits) as client:
        yield client


def run(client, sql):
    answer = client.post("/api/v1/sql", json={"sql": sql})
    return answer.status_code, answer.json()


@pytest.mark.parametrize("sql", one_in(4, GREEDY))
def test_a_greedy_query_is_refused_and_the_server_goes_on(bounded, sql):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    status, answer = run(bounded, sql)
    assert (status, answer["error"]["code"]) in ((422, "memory-limit"), (408, "time-limit")), answer
    assert run(bounded, "SELECT 1 AS n") == (
        200,
        {"columns": ["n"], "types": ["int32"], "rows": [[1]], "cut": False, "message": None, "scans": [], "read": []},
    )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10, "the server itself takes no more"


ASKED = """
import resource, sys
from headwater.errors import MemoryLimitError
from headwater.query.sandbox import ReadLimits
from headwater.server.sql_pool import SqlPool
from headwater.server.sql_worker import Question

pool = SqlPool()
pool.start()
for sql in sys.argv[3:]:
    try:
        pool.ask(Question(sys.argv[1], "default", sql, ReadLimits(rows=1_000, seconds=10, memory=int(sys.argv[2]))))
    except MemoryLimitError:
        print("refused")
pool.stop()
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10)
"""


def test_the_limit_holds_for_the_whole_process(tmp_path):
    """Each process ends with its greedy query, so the largest that has ended tells how much one could take.

    A small process asks: Linux counts the memory of the parent at the start of a child as the child's own.
    """
    command = [sys.executable, "-c", ASKED, str(tmp_path / "w"), str(MEMORY), *GREEDY[:3]]
    *refused, most = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert refused == ["refused"] * 3
    assert int(most) < ReadLimits(memory=MEMORY).process_bytes


def test_a_process_that_ends_is_replaced(bounded):
    for _ in range(3):
        assert run(bounded, "SELECT list_sum(range(3000000000))")[1]["error"]["code"] == "memory-limit"
        assert run(bounded, "SELECT 2 AS n")[1]["rows"] == [[2]]


def test_many_ask_at_once(bounded):
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda number: run(bounded, f"SELECT {number} AS n"), range(12)))
    assert [answer["rows"] for _, answer in answers] == [[[number]] for number in range(12)]


def test_a_large_answer_is_cut(client):
    status, answer = run(
        client, "SELECT " + ", ".join(f"repeat('x', 2000) AS c{at}" for at in range(50)) + " FROM range(900)"
    )
    assert (status, answer["cut"]) == (200, True)
    assert len(json.dumps(answer)) < 20 << 20


ALL_TYPES = duckdb.sql("SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM test_all_types())").fetchall()
AS_TEXT = ("DATE", "TIME", "INTERVAL", "HUGEINT", "BIGNUM", "BIT", "UUID", "DECIMAL", "VARCHAR", "ENUM", "GEOMETRY")


@pytest.mark.parametrize(("name", "type"), ALL_TYPES)
def test_every_type_is_answered_with_its_extremes(client, name, type):
    """DuckDB has a function with the least and greatest value of each of its types, and NULL."""
    status, answer = run(client, f'SELECT "{name}", "{name}"::VARCHAR AS shown FROM test_all_types()')
    assert status == 200, answer
    values, texts = zip(*answer["rows"])
    assert values[-1] is None
    if type.startswith(AS_TEXT) and not type.endswith("]"):
        assert [_without_zone(each) for each in values] == [_without_zone(each) for each in texts]


def _without_zone(value):
    """Python writes the zone of a time as +00:00, DuckDB as +00."""
    return None if value is None else re.sub(r"\+00(:00)?$", "", str(value))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("DATE '10000-01-01'", "10000-01-01"),
        ("DATE 'infinity'", "infinity"),
        ("DATE '-infinity'", "-infinity"),
        ("DATE '0044-03-15 (BC)'", "0044-03-15 (BC)"),
        ("TIMESTAMP '20000-01-01 01:02:03.5'", "20000-01-01 01:02:03.5"),
        ("TIMESTAMPTZ '20000-01-01 01:02:03+02'", "19999-12-31 23:02:03+00"),
        ("TIMESTAMP 'infinity'", "infinity"),
        ("TIMESTAMP_NS '2026-01-01 00:00:00.123456789'", "2026-01-01 00:00:00.123456789"),
        ("TIME '24:00:00'", "24:00:00"),
        ("INTERVAL '83 years 999 days'", "83 years 999 days"),
        ("340282366920938463463374607431768211455::UHUGEINT", "340282366920938463463374607431768211455"),
        ("'10101'::BIT", "10101"),
        ("[DATE '10000-01-01', NULL]", "['10000-01-01', None]"),
        ("{'a': TIMESTAMP 'infinity'}", "{'a': 'infinity'}"),
        ("MAP {DATE '10000-01-01': TIME '24:00:00'}", "[('10000-01-01', '24:00:00')]"),
        ("union_value(d := DATE '10000-01-01')", "10000-01-01"),
        ("'nan'::DOUBLE", "nan"),
    ],
)
def test_values_beyond_pythons(client, value, told):
    assert run(client, f"SELECT {value} AS v")[1]["rows"] == [[told]]


def test_queries_are_answered_although_the_current_folder_of_the_server_is_gone(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    pool = SqlPool()
    pool.start()
    try:
        question = Question(str(tmp_path / "w"), "default", "SELECT 41 + 1 AS n", ReadLimits(seconds=30, rows=10))
        assert json.loads(pool.ask(question))["rows"] == [[42]]
    finally:
        pool.stop()
