"""The rows behind a row: hop by hop, for every clause, with what was decided by absence."""

import json

import pyarrow as pa
import pytest

from headwater.cli.main import run
from headwater.errors import UsageError
from headwater.provenance.compare import compare_rows
from headwater.provenance.why import why_rows


def behind(session, table, where, **more):
    """The rows of each input behind rows of a table, one hop down, and the notes."""
    hop = why_rows(session.warehouse, f"default.{table}", where=where, deep=False, **more)[0]
    assert hop.reason is None, hop.reason
    assert hop.verified is not False
    return {each.dataset.removeprefix("default."): each.rows.to_pylist() for each in hop.inputs}, hop.absent


def ids(rows):
    return sorted(row["id"] for row in rows)


@pytest.fixture
def tables(session):
    session.sql("""
        CREATE TABLE o (id INT PRIMARY KEY, c STRING, a INT);
        INSERT INTO o VALUES (1, 'x', 10), (2, 'y', 20), (3, 'x', 30), (4, 'z', NULL), (5, NULL, 5);
        CREATE TABLE e (c STRING, n INT); INSERT INTO e VALUES ('x', 1), ('x', 2), ('y', 3), ('q', 4)
    """)
    return session


CLAUSES = {
    "projection": ("SELECT id, a + 1 AS b FROM o", "id = 2", [2]),
    "filter": ("SELECT c, a FROM o WHERE a > 10", "c = 'x'", [3]),
    "star": ("SELECT * FROM o", "id = 3", [3]),
    "star without": ("SELECT o.* EXCLUDE (c) FROM o JOIN e USING (c)", "id = 2", [2]),
    "sum": ("SELECT c, sum(a) AS s FROM o GROUP BY c", "c = 'x'", [1, 3]),
    "max takes the row with it": ("SELECT c, max(a) AS m FROM o GROUP BY c", "c = 'x'", [3]),
    "sum of nulls": ("SELECT c, sum(a) AS s FROM o GROUP BY c", "c = 'z'", [4]),
    "filtered aggregate": ("SELECT sum(a) FILTER (WHERE a < 25) AS s FROM o", "true", [1, 2, 5]),
    "distinct aggregate": ("SELECT count(DISTINCT c) AS n FROM o", "true", [1, 2, 3, 4]),
    "an aggregate that only DuckDB has": ("SELECT c, histogram(a) AS h FROM o GROUP BY c", "c = 'y'", [2]),
    "having": ("SELECT c FROM o GROUP BY c HAVING count(*) > 1", "true", [1, 3]),
    "grouping sets": ("SELECT c, sum(a) AS s FROM o GROUP BY GROUPING SETS ((c), ())", "s = 65", [1, 2, 3, 5]),
    "rollup": ("SELECT c, count(*) AS n FROM o GROUP BY ROLLUP (c)", "c = 'x'", [1, 3]),
    "window": ("SELECT id, sum(a) OVER (PARTITION BY c) AS s FROM o", "id = 1", [1, 3]),
    "frame": (
        "SELECT id, sum(a) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM o",
        "id = 3",
        [2, 3],
    ),
    "rank": ("SELECT id, rank() OVER (ORDER BY a) AS r FROM o", "id = 2", [1, 2, 5]),
    "ntile": ("SELECT id, ntile(2) OVER (ORDER BY id) AS t FROM o", "id = 1", [1, 2, 3, 4, 5]),
    "percent_rank": ("SELECT id, percent_rank() OVER (ORDER BY id) AS t FROM o", "id = 2", [1, 2, 3, 4, 5]),
    "cume_dist": ("SELECT id, cume_dist() OVER (PARTITION BY c ORDER BY id) AS t FROM o", "id = 1", [1, 3]),
    "a rank by an order of its own": ("SELECT id, rank(ORDER BY a DESC) OVER (ORDER BY id) AS t FROM o WHERE a > 0",
                                      "id = 1", [1, 2, 3, 5]),
    "lag": ("SELECT id, lag(a) OVER (ORDER BY id) AS p FROM o", "id = 3", [2, 3]),
    "named window": ("SELECT id, count(*) OVER w AS n FROM o WINDOW w AS (PARTITION BY c)", "id = 3", [1, 3]),
    "qualify": (
        "SELECT id FROM o QUALIFY row_number() OVER (PARTITION BY c ORDER BY a DESC) = 1",
        "id = 3",
        [3],
    ),
    "window over groups": (
        "SELECT c, sum(sum(a)) OVER (ORDER BY c) AS s FROM o WHERE c IS NOT NULL GROUP BY c",
        "c = 'y'",
        [1, 2, 3],
    ),
    "distinct": ("SELECT DISTINCT c FROM o", "c = 'x'", [1, 3]),
    "distinct on": ("SELECT DISTINCT ON (c) c, id FROM o ORDER BY c, id DESC", "c = 'x'", [3]),
    "limit": ("SELECT id FROM o ORDER BY id LIMIT 2", "id = 2", [2]),
    "offset needs those before": ("SELECT id FROM o ORDER BY id LIMIT 2 OFFSET 1", "id = 2", [1, 2]),
    "union": ("SELECT c FROM o UNION SELECT c FROM o WHERE id = 1", "c = 'x'", [1, 3]),
    "union all": ("SELECT id FROM o UNION ALL SELECT id + 10 FROM o", "id = 12", [2]),
    "union by name": ("SELECT id FROM o UNION ALL BY NAME SELECT a, id + 10 AS id FROM o", "id = 12", [2]),
    "intersect": ("SELECT c FROM o INTERSECT SELECT c FROM e", "c = 'x'", [1, 3]),
    "exists": ("SELECT id FROM o WHERE EXISTS (SELECT 1 FROM e WHERE e.c = o.c AND n > 1)", "id = 1", [1]),
    "in": ("SELECT id FROM o WHERE c IN (SELECT c FROM e)", "id = 2", [2]),
    "scalar": ("SELECT id, (SELECT max(n) FROM e WHERE e.c = o.c) AS m FROM o", "id = 1", [1]),
    "cte twice": ("WITH q AS (SELECT * FROM o WHERE a > 5) SELECT l.id FROM q l JOIN q r ON l.id < r.id AND r.id = 3",
                  "id = 1", [1, 3]),
    "lateral": ("SELECT o.id, m FROM o, LATERAL (SELECT max(n) AS m FROM e WHERE e.c = o.c)", "id = 1", [1]),
    "unnest": ("SELECT id, u FROM o, UNNEST([a, id]) AS t(u)", "u = 20", [2]),
    "unnest as a column": ("SELECT id, unnest([1, 2]) AS u FROM o", "id = 2 AND u = 2", [2]),
    "semi join": ("SELECT id FROM o SEMI JOIN e ON e.c = o.c", "id = 1", [1]),
    "columns by pattern": ("SELECT COLUMNS('^i') FROM o", "id = 2", [2]),
    "values beside": ("SELECT id, v FROM o JOIN (VALUES (1, 'one')) AS w(k, v) ON k = id", "id = 1", [1]),
    "unpivot": ("SELECT id, n FROM (SELECT id, a FROM o) UNPIVOT (v FOR n IN (a))", "id = 1", [1]),
}  # fmt: skip


@pytest.mark.parametrize("clause", CLAUSES)
def test_clause(tables, clause):
    query, where, wanted = CLAUSES[clause]
    tables.sql(f"CREATE TABLE r AS {query}")
    found, absent = behind(tables, "r", where)
    assert ids(found["o"]) == wanted
    assert absent == ()


def test_the_rows_of_the_other_side(tables):
    tables.sql("CREATE TABLE r AS SELECT id FROM o WHERE c IN (SELECT c FROM e WHERE n < 3)")
    assert behind(tables, "r", "id = 1")[0]["e"] == [{"c": "x", "n": 1}, {"c": "x", "n": 2}]
    tables.sql("CREATE TABLE s AS SELECT id FROM o WHERE a > ANY (SELECT n * 5 FROM e WHERE n > 2)")
    assert behind(tables, "s", "id = 2")[0]["e"] == [{"c": "y", "n": 3}]


ABSENT = {
    "left join": ("SELECT id, n FROM o LEFT JOIN e USING (c)", "id = 4", "no row of default.e with the same c"),
    "full join": ("SELECT n FROM o FULL JOIN e ON o.c = e.c", "n = 4", "no row of default.o with o.c = e.c"),
    "not exists": (
        "SELECT id FROM o WHERE NOT EXISTS (SELECT 1 FROM e WHERE e.c = o.c)",
        "id = 4",
        "no row of SELECT 1",
    ),
    "not in": ("SELECT id FROM o WHERE c NOT IN (SELECT c FROM e)", "id = 4", "that c is in"),
    "all": ("SELECT id FROM o WHERE a >= ALL (SELECT n FROM e)", "id = 1", "against a >= ALL"),
    "except": ("SELECT c FROM o EXCEPT SELECT c FROM e", "c = 'z'", "no such row in SELECT c FROM"),
    "anti join": ("SELECT id FROM o ANTI JOIN e ON e.c = o.c", "id = 4", "no row of default.e with e.c = o.c"),
    "nothing": ("SELECT count(*) AS n FROM o WHERE id > 99", "true", "no row to aggregate"),
}


@pytest.mark.parametrize("clause", ABSENT)
def test_decided_by_absence(tables, clause):
    query, where, note = ABSENT[clause]
    tables.sql(f"CREATE TABLE r AS {query}")
    _, (told,) = behind(tables, "r", where)
    assert note in told


REFUSED = {
    "recursive": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r JOIN o ON id = n) SELECT n FROM r",
    "PIVOT": "SELECT * FROM (SELECT c, a FROM o) PIVOT (sum(a) FOR c IN ('x' AS x))",
    "POSITIONAL": "SELECT id FROM o POSITIONAL JOIN e",
    "whole row": "SELECT o FROM o",
    "LIMIT of a share": "SELECT id FROM o ORDER BY id LIMIT 50%",
    "subquery in LIMIT": "SELECT id FROM o ORDER BY id LIMIT (SELECT count(*) FROM e WHERE n > 2)",
    "or in the ORDER BY": "SELECT id FROM o UNION SELECT n FROM e ORDER BY (SELECT max(n) FROM e) LIMIT 2",
    "subquery in an aggregate": "SELECT sum(a) FILTER (WHERE id IN (SELECT n FROM e)) AS s FROM o",
    "SAMPLE": "SELECT id FROM o USING SAMPLE 3",
}


@pytest.mark.parametrize("clause", REFUSED)
def test_what_is_not_followed_is_refused_by_name(tables, clause):
    tables.sql(f"CREATE TABLE r AS {REFUSED[clause]}")
    (hop, *_) = why_rows(tables.warehouse, "default.r", where="true", deep=False)
    assert clause.lower() in hop.reason.lower()
    assert hop.inputs == ()


def test_a_column_alone(tables):
    tables.sql("CREATE TABLE r AS SELECT c, sum(a) AS s, max(id) AS m FROM o GROUP BY c")
    assert ids(behind(tables, "r", "c = 'x'", column="m")[0]["o"]) == [3]
    assert ids(behind(tables, "r", "c = 'x'", column="s")[0]["o"]) == [1, 3]
    with pytest.raises(UsageError, match="not a column"):
        behind(tables, "r", "c = 'x'", column="nope")


def hops(session, table, where):
    found = why_rows(session.warehouse, f"default.{table}", where=where)
    return [
        (f"{hop.dataset.removeprefix('default.')}@{hop.snapshot_id}", hop.operation, hop.rows.num_rows)
        for hop in found
    ]


def test_through_the_commits_of_a_table(tables):
    tables.sql("UPDATE o SET a = a + 1 WHERE id = 1; INSERT INTO o VALUES (6, 'x', 60); DELETE FROM o WHERE id = 2")
    tables.sql("MERGE INTO o USING (SELECT 3 AS id, 7 AS a) s ON o.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a")
    tables.sql("CREATE TABLE r AS SELECT c, sum(a) AS s FROM o GROUP BY c")
    assert hops(tables, "r", "c = 'x'") == [
        ("r@1", "INSERT", 1),
        ("o@5", "MERGE", 1),
        ("o@3", "INSERT", 1),
        ("o@2", "UPDATE", 1),
        ("o@1", "INSERT", 1),
        ("o@1", "INSERT", 1),
    ]


def test_rows_written_by_a_program_are_loaded(tables):
    tables.table("o").write([{"id": 7, "c": "x", "a": 70}])
    tables.sql("CREATE TABLE r AS SELECT sum(a) AS s FROM o WHERE c = 'x'")
    found = why_rows(tables.warehouse, "default.r", where="true")
    assert [(hop.snapshot_id, ids(hop.rows.to_pylist()), hop.is_loaded) for hop in found[1:]] == [
        (2, [7], True),
        (1, [1, 3], True),
    ]


def test_files_and_lines(session, tmp_path):
    file = tmp_path / "in.csv"
    file.write_text("id,c,a\n1,x,1.50\n2,y,2\n3,x,4\n")
    session.sql(f"CREATE TABLE o AS SELECT id, c, a * 2 AS b, a FROM '{file}'")
    session.sql("CREATE TABLE r AS SELECT c, sum(b) AS s FROM o GROUP BY c")
    last = why_rows(session.warehouse, "default.r", where="c = 'x'")[-1]
    assert [(each.path, each.lines) for each in last.lines] == [(str(file), (2, 4))]


def test_expired_dropped_and_renamed(tables):
    tables.sql("CREATE TABLE r AS SELECT c, sum(a) AS s FROM o GROUP BY c; ALTER TABLE o RENAME COLUMN a TO b")
    assert ids(behind(tables, "r", "c = 'x'")[0]["o"]) == [1, 3]
    tables.sql("UPDATE o SET b = 1 WHERE id = 1; CREATE TABLE s AS SELECT c, b FROM o WHERE id < 3")
    found = why_rows(tables.warehouse, "default.s", where="c = 'x'")
    assert [hop.reason for hop in found] == [None] * len(found)
    tables.table("o").expire_snapshots(keep_min=1, keep_max=1)
    found = why_rows(tables.warehouse, "default.r", where="c = 'x'")
    assert "default.o@1 was read, and has expired" in found[0].reason
    tables.sql("DROP TABLE o")
    assert "dropped" in why_rows(tables.warehouse, "default.r", where="c = 'x'")[0].reason


def test_the_command(tables, capsys):
    tables.sql("CREATE TABLE r AS SELECT c, sum(a) AS s FROM o GROUP BY c")
    at = ["--warehouse", tables.warehouse.url]
    assert run(["why", "r", "--row", "c=x", *at]) == 0
    said = capsys.readouterr().out
    assert "made of 2 rows of default.o@1" in said
    assert "loaded from outside" in said
    assert run(["why", "o", "--row", "2", "--json", *at]) == 0
    assert json.loads(capsys.readouterr().out)[0]["rows"] == [{"id": 2, "c": "y", "a": 20}]
    assert run(["why", "r", "--where", "s > 1", "--format", "html", "--output", "why.html", *at]) == 0
    assert run(["why", "r", "--row", "5", *at]) == 2
    assert "no primary key" in capsys.readouterr().err
    assert run(["why", "r", "--row", "c=nope", *at]) == 2
    assert run(["why", "r", "--column", "s", *at]) == 2


@pytest.mark.parametrize(
    "query",
    [
        "SELECT x.k, x.r, y.t AS w FROM x JOIN y USING (k)",
        "SELECT k, sum(t) AS r, max(o) AS s, count(*) AS t FROM x GROUP BY k",
        "SELECT k, r FROM x EXCEPT SELECT w, k FROM y",
        "SELECT k, t FROM x UNION ALL SELECT k, t FROM y",
        "SELECT k, t AS o, row_number() OVER (PARTITION BY r ORDER BY t) AS l FROM x",
        "SELECT s.k, (SELECT max(w.t) FROM y w WHERE w.k = s.k) AS r FROM x s",
    ],
)
def test_columns_may_have_any_name(session, query):
    """The rewritten query has names of its own: none of them is one that a table can have."""
    columns = "k INT PRIMARY KEY, r INT, t INT, w INT, o INT, l INT, s INT"
    session.sql(f"CREATE TABLE x ({columns}); CREATE TABLE y ({columns})")
    session.sql("INSERT INTO x VALUES (1, 1, 5, 3, 4, 5, 6), (2, 1, 6, 3, 4, 5, 6); INSERT INTO y SELECT * FROM x")
    session.sql(f"CREATE TABLE made AS {query}")
    assert behind(session, "made", "true")[0]


NUMBERED = """
CREATE TABLE n ("#1" INT PRIMARY KEY, "#rows" STRING, "##2" INT, "select" INT, "a b.c" INT);
INSERT INTO n VALUES (1, 'x', 10, 1, 5), (2, 'y', 20, 1, 6), (3, 'x', 30, 2, 7)
"""


@pytest.mark.parametrize(
    ("query", "where", "keys"),
    [
        ("SELECT * FROM n", '"#1" = 2', [2]),
        ("SELECT COLUMNS('.*') FROM n", '"#1" = 2', [2]),
        ('SELECT * EXCLUDE ("#1") FROM n', '"##2" = 30', [3]),
        ('SELECT "#rows" AS "#1", sum("##2") AS "#2" FROM n GROUP BY ALL', "\"#1\" = 'x'", [1, 3]),
        ('SELECT "#rows" FROM n INTERSECT ALL SELECT "#rows" FROM n', "\"#rows\" = 'y'", [2]),
        ('SELECT "a b.c" AS "#3" FROM n WHERE "select" IN (SELECT "#1" FROM n)', '"#3" = 7', [2, 3]),
    ],
)
def test_columns_may_begin_like_ours(session, query, where, keys):
    session.sql(NUMBERED)
    session.sql(f"CREATE TABLE made AS {query}")
    assert sorted(row["#1"] for row in behind(session, "made", where)[0]["n"]) == keys


def test_equal_rows_of_a_table_that_is_named_twice_are_all_told(tables):
    """The first place has one of two equal rows, the second both."""
    tables.sql("INSERT INTO e VALUES ('x', 1)")
    tables.sql("""CREATE TABLE r AS SELECT e.c, count(*) AS n
        FROM (SELECT min(n) AS least FROM e) AS m, e WHERE e.n = m.least GROUP BY e.c""")
    rows, absent = behind(tables, "r", "c = 'x'")
    assert rows == {"e": [{"c": "x", "n": 1}, {"c": "x", "n": 1}]}
    assert absent == ()


def test_what_except_all_leaves_is_made_of_all_equal_rows(tables):
    """Of two equal rows one is taken away: the other is there because there are two."""
    tables.sql("CREATE TABLE r AS SELECT c FROM o WHERE c = 'x' EXCEPT ALL SELECT 'x'")
    found, (told,) = behind(tables, "r", "true")
    assert ids(found["o"]) == [1, 3]
    assert "no such row" in told


def test_columns_of_any_name_are_compared():
    for key in ("k", "#k"):
        kept, other = (pa.table({key: [1, 2], "r": [1, value], "t": [1, 2]}) for value in (2, 3))
        compared = compare_rows(kept, other, (key,))
        assert compared.different == 1
        assert [each.columns for each in compared.shown] == [("r",)]
