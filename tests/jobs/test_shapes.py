"""Which texts of a query log are one statement, run again."""

import pytest

from headwater.jobs.harvest.shapes import shape_of

SAME = [
    ("SELECT a FROM t WHERE day = '2026-01-01'", "SELECT a\n FROM t -- yesterday\nWHERE day = '2026-01-02';"),
    (
        "SELECT a FROM t WHERE d >= DATE '2026-01-01' AND x = -5.2e3",
        "SELECT a FROM t WHERE d >= DATE '2026-02-01' AND x = 7",
    ),
    ("SELECT a FROM t WHERE k IN (1, 2, 3)", "SELECT a FROM t WHERE k IN (5)"),
    ("SELECT a FROM t WHERE d BETWEEN '2026-01-01' AND '2026-02-01'", "SELECT a FROM t WHERE d BETWEEN '1' AND '2'"),
    ("SELECT a FROM t WHERE n LIKE 'it''s%' LIMIT 10", "SELECT a FROM t WHERE n LIKE 'x' LIMIT 500"),
    ("INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y')", "INSERT INTO t (a, b) VALUES (7, NULL)"),
    (
        "CREATE OR REPLACE TABLE d AS SELECT a FROM t WHERE k = 1",
        "CREATE OR REPLACE TABLE d AS SELECT a FROM t WHERE k = 2",
    ),
    ("UPDATE t SET a = 5 WHERE k = 'x'", "UPDATE t SET a = 6 WHERE k = 'y'"),
]
DIFFERENT = [
    ("SELECT a FROM t WHERE x = y", "SELECT a FROM t WHERE x = z"),
    ("SELECT f(a, 'x') FROM t", "SELECT f(a, 'y') FROM t"),
    ("SELECT j -> 'a' FROM t", "SELECT j -> 'b' FROM t"),
    ("SELECT * FROM FLATTEN(input => c, path => 'a')", "SELECT * FROM FLATTEN(input => c, path => 'b')"),
    ("SELECT * FROM t PIVOT (SUM(v) FOR k IN ('a', 'b'))", "SELECT * FROM t PIVOT (SUM(v) FOR k IN ('c'))"),
    ("EXECUTE IMMEDIATE 'INSERT INTO a SELECT 1'", "EXECUTE IMMEDIATE 'INSERT INTO b SELECT 1'"),
    ("DECLARE @s VARCHAR(9) = 'SELECT 1'; EXEC (@s)", "DECLARE @s VARCHAR(9) = 'SELECT 2'; EXEC (@s)"),
    ("CREATE TABLE d WITH (location = 'a') AS SELECT 1", "CREATE TABLE d WITH (location = 'b') AS SELECT 1"),
    ("CREATE STAGE s URL = 's3://a'", "CREATE STAGE s URL = 's3://b'"),
    ("SELECT a FROM events_20260101", "SELECT a FROM events_20260102"),
    ("SELECT '--a' FROM t", "SELECT '--b' FROM t"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_statement(one, other):
    assert shape_of(one) == shape_of(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_two_statements(one, other):
    assert shape_of(one) != shape_of(other)
