"""Counting gives what reading gives, and reads no data file where manifests know the answer."""

import random

import pyarrow as pa
import pytest
from tests.effort import one_in

from headwater.errors import NotFoundError, SchemaError
from headwater.files import MemoryFiles
from headwater.lake.engine.predicates import Compare, In, IsNull
from headwater.lake.tables import Warehouse

ENGINES = {
    "deduplicate": {},
    "first-row": {"merge-engine": "first-row"},
    "partial-update": {"merge-engine": "partial-update"},
    "aggregation": {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"},
}
WHERE = [
    None,
    Compare("p", "=", "a"),
    (Compare("p", ">", "a"), Compare("p", "<", "z")),
    In("p", ("a", "c", "nowhere")),
    IsNull("p"),
    Compare("v", ">", 40),
    (Compare("p", "=", "b"), Compare("v", "<=", 60)),
]


def rows(start, stop, step=1):
    ids = range(start, stop, step)
    return [{"p": "abc"[id % 3], "id": id, "v": id % 97} for id in ids]


def same(table, at=None):
    for where in WHERE:
        assert table.count(where=where, at=at) == table.to_arrow(where=where, at=at).num_rows
        assert table.to_arrow([], where=where, at=at).num_rows == table.count(where=where, at=at)


KEYED = [*((engine, buckets, "sst") for buckets in "13" for engine in ENGINES), ("deduplicate", "1", "parquet")]


@pytest.mark.parametrize("case", one_in(3, KEYED), ids="-".join)
def test_keyed_tables(case):
    engine, buckets, file_format = case
    options = {"bucket": buckets, "compaction.auto": "false", "file.format": file_format} | ENGINES[engine]
    table = Warehouse(MemoryFiles()).create_table(
        "t",
        {"p": "STRING", "id": "BIGINT", "v": "BIGINT"},
        primary_key=["p", "id"],
        partition_by="p",
        options=options,
    )
    assert table.count() == 0
    chance = random.Random(7)
    for _ in range(4):
        start = chance.randrange(300)
        table.write(rows(start, start + 60, chance.choice((1, 2, 5))))
        if engine != "first-row":
            table.delete([("abc"[id % 3], id) for id in chance.sample(range(400), 20)])
        same(table)
    same(table, at=3)
    table.compact()
    same(table)


@pytest.mark.parametrize("file_format", ["sst", "parquet", "orc", "json"])
def test_tables_without_a_key(file_format):
    table = Warehouse(MemoryFiles()).create_table(
        "t", {"p": "STRING", "id": "BIGINT", "v": "BIGINT"}, partition_by="p", options={"file.format": file_format}
    )
    for start in range(0, 300, 60):
        table.write([*rows(start, start + 90), {"p": None, "id": start, "v": None}])
        same(table)
    table.delete(where=Compare("id", "<", 30))
    same(table)
    same(table, at=2)


@pytest.mark.parametrize("key", [(), "id"])
def test_no_data_is_read_where_nothing_overlaps(tmp_path, key):
    table = Warehouse(tmp_path).create_table("t", {"id": "BIGINT", "v": "STRING"}, primary_key=key)
    for start in (0, 100, 200):
        table.write(pa.table({"id": range(start, start + 100), "v": ["x"] * 100}))
    if key:
        table.delete(range(1000, 1010))  # keys that no other file reaches
    for path in tmp_path.rglob("data/**/*.*"):
        path.unlink()
    assert Warehouse(tmp_path).table("t").count() == 300
    with pytest.raises(NotFoundError):
        table.count(where=Compare("v", "=", "x"))


def test_a_column_that_is_not_there(tmp_path):
    table = Warehouse(tmp_path).create_table("t", {"id": "BIGINT"})
    with pytest.raises(SchemaError, match="idd"):
        table.count(where=Compare("idd", "=", 1))
