"""Splits cut to a size hold every row once."""

import pyarrow as pa
import pytest

from headwater.lake.tables import Warehouse
from headwater.lake.tables.split_sizes import cut_split


@pytest.fixture
def warehouse(tmp_path):
    return Warehouse(tmp_path)


def pieces(table, size, **scan):
    return [part for split in table.plan_scan(**scan).splits for part in cut_split(table.store, split, size)]


def ids(table, parts):
    return [value for part in parts for batch in table.read_split(part) for value in batch.column("id").to_pylist()]


@pytest.mark.parametrize("type", ["BIGINT", "STRING"])
def test_overlapping_runs_are_cut_between_keys(warehouse, type):
    small = {"file.block-size": "32 KB"}
    table = warehouse.create_table("t", {"id": f"{type} NOT NULL", "v": "BIGINT"}, primary_key="id", options=small)
    for start in range(3):
        keys = list(range(start, 30_000, 2))
        named = pa.array(keys if type == "BIGINT" else [f"key-{key:06}" for key in keys])
        table.write(pa.table({"id": named, "v": pa.array(keys, pa.int64())}))
    parts = pieces(table, table.plan_scan().bytes // 6)
    assert len(parts) >= 4
    found = ids(table, parts)
    assert len(found) == 30_000
    assert set(found) == set(table.to_arrow().column("id").to_pylist())


def test_runs_side_by_side_are_packed(warehouse):
    table = warehouse.create_table("t", {"id": "BIGINT NOT NULL"}, primary_key="id")
    for start in range(0, 50_000, 5_000):
        table.write(pa.table({"id": pa.array(range(start, start + 5_000), pa.int64())}))
    parts = pieces(table, 20_000)
    assert 2 <= len(parts) <= 10
    assert sorted(ids(table, parts)) == list(range(50_000))


def test_a_table_without_a_key_is_cut_between_files(warehouse):
    table = warehouse.create_table("t", {"id": "BIGINT"})
    for start in range(0, 40_000, 10_000):
        table.write(pa.table({"id": pa.array(range(start, start + 10_000), pa.int64())}))
    parts = pieces(table, 25_000)
    assert len(parts) >= 2
    assert sorted(ids(table, parts)) == list(range(40_000))


def test_separators_that_are_the_beginning_of_a_key_cut_no_row_twice(warehouse):
    columns = {"k": "STRING NOT NULL", "id": "INT NOT NULL"}
    table = warehouse.create_table("t", columns, primary_key=["k", "id"], options={"file.block-size": "1 B"})
    for ids_of_run in ([-1, 1], [0, 2]):
        table.write([(letter, id) for letter in "abcdefgh" for id in ids_of_run])
    for size in range(1, table.plan_scan().bytes, 97):
        found = ids(table, pieces(table, size))
        assert sorted(found) == sorted([-1, 0, 1, 2] * 8), size
