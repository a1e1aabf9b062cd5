"""The columns that a session keeps in memory, counted by the memory they take."""

import pyarrow as pa
import pytest

import headwater
from headwater.lake.tables.plan import plan_scan
from headwater.lake.tables.read import read_plan
from headwater.query.columns import ColumnCache
from headwater.query.names import Pinned

TEXT = "repetitive " * 100  # a kilobyte, of which next to nothing is left on disk


@pytest.fixture(params=["id", ()], ids=["keyed", "appended"])
def wide(request, tmp_path):
    options = {"file.format": "sst"}
    table = headwater.Warehouse(tmp_path).create_table(
        "t", {"id": "BIGINT", "text": "STRING"}, primary_key=request.param, options=options
    )
    rows = 20_000
    table.write(pa.table({"id": range(rows), "text": pa.repeat(TEXT, rows)}))
    assert table.snapshot().summary.total_size < 2 << 20
    return tmp_path


def test_a_table_that_is_large_in_memory_is_not_kept(wide, monkeypatch):
    with headwater.connect(wide) as session:
        cache = session._cache
        cache.capacity = 16 << 20  # in memory the table takes 20 MB, on disk a few hundred kilobytes
        read = []
        monkeypatch.setattr("headwater.query.columns.read_plan", _noting(read))
        assert session.sql("SELECT max(length(text)) FROM t").scalar() == len(TEXT)
        assert sum(read) == 20_000  # what was read before that was known is not read again
        assert cache._size == 0
        del read[:]
        assert session.sql("SELECT min(length(text)) FROM t").scalar() == len(TEXT)
        assert read == []  # and not tried again
        assert session.sql("SELECT sum(id) FROM t").scalar() == sum(range(20_000))
        assert session.sql("SELECT max(id) FROM t").scalar() == 19_999
        assert 0 < cache._size <= 20_000 * 9  # the numbers alone are kept


def test_nothing_is_kept_for_the_first_rows(wide):
    with headwater.connect(wide) as session:
        for query in ("SELECT id FROM t LIMIT 1", "SELECT * FROM t LIMIT 3", "FROM t LIMIT 2 OFFSET 1"):
            assert len(session.sql(query)) == int(query.split("LIMIT ")[1][0])
            assert session._cache._size == 0
        session.sql("SELECT id FROM t ORDER BY id LIMIT 1")
        assert session._cache._size > 0


def test_columns_are_kept_apart(wide):
    table = headwater.Warehouse(wide).table("t")
    pinned = Pinned(table, table.store.latest())
    cache = ColumnCache()
    assert sum(map(len, cache.batches(pinned, ["id"]))) == plan_scan(table.store, pinned.state).rows
    assert len(cache._columns) == 1
    both = pa.Table.from_batches(cache.batches(pinned, ["text", "id"]))
    assert both.equals(table.to_arrow(["text", "id"]))
    assert len(cache._columns) == 2


def test_what_proves_too_large_is_given_all_the_same(wide):
    table = headwater.Warehouse(wide).table("t")
    pinned = Pinned(table, table.store.latest())
    cache = ColumnCache(16 << 20)
    assert pa.Table.from_batches(cache.batches(pinned, ["text"])).equals(table.to_arrow(["text"]))
    assert cache._size == 0
    assert cache.column(pinned, "id").to_pylist() == list(range(20_000))
    assert pa.Table.from_batches(cache.batches(pinned, ["id"])).equals(table.to_arrow(["id"]))
    assert cache.batches(pinned, ["text"]) is None  # and not tried again


def _noting(read):
    def reading(*given, **options):
        for batch in read_plan(*given, **options):
            read.append(len(batch))
            yield batch

    return reading
