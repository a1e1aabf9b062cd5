"""`--column` of rows that an INSERT or UPDATE wrote: the rows that make or decide it, and no others."""

import pytest

from headwater.provenance.why import why_rows
from tests.provenance.conftest import ids

CHOSEN = {
    "INSERT INTO made SELECT country, sum(amount), max(id) FROM clean GROUP BY country": ([1, 2], [2]),
    "INSERT INTO made (newest, country) SELECT max(id), country FROM clean GROUP BY country": ([2], [2]),
    "INSERT INTO made BY NAME SELECT max(id) AS newest, sum(amount) AS revenue, country FROM clean GROUP BY ALL": (
        [1, 2],
        [2],
    ),
    "WITH q AS (FROM clean) INSERT INTO made SELECT country, max(amount), min(id) FROM q GROUP BY country": (
        [2],
        [1],
    ),
    "INSERT INTO made SELECT 'IT', 1, 1 WHERE false UNION ALL "
    "SELECT country, sum(amount) AS newest, max(id) AS revenue FROM clean GROUP BY country": ([1, 2], [2]),
    "INSERT INTO made SELECT country, (SELECT sum(amount) FROM clean), max(id) FROM clean GROUP BY country": (
        [1, 2, 3],
        [2],
    ),
}


@pytest.mark.parametrize("statement", CHOSEN)
def test_an_insert_tells_the_rows_of_the_column_alone(hops, statement):
    hops.sql(f"CREATE TABLE made (country STRING PRIMARY KEY, revenue BIGINT, newest INT); {statement}")
    for column, wanted in zip(("revenue", "newest"), CHOSEN[statement]):
        (first, *_) = why_rows(hops.warehouse, "default.made", where="country = 'DE'", column=column)
        assert first.reason is None
        assert sorted(set(ids(first))) == wanted


def test_an_update_tells_the_rows_of_the_column_alone(hops):
    hops.sql("UPDATE gold SET revenue = (SELECT max(amount) FROM raw), newest = (SELECT min(id) FROM clean)")
    (first, *_) = why_rows(hops.warehouse, "default.gold", where="country = 'DE'", column="newest")
    assert {each.dataset for each in first.inputs} == {"default.gold", "default.clean"}


def test_the_other_side_of_a_union_has_its_columns_at_the_same_places(hops):
    hops.sql("""CREATE TABLE made AS SELECT 'IT' AS country, 1 AS revenue, 1 AS newest WHERE false UNION ALL
        SELECT country, sum(amount) AS newest, max(id) AS revenue FROM clean GROUP BY country""")
    (first, *_) = why_rows(hops.warehouse, "default.made", where="country = 'DE'", column="revenue")
    assert ids(first) == [1, 2]
