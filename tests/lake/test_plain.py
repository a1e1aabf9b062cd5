"""Files that nothing overlaps are read without their keys; the others are merged."""

import pyarrow as pa
import pytest

from headwater.files import MemoryFiles
from headwater.lake import BlockCache, LSMTree, RowKind
from headwater.lake.engine.sst.keysection import BytesSection
from headwater.lake.engine.types import schema_of
from headwater.lake.engine.unmerged_scan import sections
from headwater.model.schema import Schema

NUMBER = pa.schema([("id", pa.int64()), ("n", pa.int64())])
TEXT = pa.schema([("id", pa.string()), ("n", pa.int64())])
ALONE = pa.schema([("id", pa.int64())])


def tree_of(arrow, key, **options):
    settings = {"compaction.auto": "false", "wal.enabled": "false", "file.block-size": "256"} | options
    schema = schema_of(arrow, key)
    return LSMTree(MemoryFiles(), Schema(schema.fields, key, options=settings), cache=BlockCache(0))


def write(tree, arrow, ids, n=0):
    values = [f"{id:04}" for id in ids] if arrow is TEXT else list(ids)
    table = pa.table({"id": values, "n": [n] * len(values)} if "n" in arrow.names else {"id": values})
    tree.write_arrow(table.cast(arrow))
    tree.flush()


@pytest.mark.parametrize("arrow", [NUMBER, TEXT, ALONE])
@pytest.mark.parametrize("key_only", [True, False])
def test_rows_are_those_that_a_merge_gives(arrow, key_only):
    tree = tree_of(arrow, ("id",))
    for turn, ids in enumerate((range(100), range(200, 300), range(250, 260), range(400, 500), range(500, 600))):
        write(tree, arrow, ids, turn)
    gone = pa.table({"id": ["0420"] if arrow is TEXT else [420]})
    tree.write_arrow(gone, kind=RowKind.DELETE)
    tree.flush()
    wanted = sorted([*range(100), *range(200, 300), *(id for id in range(400, 600) if id != 420)])
    rows = tree.to_arrow(["id"] if key_only else None)
    assert [int(id) for id in rows["id"].to_pylist()] == wanted
    if "n" in rows.column_names:
        assert [n for id, n in zip(wanted, rows["n"].to_pylist()) if 245 <= id < 265] == [1] * 5 + [2] * 10 + [1] * 5
    low, high = ("0050", "0450") if arrow is TEXT else (50, 450)
    inside = tree.to_arrow(["id"], lower=low, upper=high)["id"].to_pylist()
    assert [int(id) for id in inside] == [id for id in wanted if 50 <= id <= 450]
    tree.close()


def test_sections_are_the_files_that_overlap():
    tree = tree_of(NUMBER, ("id",))
    for ids in (range(10), range(10, 20), range(30, 50), range(40, 60), range(70, 80)):
        write(tree, NUMBER, ids)
    runs = [run.files for run in tree._upkeep.state.runs]
    shapes = [[[(file.file.rows) for file in run] for run in section.runs] for section in sections(runs)]
    assert shapes == [[[10, 10]], [[20], [20]], [[10]]]
    tree.close()


def test_no_key_is_decoded_where_nothing_is_merged(monkeypatch):
    tree = tree_of(TEXT, ("id",))
    write(tree, TEXT, range(1000))
    monkeypatch.setattr(BytesSection, "keys", lambda self: pytest.fail("a key was decoded"))
    assert tree.to_arrow()["id"].to_pylist() == [f"{id:04}" for id in range(1000)]
    tree.close()
