"""Mending: whole records and blocks are kept, nothing is lost in silence."""

import pyarrow as pa
from tests.faulty_files import FaultyFiles

from headwater.files import MemoryFiles
from headwater.lake import BlockCache, LSMTree
from headwater.lake.engine.types import schema_of
from headwater.lake.tools.fsck import mend, open_folder, verify
from headwater.lake.tools.repair import repair, schema_in
from headwater.lake.tools.verify import verify_tree
from headwater.model.schema import Schema

PLAIN = schema_of(pa.schema([("id", pa.int64()), ("name", pa.string())]), ("id",))
SCHEMA = Schema(PLAIN.fields, PLAIN.primary_keys, options={"file.block-size": "256 B", "compaction.auto": "false"})


def written() -> MemoryFiles:
    files = MemoryFiles()
    with LSMTree(files, SCHEMA, cache=BlockCache(0)) as tree:
        tree.put_many((key, f"name {key}") for key in range(100))
        tree.flush()
        tree.put_many((key, "newer") for key in range(0, 100, 10))
    return files


def rows(files: MemoryFiles) -> dict[int, str]:
    with LSMTree(files, SCHEMA, cache=BlockCache(0)) as tree:
        assert verify_tree(tree).problems == []
        return {row["id"]: row["name"] for row in tree.to_arrow().to_pylist()}


def flip(files: MemoryFiles, path: str, position: int) -> None:
    data = bytearray(files.get(path))
    data[position] ^= 0xFF
    files.put(path, bytes(data))


def test_a_sound_tree_is_left_alone() -> None:
    files = written()
    before = {entry.path: files.get(entry.path) for entry in files.list(deep=True)}
    assert repair(files, SCHEMA) == []
    assert {entry.path: files.get(entry.path) for entry in files.list(deep=True)} == before


def test_one_damaged_block_costs_its_rows_only() -> None:
    files = written()
    expected = rows(files)
    first = files.list("data")[0].path
    flip(files, first, 40)
    done = repair(files, SCHEMA)
    assert len(done) == 1
    found = rows(files)
    assert 0 < len(expected) - len(found) < 20
    assert all(expected[key] == name for key, name in found.items())
    assert files.get(f"{first}.damaged")


def test_a_file_without_footer_or_a_missing_one() -> None:
    files = written()
    old, new = (entry.path for entry in files.list("data"))
    files.put(old, files.get(old)[:-1])
    files.delete(new)
    done = repair(files, SCHEMA)
    assert any("kept 0 of 100 rows" in line for line in done)
    assert any("missing; its 10 rows are lost" in line for line in done)
    assert rows(files) == {}


def test_a_lost_version_is_made_anew() -> None:
    files = written()
    expected = rows(files)
    for entry in files.list("version"):
        flip(files, entry.path, 5)
    assert "2 data files" in repair(files, SCHEMA)[0]
    assert rows(files) == expected


def test_a_damaged_log_keeps_its_whole_records() -> None:
    faulty = FaultyFiles(MemoryFiles())
    tree = LSMTree(faulty, SCHEMA, cache=BlockCache(0))
    for key in range(6):
        tree.put((key, f"name {key}"))
    files = faulty.recover(kept=1.0)
    assert isinstance(files, MemoryFiles)
    log = files.list("wal")[0].path
    flip(files, log, files.get(log).index(b"name 2"))
    assert "kept 5 records" in repair(files, SCHEMA)[0]
    assert sorted(rows(files)) == [0, 1, 3, 4, 5]


def test_the_schema_is_in_the_files() -> None:
    found = schema_in(written())
    assert (found.fields, found.primary_keys) == (SCHEMA.fields, ("id",))


def test_checking_a_folder(tmp_path) -> None:
    with LSMTree(tmp_path, SCHEMA) as tree:
        tree.put((1, "a"))
    (tmp_path / "data" / ".unpublished-dead").write_bytes(b"x")
    assert verify(open_folder(str(tmp_path))).problems == []
    assert "data/.unpublished-dead: removed, it belonged to nothing" in mend(open_folder(str(tmp_path)))
