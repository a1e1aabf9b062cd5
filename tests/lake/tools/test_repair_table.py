"""Damaged tables: verify lists all damage, repair keeps what is whole and touches nothing that is sound."""

import pytest

from headwater import Warehouse
from headwater.errors import CorruptFileError, HeadwaterError
from headwater.files import MemoryFiles
from headwater.lake.tools.fsck import mend, verify

OPTIONS = {"file.block-size": "256 B", "compaction.auto": "false", "file.compression": "none"}
COLUMNS = {"k": "BIGINT", "v": "STRING"}
WRITES = (
    {i: f"old {i}" for i in range(200)},
    {i: f"new {i}" for i in range(0, 200, 10)},
    {i: f"more {i}" for i in range(200, 210)},
)


def made(*, key: str | None = "k", **options: str) -> MemoryFiles:
    """A table of three snapshots, the first of which has a tag."""
    files = MemoryFiles()
    table = Warehouse(files).create_table("t", COLUMNS, primary_key=key, options=OPTIONS | options)
    for rows in WRITES:
        table.write(list(rows.items()))
        if rows is WRITES[0]:
            table.create_tag("first")
    return files


def store(files):
    return Warehouse(files).table("t").store


def rows(files, at=None):
    return {row["k"]: row["v"] for row in Warehouse(files).table("t").to_arrow(at=at).to_pylist()}


def flip(files, path, position=None):
    data = bytearray(files.get(path))
    data[len(data) // 2 if position is None else position] ^= 0xFF
    files.put(path, bytes(data))


def paths(files, part):
    folder = store(files).paths.folder
    return [entry.path for entry in files.list(f"{folder}/{part}", deep=True)]


def data_file(files, number):
    """The data file of one of the writes, in order."""
    table = store(files)
    live = sorted(table.live(table.committer.log.latest()), key=lambda entry: entry.file.sequence)
    return table.paths.data_file(live[number].file.name)


def test_a_sound_table_is_left_alone():
    files = made()
    before = {entry.path: files.get(entry.path) for entry in files.list(deep=True)}
    assert verify(store(files)).problems == []
    assert mend(store(files)) == []
    assert {entry.path: files.get(entry.path) for entry in files.list(deep=True)} == before


@pytest.mark.parametrize("key", ["k", None])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_damaged_blocks_cost_their_rows_and_no_other(key, number):
    files = made(key=key, **{"file.format": "sst"})
    expected, first = rows(files), rows(files, at="first")
    path = data_file(files, number)
    flip(files, path, 70)  # inside of a column
    report = verify(store(files))
    assert len(report.problems) == 1
    assert path.rpartition("/")[2] in report.problems[0]
    with pytest.raises(CorruptFileError, match="damaged"):
        rows(files)
    done = mend(store(files))
    assert [line.partition(":")[0] for line in done] == [path]
    found = rows(files)
    assert 0 < len(found) < len(expected) or number == 1
    lost = {k for k in expected if found.get(k) != expected[k]}
    assert 0 < len(lost) < 25
    assert all(k not in found or found[k] == f"old {k}" for k in lost)
    if number:
        assert rows(files, at="first") == first
    assert mend(store(files)) == []


def test_two_damaged_blocks_of_one_file_are_both_listed():
    files = made()
    path = data_file(files, 0)
    for position in (40, 2_000):
        flip(files, path, position)
    assert len(verify(store(files)).problems) == 2


def test_a_missing_file_is_given_up():
    files = made()
    files.delete(data_file(files, 2))
    assert "the file is missing" in verify(store(files)).problems[0]
    assert "kept 0 of 10 rows" in mend(store(files))[0]
    assert sorted(rows(files)) == list(range(200))


@pytest.mark.parametrize("which", ["snapshot", "manifest list", "delta"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_damaged_metadata_of_a_snapshot_costs_what_it_changed(which, number):
    files = made()
    states = {id: rows(files, at=id) for id in (1, 2, 3)}
    snapshot = store(files).committer.log.get(number)
    folder = store(files).paths
    flip(
        files,
        {
            "snapshot": folder.snapshot(number),
            "manifest list": folder.manifest(snapshot.manifest_list),
            "delta": folder.manifest(snapshot.delta_manifest),
        }[which],
    )
    assert verify(store(files)).problems
    mend(store(files))
    report = verify(store(files))
    assert [each for each in report.problems if "missing" not in each] == []
    found = rows(files)
    if which == "delta":  # all later snapshots name it too, so its rows are lost, and later ones are kept
        left = [rows for at, rows in enumerate(WRITES, 1) if at != number]
        assert found == left[0] | left[1]
    else:
        assert found == (states[3] if number < 3 else states[2])
    Warehouse(files).table("t").write([(999, "after")])
    assert rows(files)[999] == "after"
    Warehouse(files).table("t").expire_snapshots(keep_min=1, keep_max=1)
    assert rows(files)[999] == "after"


def test_a_damaged_log_no_longer_blocks_the_writer():
    files = made()
    writer = Warehouse(files).table("t").writer()
    for i in range(300, 310):
        writer.put((i, f"put {i}"))
    log = paths(files, "rows")[0]
    writer._release()  # the process dies here
    flip(files, log, files.get(log).index(b"put 303"))
    with pytest.raises(CorruptFileError) as refused:
        Warehouse(files).table("t").writer()
    assert "headwater lake repair" in refused.value.hint
    assert len(verify(store(files)).problems) == 1
    assert "kept 9 records" in mend(store(files))[0]
    with Warehouse(files).table("t").writer():
        pass
    assert [k for k in rows(files) if k >= 300] == [300, 301, 302, 304, 305, 306, 307, 308, 309]


def test_a_damaged_tag_is_set_aside():
    files = made()
    path = store(files).paths.tag("first")
    flip(files, path)
    assert len(verify(store(files)).problems) == 1
    assert mend(store(files)) == [f"{path}: set aside, it or its list of files cannot be read"]
    assert Warehouse(files).table("t").tags() == {}


def test_a_damaged_schema_is_not_guessed():
    files = made()
    files.put(store(files).paths.schema(0), b"{")
    assert verify(store(files)).problems
    with pytest.raises(CorruptFileError, match="cannot be made anew"):
        mend(store(files))


@pytest.mark.parametrize("format", ["parquet", "orc", "json"])
def test_other_formats_are_checked_and_given_up_whole(format):
    files = made(**{"file.format": format})
    expected = rows(files)
    path = data_file(files, 2)
    files.put(path, files.get(path)[:40])
    assert verify(store(files)).problems
    mend(store(files))
    assert rows(files) == {k: v for k, v in expected.items() if k < 200}


def test_every_flipped_byte_of_every_file_is_found_or_harmless():
    """After any one flipped byte a table reads as before, or verify reports it and repair makes it readable."""
    sound = made()
    expected = rows(sound)
    for entry in sound.list(deep=True):
        for position in range(0, entry.size, max(1, entry.size // 7)):
            if "/schema/" in entry.path or entry.path.endswith((".json", ".table", "metadata")):
                continue  # text without a checksum
            files = made_from(sound)
            flip(files, entry.path, position)
            if verify(store(files)).problems:
                mend(store(files))
                assert [each for each in verify(store(files)).problems if "first" not in each] == [] or rows(files)
                rows(files)
            else:
                assert rows(files) == expected, (entry.path, position)


def made_from(sound: MemoryFiles) -> MemoryFiles:
    files = MemoryFiles()
    for entry in sound.list(deep=True):
        files.put(entry.path, sound.get(entry.path))
    return files


def test_errors_name_commands_that_run(tmp_path):
    with pytest.raises(HeadwaterError):
        verify(store(MemoryFiles()))
