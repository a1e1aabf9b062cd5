"""Which part of a text an expression claims."""

import pytest

from headwater.sql.dialects import sqlglot_dialect
from headwater.sql.regions import Regions


def claimed(sql: str, *marks: str) -> list[str | None]:
    """The texts claimed, one after the other, at the first occurrence of each mark."""
    regions = Regions(sqlglot_dialect("duckdb").tokenize(sql))
    found = [regions.claim(sql.index(mark)) for mark in marks]
    return [None if each is None else sql[each[0] : each[1]] for each in found]


@pytest.mark.parametrize(
    ("sql", "mark", "text"),
    [
        ("SELECT DISTINCT f(1, a) AS x, b FROM t", "a)", "f(1, a) AS x"),
        ("SELECT CASE WHEN a THEN b END c FROM t", "a", "CASE WHEN a THEN b END c"),
        ("SELECT LEFT(a, 2) FROM t LEFT JOIN u ON a = x WHERE b", "a, 2", "LEFT(a, 2)"),
        ("SELECT 1 FROM t LEFT JOIN u ON q = x, v WHERE b", "q", "q = x"),
        ("SELECT 1 FROM t WHERE p IN (SELECT a FROM u WHERE z) GROUP BY k", "p IN", "p IN (SELECT a FROM u WHERE z)"),
        ("UPDATE t SET a = b + 1, c = d WHERE e", "b + 1", "a = b + 1"),
        (
            "SELECT sum(a) OVER (PARTITION BY b ORDER BY c) FROM t",
            "b ORDER",
            "sum(a) OVER (PARTITION BY b ORDER BY c)",
        ),
        ("SELECT 1 FROM t", "t", None),
    ],
)
def test_an_expression_claims_the_item_or_condition_around_it(sql, mark, text):
    assert claimed(sql, mark) == [text]


def test_the_outer_expression_claims_first_and_the_inner_then():
    sql = "SELECT (SELECT max(a) FROM u) FROM t"
    assert claimed(sql, "a)", "a)", "a)") == ["(SELECT max(a) FROM u)", "max(a)", None]


def test_stars_are_claimed_from_the_inside():
    sql = "SELECT * FROM (SELECT * FROM t)"
    regions = Regions(sqlglot_dialect("duckdb").tokenize(sql))
    before = sql.index("t)")
    assert [regions.claim_star(before) for _ in range(3)] == [(22, 23), (7, 8), None]
