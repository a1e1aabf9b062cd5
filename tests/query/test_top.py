"""The first rows in an order are those that DuckDB finds by itself, and little else is read for them."""

import datetime
import random

import duckdb
import pyarrow as pa
import pytest
from tests.effort import one_in

import headwater
from headwater.lake.engine.sst.block import Block

CHANCE = random.Random(8)
COLUMNS = {
    "tiny": pa.array([CHANCE.choice([None, -128, 0, 3, 127]) for _ in range(300)], pa.int8()),
    "number": pa.array([CHANCE.randrange(-50, 50) for _ in range(300)], pa.int64()),
    "real": pa.array(
        [CHANCE.choice([-0.0, 0.0, 1.5, float("-inf"), float("inf")]) for _ in range(300)], pa.float64()
    ),
    "odd": pa.array([CHANCE.choice([None, 0.5, float("nan"), 2.5]) for _ in range(300)], pa.float32()),
    "day": pa.array([datetime.date(2026, 1, 1 + CHANCE.randrange(28)) for _ in range(300)], pa.date32()),
    "moment": pa.array([datetime.datetime(1600 + at, 1, 1) for at in range(300)], pa.timestamp("us")),
    "few": pa.array([7 if at == 150 else None for at in range(300)], pa.int32()),
    "text": pa.array([f"text {at % 7}" for at in range(300)]),
}
ROWS = pa.table({"id": pa.array(range(300), pa.int64()), **COLUMNS})
QUERIES = [
    f"SELECT id, {column} FROM t ORDER BY {column} {way}, id LIMIT {limit}"
    for column in COLUMNS
    for way in ("ASC", "DESC", "ASC NULLS FIRST", "DESC NULLS FIRST")
    for limit in ("1", "5 OFFSET 3", "299", "1000")
] + [
    "SELECT id, -number AS number FROM t ORDER BY number DESC, id LIMIT 3",
    "SELECT x.id, x.number + 1 FROM t x ORDER BY x.number DESC, x.id LIMIT 3",
    "SELECT count(*) FROM t ORDER BY max(number) LIMIT 3",
    "SELECT DISTINCT number FROM t ORDER BY number DESC LIMIT 3",
    "SELECT number, count(*) FROM t GROUP BY number ORDER BY number LIMIT 3",
    "SELECT id FROM t WHERE id < 100 ORDER BY number DESC, id LIMIT 3",
    "SELECT id, unnest([number, 1]) AS each FROM t ORDER BY number DESC, id, each LIMIT 3",
    "SELECT id, row_number() OVER (ORDER BY id) FROM t ORDER BY number DESC, id LIMIT 3",
    "SELECT a.id FROM t a, t b WHERE a.id = b.id ORDER BY a.number DESC, a.id LIMIT 3",
    "SELECT max(id) FROM (SELECT * FROM t ORDER BY number DESC, id LIMIT 4) AS best",
    "SELECT id FROM t ORDER BY -number, id LIMIT 3",
    "SELECT number, day FROM t AS x(number, id) ORDER BY number DESC LIMIT 1",
    "SELECT id FROM t ORDER BY number DESC, id LIMIT 0",
    "SELECT number, id FROM t ORDER BY 1 DESC, 2 LIMIT 3",
    "SELECT number, id FROM t ORDER BY ALL DESC LIMIT 3",
    "SELECT id FROM t ORDER BY number, id LIMIT 10%",
    "(SELECT id FROM t ORDER BY number, id LIMIT 2) UNION ALL (FROM t SELECT id LIMIT 0) ORDER BY id",
]


@pytest.fixture(scope="module", params=["one file", "versions"])
def both(request, tmp_path_factory):
    with headwater.connect(tmp_path_factory.mktemp("w")) as session, duckdb.connect() as peer:
        table = session.warehouse.create_table(
            "t", ROWS.schema, primary_key="id", options={"compaction.auto": "false", "file.block-size": "1 KB"}
        )
        if request.param == "versions":
            wrong = ROWS.slice(100, 100).set_column(2, "number", pa.array([10**6] * 100, pa.int64()))
            table.write(wrong)
            table.write(wrong.slice(0, 50))
        table.write(ROWS)
        peer.register("t", ROWS)
        yield session, peer


@pytest.mark.parametrize("query", one_in(5, QUERIES))
def test_the_first_rows_are_those_of_duckdb(both, query):
    session, peer = both
    assert repr(session.sql(query).fetchall()) == repr(peer.sql(query).fetchall())
    assert repr(session.sql(query).fetchall()) == repr(peer.sql(query).fetchall())  # from memory


def test_blocks_without_such_rows_are_not_read(tmp_path, monkeypatch):
    rows = pa.table({"id": range(100_000), "a": range(100_000), "b": [f"{at}" for at in range(100_000)]})
    with headwater.connect(tmp_path) as session:
        session.warehouse.create_table("t", rows.schema, primary_key="id").write(rows)
        read = []
        original = Block.column
        monkeypatch.setattr(Block, "column", lambda self, at: read.append(at) or original(self, at))
        assert session.sql("SELECT id, b FROM t ORDER BY a DESC LIMIT 2").fetchall() == [
            (99_999, "99999"),
            (99_998, "99998"),
        ]
        assert read.count(1) == 1 < read.count(0)
