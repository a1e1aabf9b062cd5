"""Differences of one statement's text, placed in the columns that they concern."""

import pytest

import headwater
from headwater.lineage.schema import ColumnSchema, SchemaMetadata, SchemaTable
from headwater.review.side import side_of_texts
from headwater.review.statement_diff import compare_statements


def side(text: str, dialect: str = "snowflake"):
    columns = {"t": ["id", "a", "b", "c", "kind"], "u": ["id", "x", "y"]}
    tables = tuple(
        SchemaTable(name=name, columns=tuple(ColumnSchema(name=each, data_type="INT64") for each in names))
        for name, names in columns.items()
    )
    schema = SchemaMetadata(tables=tables)
    found = side_of_texts(headwater.analyze(text, dialect=dialect, schema=schema), dialect)
    return found, next(iter(found.units.values()))


def placed(old: str, new: str, dialect: str = "snowflake"):
    return compare_statements(side(old, dialect), side(new, dialect))


BODY = """
WITH base AS (
    SELECT id, a AS one, b + 1 AS two, CASE WHEN kind = 'x' THEN 1 ELSE 2 END AS three FROM t WHERE c > 0
), more AS (
    SELECT base.*, u.x AS four FROM base LEFT JOIN u ON base.id = u.id
)
SELECT id, one, two, three, four, one + two AS five FROM more
"""


@pytest.mark.parametrize(
    ("old", "new", "columns"),
    [
        ("b + 1", "b + 2", {"two", "five"}),
        ("kind = 'x'", "kind IN ('x', 'y')", {"three"}),
        ("THEN 1 ELSE 2", "THEN 1 WHEN kind = 'z' THEN 3 ELSE 2", {"three"}),
        ("a AS one", "a * 2 AS one", {"one", "five"}),
        ("c > 0", "c > 1", {"*"}),
        ("base.id = u.id", "base.id = u.id AND u.y = 1", {"*"}),
        ("u.x AS four", "u.y AS four", {"four"}),
        ("SELECT id, a AS one", "SELECT id, c AS unused, a AS one", set()),
        (
            "b + 1 AS two, CASE WHEN kind = 'x' THEN 1",
            "b + 2 AS two, CASE WHEN kind = 'y' THEN 1",
            {"two", "three", "five"},
        ),
        ("SELECT id, one, two, three", "SELECT three, id, one, two", set()),
        ("id, a AS one, b + 1 AS two", "b + 1 AS two, id, a AS one", set()),
        ("one + two AS five", "one - two AS five", {"five"}),
        ("id, a AS one, b + 1 AS two", "id, b AS one, a + 1 AS two", {"one", "two", "five"}),
        ("FROM t WHERE c > 0", "FROM t WHERE c > (SELECT max(y) FROM u WHERE x = 1)", {"*"}),
    ],
)
def test_a_difference_concerns_the_columns_made_of_it(old, new, columns):
    assert old in BODY
    found = placed(BODY, BODY.replace(old, new))
    assert found is not None
    assert found.keys() == columns


@pytest.mark.parametrize(
    ("old", "new"),
    [("LEFT JOIN", "JOIN"), ("FROM more", "FROM more LIMIT 10"), ("SELECT id, one", "SELECT DISTINCT id, one")],
)
def test_a_difference_without_a_place_is_told(old, new):
    assert old in BODY
    assert placed(BODY, BODY.replace(old, new)) is None


def test_a_column_that_only_moves_is_not_concerned():
    found = placed("CREATE TABLE d AS SELECT id, a AS n, b FROM t", "CREATE TABLE d AS SELECT id, b, c FROM t")
    assert found is not None
    assert "b" not in found
