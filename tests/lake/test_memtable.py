"""A memtable counts the bytes it holds, so that it is flushed in time."""

import pytest

from headwater.lake.engine.batch import RowKind
from headwater.lake.engine.keys import KeyCodec
from headwater.lake.engine.memtable import MemTable
from headwater.lake.engine.merge import MergeEngine, MergeRule, sort_batch
from headwater.lake.tables import Warehouse
from headwater.model.schema import Field, Schema
from headwater.model.types import BIGINT, BINARY

SCHEMA = Schema((Field(0, "k", BIGINT, nullable=False), Field(1, "v", BINARY)), ("k",))


def memtable(engine: MergeEngine) -> MemTable:
    return MemTable(KeyCodec(SCHEMA), MergeRule(engine), sequence=1)


def put(table: MemTable, key: int, size: int) -> None:
    table.put(key, RowKind.PUT, (b"x" * size,), size)


def test_an_update_counts_what_it_holds_instead_of_the_row_before():
    updated, fresh = memtable(MergeEngine.DEDUPLICATE), memtable(MergeEngine.DEDUPLICATE)
    for size in (1, 1_000_000, 500):
        put(updated, 1, size)
    put(fresh, 1, 500)
    assert updated.memory == fresh.memory


@pytest.mark.parametrize("engine", [MergeEngine.PARTIAL_UPDATE, MergeEngine.AGGREGATION, MergeEngine.FIRST_ROW])
def test_writes_that_are_kept_for_a_merge_count_each(engine):
    table = memtable(engine)
    put(table, 1, 100)
    once = table.memory
    for _ in range(9):
        put(table, 1, 100)
    assert table.memory == 10 * once


def test_updates_of_keys_that_are_in_memory_are_flushed(tmp_path):
    options = {"memtable.size": "1 MB", "compaction.auto": "false"}
    table = Warehouse(tmp_path).create_table("t", {"k": "BIGINT", "v": "BINARY"}, primary_key="k", options=options)
    with table.writer() as writer:
        for key in range(20):
            writer.put((key, b""))
        for key in range(20):
            writer.put((key, b"x" * 200_000))
    assert len(table.snapshots()) >= 3


@pytest.mark.parametrize("engine", ["partial-update", "aggregation", "first-row"])
def test_a_get_between_puts_sorts_the_rows_of_its_key_only(tmp_path, monkeypatch, engine):
    table = Warehouse(tmp_path).create_table(
        "t", {"k": "BIGINT", "a": "BIGINT", "b": "STRING"}, primary_key="k", options={"merge-engine": engine}
    )
    handled: list[int] = []

    def counting(rows, *rest):
        handled.append(len(rows))
        return sort_batch(rows, *rest)

    monkeypatch.setattr("headwater.lake.engine.memtable.sort_batch", counting)
    with table.writer() as writer:
        for key in range(300):
            writer.put((key, key, None))
            writer.put((key, None, str(key)))
            assert writer.get(key).values == (key, key, None if engine == "first-row" else str(key))
        assert [row and row["a"] for row in writer.multi_get([5, 999, 5, 7])] == [5, None, 5, 7]
        assert max(handled) == 4  # two writes of two keys
