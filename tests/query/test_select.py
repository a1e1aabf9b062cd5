"""Queries give what DuckDB gives on the same rows, whatever was pushed down."""

import datetime

import duckdb
import pyarrow as pa
import pytest

import headwater
from headwater.query.dataset import LakeTable

NAN = float("nan")
ROWS = pa.table(
    {
        "id": pa.array(range(200), pa.int64()),
        "n": pa.array([None if i % 7 == 0 else i % 50 - 10 for i in range(200)], pa.int32()),
        "price": pa.array([i * 1.25 for i in range(199)] + [NAN], pa.float64()),
        "name": pa.array([None if i % 11 == 0 else f"name {i % 13}" for i in range(200)]),
        "day": pa.array([datetime.date(2026, 1, 1) + datetime.timedelta(i) for i in range(200)]),
        "at_time": pa.array([datetime.datetime(2026, 1, 1, i % 24) for i in range(200)], pa.timestamp("us")),
        "ok": pa.array([i % 3 == 0 for i in range(200)]),
        "cost": pa.array(range(200), pa.int64()).cast(pa.decimal128(20, 0)).cast(pa.decimal128(12, 2)),
    }
)
QUERIES = [
    "SELECT count(*) FROM t",
    "SELECT * FROM t WHERE id = 7",
    "SELECT id FROM t WHERE id IN (1, 5, 500) AND ok",
    "SELECT id FROM t WHERE n IS NULL",
    "SELECT id FROM t WHERE n IS NOT NULL AND n <= -3",
    "SELECT id FROM t WHERE -3 >= n OR id = 0",
    "SELECT id FROM t WHERE price > 200",
    "SELECT id FROM t WHERE price <> 2.5",
    "SELECT id FROM t WHERE price BETWEEN 10 AND 20",
    "SELECT id FROM t WHERE name = 'name 3' AND n > 2.5",
    "SELECT id FROM t WHERE name LIKE 'name 1%'",
    "SELECT id FROM t WHERE name LIKE 'name\\_%'",
    "SELECT id FROM t WHERE name NOT LIKE 'name 1%'",
    "SELECT id FROM t WHERE NOT name LIKE 'name 1%'",
    "SELECT id FROM t WHERE name NOT ILIKE 'NAME 1%' AND name !~~ 'name 2%'",
    "SELECT id FROM t WHERE day >= DATE '2026-03-01' AND day < '2026-03-05'",
    "SELECT id FROM t WHERE day < DATE '2026-01-01' + INTERVAL 10 DAY",
    "SELECT id FROM t WHERE at_time = TIMESTAMP '2026-01-01 05:00:00'",
    "SELECT id FROM t WHERE cost = 12.00 OR cost > 198.5",
    "SELECT id FROM t WHERE cost > 198.005",
    "SELECT id FROM t WHERE id > 9223372036854775807",
    "SELECT id FROM t WHERE n > 3000000000",
    "SELECT id FROM t WHERE CAST(id AS VARCHAR) = '12'",
    "SELECT a.id FROM t a LEFT JOIN t b ON a.id = b.id + 195 WHERE b.id IS NULL AND a.n > 5",
    "SELECT a.id, b.id FROM t a FULL JOIN t b ON a.id = b.n WHERE b.name = 'name 2'",
    "SELECT a.id, b.id FROM t a RIGHT JOIN t b ON a.id = b.n AND a.ok WHERE a.id IS NULL AND b.id < 9",
    "SELECT t.id, u.n FROM t JOIN t u USING (id) WHERE u.n = 4",
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.n = t.id AND u.ok)",
    "SELECT id, (SELECT max(n) FROM t u WHERE u.id < t.id AND u.id < 20) FROM t WHERE id < 5",
    "WITH t AS (SELECT * FROM t WHERE id < 10) SELECT sum(n) FROM t WHERE id > 3",
    "WITH RECURSIVE r AS (SELECT 1 AS k UNION ALL SELECT k + 1 FROM r WHERE k < 5) SELECT n FROM r, t WHERE k = id",
    "SELECT ok, count(*), min(day) FROM t WHERE id > 3 GROUP BY ALL HAVING count(*) > 1",
    "SELECT id, row_number() OVER (PARTITION BY ok ORDER BY id DESC) AS r FROM t QUALIFY r <= 2",
    "SELECT * EXCLUDE (name, at_time) REPLACE (n + 1 AS n) FROM t WHERE id < 3",
    "FROM t SELECT id WHERE id < 3",
    "SELECT * FROM t AS x(n, id) WHERE id = 5",
    "SELECT x.n FROM t AS x(n, id) WHERE x.id < -3 AND x.n BETWEEN 20 AND 90",
    "SELECT count(*) FROM t AS x(n, id) WHERE id = 5",
    "SELECT y.n FROM t JOIN t AS y(n, id) ON t.id = y.n WHERE y.id = 3",
    "SELECT #1, #3 FROM t WHERE id < 3",
    "SELECT list_transform([1, 2], lambda x: x + id) FROM t WHERE id = 1",
    "SELECT id FROM t WHERE id < 3 UNION ALL SELECT n FROM t WHERE id = 4",
    "SELECT a.id, b.id FROM t a ASOF JOIN t b ON a.n >= b.id WHERE b.ok AND a.id < 20",
    "PIVOT (SELECT ok, n FROM t WHERE id < 20) ON ok USING sum(n)",
    "SELECT default_t.id FROM t AS default_t WHERE default_t.id = 4",
    "SELECT \"default\".t.id FROM \"default\".t WHERE \"default\".t.id = 4",
]  # fmt: skip


@pytest.fixture(scope="module", params=["keyed", "appended", "parquet"])
def both(request, tmp_path_factory):

    with headwater.connect(tmp_path_factory.mktemp("w")) as session, duckdb.connect() as peer:
        key = () if request.param == "appended" else "id"
        options = {"file.format": "parquet"} if request.param == "parquet" else {}
        table = session.warehouse.create_table("t", ROWS.schema, primary_key=key, options=options)
        for start in range(0, 200, 50):
            table.write(ROWS.slice(start, 50))
        peer.execute('CREATE SCHEMA "default"').fetchall()
        peer.register("rows", ROWS)
        peer.execute('CREATE TABLE "default".t AS SELECT * FROM rows').fetchall()
        peer.execute("SET search_path = 'default'").fetchall()
        yield session, peer


@pytest.mark.parametrize("query", QUERIES)
def test_same_as_duckdb(both, query):
    session, peer = both
    ours = session.sql(query)
    theirs = peer.sql(query).to_arrow_table()
    assert ours.columns == theirs.column_names
    wanted = list(zip(*(column.to_pylist() for column in theirs.columns)))
    assert sorted(map(repr, ours)) == sorted(map(repr, wanted))


def test_only_the_columns_that_are_needed_are_read(both, monkeypatch):
    session, _ = both
    monkeypatch.setattr(session._cache, "capacity", 0)  # as for a table that is too large to be kept
    asked = []
    original = LakeTable.scanned

    def scanned(self, names):
        asked.append(list(names))
        return original(self, names)

    monkeypatch.setattr(LakeTable, "scanned", scanned)
    session.sql("SELECT sum(n) FROM t WHERE ok")
    if session.table("t").schema.primary_keys:
        assert asked in ([["n"]], [["ok", "n"]], [["n", "ok"]])
    else:
        assert asked == []  # DuckDB reads the files itself


def test_a_small_table_is_read_once_and_kept(tmp_path):
    with headwater.connect(tmp_path) as session:
        session.sql("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)")
        session.warehouse.table("t").write(pa.table({"id": range(100), "n": range(100)}))
        assert _line(session.sql("EXPLAIN SELECT n FROM t"), "kept") == "in the memory of the session"
        assert session.sql("SELECT sum(n), sum(id) FROM t").fetchall() == [(4950, 4950)]
        (data,) = (tmp_path / "default" / "t" / "data").rglob("*.sst")
        data.unlink()
        assert session.sql("SELECT sum(id) FROM t").fetchall() == [(4950,)]
        assert not any("kept" in line for (line,) in session.sql("EXPLAIN SELECT n FROM t WHERE id = 3"))


def test_explain_says_what_is_left_out(both):
    session, _ = both
    whole = session.sql("EXPLAIN SELECT n FROM t")
    part = session.sql("EXPLAIN SELECT n FROM t WHERE id BETWEEN 60 AND 70")
    assert _line(whole, "files") == "4 of 4"
    assert _line(part, "files").startswith("1 of 4 (3 by ")
    assert _line(part, "columns") in ("2 of 8: n, id", "2 of 8: id, n")
    assert _line(part, "filters") == "id >= 60 AND id <= 70"
    assert _bytes(part) < _bytes(whole) / 3
    assert _line(whole, "rows") == "200 of 200"
    assert [each.total_rows for each in part.scans] == [200]
    run = session.sql("EXPLAIN ANALYZE SELECT n FROM t WHERE id BETWEEN 60 AND 70")
    assert run.fetchall()[0] == ("11 rows",)


def test_files_are_really_not_opened(both, monkeypatch):
    """What EXPLAIN leaves out is not read either."""
    session, _ = both
    table = session.table("t")
    read = []
    files = table.store.files
    for verb in ("get", "get_range"):
        original = getattr(type(files), verb)

        def spy(self, path, *rest, _original=original):
            read.append(path)
            return _original(self, path, *rest)

        monkeypatch.setattr(type(files), verb, spy)
    session.sql("SELECT name FROM t WHERE id = 199")
    assert len({path for path in read if "/data/" in path}) <= 1


def test_a_query_may_mix_tables_of_the_lake_with_files_and_functions(both, tmp_path):
    session, _ = both
    (tmp_path / "x.csv").write_text("id,label\n3,three\n")
    query = f"SELECT t.id, label, range FROM t JOIN '{tmp_path}/x.csv' USING (id), range(2) ORDER BY range"
    assert session.sql(query).fetchall() == [(3, "three", 0), (3, "three", 1)]


def test_summarize_and_odd_names(both):
    session, _ = both
    assert session.sql("SUMMARIZE t").rows == 8
    session.sql('CREATE OR REPLACE TABLE "Odd Name" ("a b" INT, "sel""ect" STRING)')
    session.sql('INSERT INTO "odd name" ("A B", "sel""ect") VALUES (1, \'x\')')
    assert session.sql('SELECT "a b", "sel""ect" FROM "Odd Name" WHERE "A b" = 1').fetchall() == [(1, "x")]


def test_results(both):
    session, _ = both
    result = session.sql("SELECT id, name FROM t WHERE id < 2 ORDER BY id")
    assert (result.columns, result.rows, len(result)) == (["id", "name"], 2, 2)
    assert list(result) == [(0, None), (1, "name 1")]
    assert result.to_arrow().num_rows == 2
    assert pa.table(result).num_rows == 2
    assert "<td>name 1</td>" in result._repr_html_()
    assert "<i>null</i>" in result._repr_html_()
    assert "name 1" in repr(result)
    assert session.sql("SELECT id FROM t")._repr_html_().count("<tr>") == 41
    assert session.sql("SELECT 1 AS a, 2 AS a").fetchall() == [(1, 2)]


def _line(result, word):
    line = next(row[0] for row in result if row[0].strip().startswith(word))
    return line.strip().removeprefix(word).strip()


def _bytes(result):
    return int(_line(result, "bytes").split(" of ")[0].replace(",", ""))


def test_fields_of_fields(tmp_path):
    """`s.c.d` is a field of a field; `default.t.s` is a column with its database, also of a view."""
    with headwater.connect(tmp_path) as session:
        session.sql("CREATE TABLE t AS SELECT i, {'a': i, 'c': {'d': i}} AS s FROM range(4) r(i)")
        session.sql("CREATE VIEW v AS SELECT i, s FROM default.t WHERE default.t.s.c.d > 0")
        session.sql("UPDATE t SET i = s.c.d + 10 WHERE s.c.d = 1")
        session.sql("UPDATE t SET i = 20 WHERE default.t.s.c.d = 2 AND default.t.i = 2")
        session.sql("DELETE FROM t WHERE t.s.c.d = 0")
        session.sql(
            "MERGE INTO t USING (SELECT {'c': {'d': 3}} AS z) q ON t.s.c.d = q.z.c.d "
            "WHEN MATCHED THEN UPDATE SET i = q.z.c.d * 10"
        )
        for name in ("t", "v"):
            fields = f"default.{name}.i, s.c.d AS d, {name}.s.c.d AS e, default.{name}.s.c.d AS f"
            found = session.sql(f"SELECT {fields} FROM {name} ORDER BY default.{name}.i").fetchall()
            assert found == [(11, 1, 1, 1), (20, 2, 2, 2), (30, 3, 3, 3)]
