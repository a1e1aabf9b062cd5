"""Reads: dense and sparse lookups, projection, explain, statistics, older schemas, other stores."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.faulty_files import FaultyFiles

from headwater.errors import NotFoundError, SchemaError, StorageError
from headwater.files import MemoryFiles
from headwater.lake import BlockCache, LSMTree, RowKind
from headwater.lake.engine.types import schema_of
from headwater.model.schema import Field, Schema
from headwater.model.types import BIGINT, DOUBLE, INT, STRING

PLAIN = schema_of(pa.schema([("name", pa.string()), ("id", pa.int64()), ("n", pa.int32())]), ("id",))
SCHEMA = Schema(PLAIN.fields, PLAIN.primary_keys, options={"file.block-size": "1 KB", "compaction.auto": "false"})


def filled(files: MemoryFiles | None = None, **arguments: object) -> LSMTree:
    tree = LSMTree(files or MemoryFiles(), SCHEMA, cache=BlockCache(1 << 20), **arguments)  # type: ignore[arg-type]
    ids = np.arange(0, 4000, 2)
    tree.write_arrow(pa.table({"name": [f"n{i}" for i in ids], "id": ids, "n": ids.astype(np.int32)}))
    tree.flush()
    tree.write_arrow(pa.table({"name": ["new"] * 100, "id": np.arange(100), "n": np.zeros(100, np.int32)}))
    tree.write_arrow(pa.table({"id": [10, 11]}), kind=RowKind.DELETE)
    tree.flush()
    tree.put(("memory", 3, 3))
    return tree


def test_dense_and_sparse_lookups_agree() -> None:
    tree = filled()
    keys = [int(key) for key in np.random.default_rng(0).integers(-10, 4100, 1500)]
    dense = tree.multi_get(keys)
    assert dense == [tree.get(key) for key in keys]
    assert dense == [row for start in range(0, 1500, 30) for row in tree.multi_get(keys[start : start + 30])]
    assert tree.multi_get([]) == []
    assert tree.get(3)["name"] == "memory"
    assert tree.get(10) is None
    assert (tree.get(12)["name"], tree.get(3998)["name"], tree.get(3999)) == ("new", "n3998", None)


def test_columns_in_the_order_asked_for() -> None:
    tree = filled()
    table = tree.to_arrow(["n", "id"], lower=3990)
    assert table.to_pydict() == {"n": [3990, 3992, 3994, 3996, 3998], "id": [3990, 3992, 3994, 3996, 3998]}
    assert tree.to_arrow([]).num_columns == 0
    assert tree.to_arrow(["id"], lower=50, upper=40).num_rows == 0
    with pytest.raises(SchemaError, match="no column `m`"):
        tree.to_arrow(["m"])


def test_explain_a_get() -> None:
    tree = filled()
    cold = tree.explain(3000)
    assert (cold["found"], cold["runs"], cold["blocks_read"], cold["in_memory"]) == (True, 2, 1, False)
    assert cold["bytes"] > 0
    warm = tree.explain(3000)
    assert (warm["blocks_read"], warm["blocks_cached"], warm["bytes"]) == (0, 1, 0)
    assert tree.explain(3)["in_memory"]
    absent = [tree.explain(key) for key in range(1001, 1999, 2)]
    assert not any(plan["found"] for plan in absent)
    assert sum(plan["blocks_read"] for plan in absent) < 30  # the Bloom filter saves nearly all of them


def test_explain_a_scan() -> None:
    tree = filled()
    whole, part = tree.explain(), tree.explain(lower=2000, upper=2100)
    assert (whole["files"], whole["memory_rows"], whole["files_pruned"]) == (2, 1, 0)
    assert (part["files"], part["memory_rows"], part["files_pruned"]) == (1, 0, 1)
    assert 0 < part["blocks"] < whole["blocks"] / 5
    assert part["bytes"] < whole["bytes"] / 5


def test_statistics() -> None:
    tree = filled()
    stats = tree.stats
    assert [(level.level, level.runs, level.rows, level.deletes) for level in stats.levels] == [(0, 2, 2100, 2)]
    assert (stats.read_amplification, stats.memory_rows) == (3, 1)
    assert stats.write_amplification == 1.0
    tree.compact()
    stats = tree.stats
    assert [(level.level, level.rows, level.deletes) for level in stats.levels] == [(5, 2048, 0)]
    assert (stats.read_amplification, stats.space_amplification) == (1, 1.0)
    assert 1.5 < stats.write_amplification < 2.5


def test_an_older_schema_is_read_by_id() -> None:
    files = MemoryFiles()
    filled(files).close()
    newer = Schema(
        (
            Field(3, "extra", STRING, default="none"),
            Field(1, "id", BIGINT, nullable=False),
            Field(2, "amount", DOUBLE),
        ),
        ("id",),
        id=1,
        options=SCHEMA.options,
    )
    older = {0: SCHEMA, 1: newer}
    with LSMTree(files, newer, cache=BlockCache(1 << 20), schema_of=older.__getitem__) as tree:
        assert tree.get(3998).values == ("none", 3998, 3998.0)
        tree.put(("x", 3999, 0.5))
        tree.flush()
        assert tree.to_arrow(lower=3998).to_pylist() == [
            {"extra": "none", "id": 3998, "amount": 3998.0},
            {"extra": "x", "id": 3999, "amount": 0.5},
        ]
        tree.compact()
        assert tree.multi_get([3998, 3999])[0].values == ("none", 3998, 3998.0)


def test_reading_beside_a_writer() -> None:
    files = MemoryFiles()
    writer = filled(files)
    with LSMTree(files, SCHEMA, cache=BlockCache(0), read_only=True) as reader:
        assert reader.to_arrow().equals(writer.to_arrow())  # the row in the log is there too
        with pytest.raises(StorageError, match="reading only"):
            reader.put(("a", 1, 1))
    writer.put(("later", 5, 5))
    writer.close()


def test_a_store_that_cannot_append_is_durable_by_flush(s3_store) -> None:
    with LSMTree(s3_store, SCHEMA, cache=BlockCache(1 << 20)) as tree:
        tree.put(("a", 1, 1))
        tree.write_arrow(pa.table({"name": ["b"], "id": [2], "n": pa.array([2], pa.int32())}))
        tree.flush()
        assert tree.get(1).values == ("a", 1, 1)
        tree.delete(1)
        tree.compact()
    assert s3_store.list("wal") == []
    with LSMTree(s3_store, SCHEMA, cache=BlockCache(1 << 20)) as tree:
        assert tree.to_arrow().to_pylist() == [{"name": "b", "id": 2, "n": 2}]


def test_a_missing_file_is_named() -> None:
    files = MemoryFiles()
    filled(files).close()
    gone = files.list("data")[0].path
    files.delete(gone)
    with LSMTree(FaultyFiles(files), SCHEMA, cache=BlockCache(0)) as tree, pytest.raises(NotFoundError, match=gone):
        tree.get(2000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wal.fsync": "alway"}, "did you mean `always`"),
        ({"memtable.size": "big"}, "KB, MB or GB"),
        ({"file.compression": "gzip"}, "none"),
        ({"wal.enabled": "maybe"}, "true or false"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        LSMTree(MemoryFiles(), replace(SCHEMA, options=options))
    assert message in (caught.value.hint or "")


def test_rows_that_do_not_fit_change_nothing() -> None:
    tree = filled()
    before = tree.to_arrow()
    for row in (("a", "1", 1), ("a", None, 1), ("a", 1), ("a", 1, 2**31), {"id": 1, "nam": "a"}):
        with pytest.raises(SchemaError):
            tree.put_many([("fine", 77, 77), row])
    for data in ({"id": [1], "m": [1]}, {"name": ["a"]}, {"id": ["x"]}, {"id": pa.array([None], pa.int64())}):
        with pytest.raises(SchemaError):
            tree.write_arrow(pa.table(data))
    assert tree.to_arrow().equals(before)


def test_a_tree_needs_a_key() -> None:
    with pytest.raises(SchemaError, match="primary key"):
        LSMTree(MemoryFiles(), Schema((Field(0, "a", INT),)))
