"""count(*) from the manifests: the same answer as from the rows, by the same name, and no file is read for it."""

import duckdb
import pyarrow as pa
import pytest
from tests.effort import one_in

import headwater
from headwater.errors import HeadwaterError
from headwater.query.sandbox import ReadLimits

COUNTS = [
    "SELECT count(*) FROM t",
    "SELECT count() FROM t",
    "SELECT count(*) AS n FROM t",
    'SELECT COUNT(*) "n of t" FROM "default".t AS x',
    "SELECT count(*) FROM t WHERE p = 'a'",
    "SELECT count(*) FROM t AS x WHERE x.p <> 'a' AND 'c' > p",
    "SELECT count(*) FROM t WHERE p IS NULL",
    "SELECT count(*) FROM t WHERE (p BETWEEN 'a' AND 'b') AND p IN ('a', 'zz')",
    "SELECT count(*) FROM t WHERE p LIKE 'a%'",
    "SELECT count(*) FROM t WHERE d >= DATE '2026-01-02'",
    "SELECT count(*) FROM t FOR VERSION AS OF 1",
]
OTHERS = [
    "SELECT count(*) FROM t WHERE v > 3",
    "SELECT count(*) FROM t WHERE p = 'a' AND v > 3",
    "SELECT count(*) FROM t WHERE p = 'a' OR p IS NULL",
    "SELECT count(*) FROM t WHERE lower(p) = 'a'",
    "SELECT count(*) FROM t WHERE p NOT IN ('a')",
    "SELECT count(*), count(*) FROM t",
    "SELECT count(*) + 1 FROM t",
    "SELECT count(v) FROM t",
    "SELECT count(DISTINCT p) FROM t",
    "SELECT count(*) FILTER (WHERE v > 3) FROM t",
    "SELECT count(*) FROM t GROUP BY p",
    "SELECT count(*) FROM t HAVING count(*) > 5000",
    "SELECT count(*) FROM t LIMIT 0",
    "SELECT count(*) FROM t, t AS u",
    "SELECT count(*) FROM t TABLESAMPLE reservoir(5 ROWS)",
    "SELECT count(*) OVER () FROM t",
    "SELECT DISTINCT count(*) FROM t",
    "WITH t AS (SELECT 1) SELECT count(*) FROM t",
    "SELECT count(*) FROM (SELECT * FROM t)",
    "SELECT count(*) FROM t UNION ALL SELECT count(*) FROM t",
    "SELECT (SELECT count(*) FROM t)",
    "SELECT count(*) FROM t$snapshots",
]


@pytest.fixture(scope="module", params=["keyed", "appended"])
def session(request, tmp_path_factory):
    with headwater.connect(tmp_path_factory.mktemp("w")) as opened:
        key = "PRIMARY KEY (p, d, id)" if request.param == "keyed" else ""
        comma = ", " if key else ""
        opened.sql(f"CREATE TABLE t (p STRING, d DATE, id INT, v INT{comma}{key}) PARTITIONED BY (p, d)")
        for start in (0, 40):
            ids = range(start, start + 50 if key else start + 40)
            null = "" if key else ", (NULL, NULL, 1, 1)"
            values = ", ".join(f"('{'abc'[n % 3]}', DATE '2026-01-0{n % 4 + 1}', {n}, {n % 7})" for n in ids)
            opened.sql(f"INSERT INTO t VALUES {values}{null}")
        yield opened


def rows_of(session):
    """The rows of the table in a DuckDB of their own."""
    peer = duckdb.connect()
    peer.execute('CREATE SCHEMA "default"').fetchall()
    rows = session.table("t").to_arrow()
    peer.register("rows", rows)
    peer.execute('CREATE TABLE "default".t AS SELECT * FROM rows').fetchall()
    peer.execute("SET search_path = 'default'").fetchall()
    return peer


@pytest.mark.parametrize("query", one_in(2, [*COUNTS, *OTHERS]))
def test_the_same_as_duckdb(session, query):
    ours = session.sql(query)
    if "VERSION" in query:
        assert ours.scalar() == session.table("t").to_arrow(at=1).num_rows
        return
    if "$" in query or "TABLESAMPLE" in query:
        assert len(ours) == 1
        return
    with rows_of(session) as peer:
        theirs = peer.sql(query).to_arrow_table()
    assert ours.columns == theirs.column_names
    assert ours.table.schema.types == theirs.schema.types
    assert sorted(ours.fetchall()) == sorted(zip(*(column.to_pylist() for column in theirs.columns)))


def is_explained_by_table(query):
    """Return whether EXPLAIN has one line for each table of a query."""
    return not ("UNION" in query or "$" in query or query.startswith("WITH"))


@pytest.mark.parametrize("query", list(filter(is_explained_by_table, [*COUNTS, *OTHERS])))
def test_explain_says_which_are_counted(session, query):
    first = session.sql(f"EXPLAIN {query}").fetchall()[0][0]
    assert first.startswith("count default.t") == (query in COUNTS)


@pytest.mark.parametrize("bounds", [None, ReadLimits()])
def test_no_file_is_read(tmp_path, bounds):
    warehouse = headwater.Warehouse(tmp_path)
    for name, key in (("keyed", "id"), ("appended", ())):
        table = warehouse.create_table(name, {"id": "INT", "v": "INT"}, primary_key=key)
        table.write(pa.table({"id": pa.array(range(10), pa.int32()), "v": pa.array(range(10), pa.int32())}))
    for path in tmp_path.rglob("data/**/*.*"):
        path.unlink()
    with headwater.connect(tmp_path, bounds=bounds) as session:
        for name in ("keyed", "appended"):
            assert session.sql(f"SELECT count(*) FROM {name}").scalar() == 10
            assert "  files   0 of 1" in str(session.sql(f"EXPLAIN ANALYZE SELECT count(*) FROM {name}"))


def test_a_table_that_is_not_there(tmp_path):
    with headwater.connect(tmp_path) as session, pytest.raises(HeadwaterError, match="nowhere"):
        session.sql("SELECT count(*) FROM nowhere")
