"""Time travel, tags, rollback, changes, history, clean-up."""

import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headwater import Warehouse
from headwater.errors import AlreadyExistsError, NotFoundError, NotWritableError, UsageError
from headwater.files import LocalFiles, MemoryFiles
from headwater.lake.engine.sst.reader import SSTableReader
from headwater.lake.metadata.snapshot import Operation
from headwater.lake.metadata.store_clock import store_time


@pytest.fixture
def table():
    """Key 1 in five versions, key 2 that came and went."""
    warehouse = Warehouse(MemoryFiles())
    table = warehouse.create_table("t", {"k": "INT", "v": "STRING"}, primary_key="k", options={"bucket": "2"})
    table.write([(1, "a")])
    table.write([(1, "b"), (2, "x")])
    table.delete([2])
    table.write([(1, "b")])
    table.write([(1, "c"), (3, "z")])
    return table


def content(table, at=None):
    return {row["k"]: row["v"] for row in table.to_arrow(at=at).to_pylist()}


def test_every_way_to_name_a_moment(table):
    table.create_tag("release-1", 2)
    now = datetime.now(UTC)
    for at in (2, "2", "@-3", "release-1"):
        assert content(table, at) == {1: "b", 2: "x"}
    for at in (now, now.replace(tzinfo=None), str(now), now.isoformat(), "0 seconds ago", "@0", None):
        assert content(table, at) == {1: "c", 3: "z"}
    assert table.get(1, at=1)["v"] == "a"
    assert [row and row["v"] for row in table.multi_get([3, 1, 2], at=2)] == [None, "b", "x"]
    early = now - timedelta(days=1)
    for at in (early, early.date(), "1 day ago", "2h ago", "2020-01-01", "2020-01-01 09:30"):
        with pytest.raises(NotFoundError, match="no snapshot as old as"):
            table.to_arrow(at=at)
    with pytest.raises(NotFoundError, match="no snapshot 9") as caught:
        table.to_arrow(at=9)
    assert caught.value.hint == "snapshots 1 to 6 are kept"  # the last is a compaction
    with pytest.raises(NotFoundError) as caught:
        table.to_arrow(at="relaese-1")
    assert caught.value.hint == "did you mean `release-1`?"
    for at in ("soon, maybe", "@1", "3 blinks ago", True):
        with pytest.raises(UsageError):
            table.to_arrow(at=at)


def test_snapshots_by_time(table):
    log = table.store.committer.log
    for id in log.ids():
        moment = datetime.fromtimestamp(log.get(id).timestamp / 1000, UTC)
        found = table.snapshot(moment)
        assert found.timestamp == log.get(id).timestamp
        assert found.snapshot_id >= id


def test_changes_and_diff(table):
    def kinds(start, end=None):
        return sorted((row["_kind"], row["k"], row["v"]) for row in table.changes(start, end).read_all().to_pylist())

    assert kinds(0, 1) == [("+I", 1, "a")]
    assert kinds(1, 2) == [("+I", 2, "x"), ("+U", 1, "b"), ("-U", 1, "a")]
    assert kinds(2, 3) == [("-D", 2, "x")]
    assert kinds(3, 4) == []
    assert kinds(1) == [("+I", 3, "z"), ("+U", 1, "c"), ("-U", 1, "a")]
    table.compact()
    assert kinds(5) == []
    differences = {row["k"]: (row["_kind"], row["before"], row["after"]) for row in table.diff(2).to_pylist()}
    assert differences == {
        1: ("U", {"k": 1, "v": "b"}, {"k": 1, "v": "c"}),
        2: ("-D", {"k": 2, "v": "x"}, None),
        3: ("+I", None, {"k": 3, "v": "z"}),
    }


def test_history_of_a_row_with_nan_has_no_changes_that_were_none():
    table = Warehouse(MemoryFiles()).create_table(
        "t", {"k": "INT", "v": "DOUBLE", "a": "ARRAY<FLOAT>"}, primary_key="k"
    )
    table.write([(2, float("nan"), [float("nan")])])
    table.write([(1, 0.0, []), (3, 0.0, [])])
    table.rollback(1)
    table.write([(2, 1.0, [float("nan")])])
    assert [(each.snapshot_id, each.kind) for each in table.history(2)] == [(1, "+I"), (4, "U")]


def test_history_of_a_key(table):
    table.compact()
    table.rollback(2)

    def told(key):
        return [(v.snapshot_id, v.kind, v.row and v.row["v"]) for v in table.history(key)]

    last = table.snapshot().snapshot_id
    assert told(1) == [(1, "+I", "a"), (2, "U", "b"), (5, "U", "c"), (last, "U", "b")]
    assert told(2) == [(2, "+I", "x"), (3, "-D", None), (last, "+I", "x")]
    assert told(99) == []


def test_rollback_brings_everything_back(table):
    table.compact()
    snapshot = table.rollback(2)
    assert snapshot.operation is Operation.ROLLBACK
    assert content(table) == {1: "b", 2: "x"}
    assert content(table, "@-1") == {1: "c", 3: "z"}
    table.write([(2, "y")])
    assert content(table) == {1: "b", 2: "y"}
    table.compact()
    table.expire_snapshots(keep_max=1)
    assert content(table) == {1: "b", 2: "y"}
    assert_clean(table)


def test_expiry_spares_tags_and_readers(table):
    table.create_tag("kept", 2)
    with pytest.raises(AlreadyExistsError):
        table.create_tag("kept", 3)
    for name in ("5", "@-1", "", "a/b", ".."):
        with pytest.raises(UsageError):
            table.create_tag(name)
    scan = table.scan(at=1)
    first = next(scan)
    table.compact()
    with table.lease(3):
        removal = table.expire_snapshots(keep_max=1)
        assert removal.snapshots == tuple(range(1, table.snapshot().snapshot_id))
        assert content(table, "kept") == {1: "b", 2: "x"}
        assert content(table, 2) == {1: "b", 2: "x"}  # by the id of a tagged snapshot, too
        assert first.num_rows == 1
        assert table.remove_orphans(older_than=-10).files == ()
        assert list(scan) == []
    with pytest.raises(NotFoundError):
        table.to_arrow(at=3)
    table.delete_tag("kept")
    table.remove_orphans(older_than=-10, dry_run=False)
    assert content(table) == {1: "c", 3: "z"}
    assert_clean(table)


def test_a_scan_of_the_past_is_leased_from_the_start(table):
    rows = table.scan(at=2)
    first = next(rows).to_pylist()
    assert len(table.store.files.list(table.store.paths.lease_folder)) == 1
    Warehouse(table.store.files).table("t").expire_snapshots(keep_min=1, keep_max=1)  # as another process would
    rest = [row for batch in rows for row in batch.to_pylist()]
    assert {row["k"]: row["v"] for row in (*first, *rest)} == {1: "b", 2: "x"}
    assert table.store.files.list(table.store.paths.lease_folder) == []


def test_a_long_scan_takes_a_lease_that_others_see(table, monkeypatch):
    monkeypatch.setattr("headwater.lake.metadata.leases._PATIENCE", 0.0)
    scan = table.scan(at=2)
    rows = next(scan).num_rows
    other = Warehouse(table.store.files).table("t")  # another process knows nothing but the file
    other.compact()
    other.expire_snapshots(keep_max=1)
    assert other.remove_orphans(older_than=-10).files == ()
    assert rows + sum(batch.num_rows for batch in scan) == 2
    assert table.store.files.list(table.store.paths.lease_folder) == []
    assert other.remove_orphans(older_than=-10, dry_run=False).files != ()
    assert_clean(other)


def test_a_tag_outlives_its_snapshot_and_takes_its_files_along(table):
    table.create_tag("kept", 2)
    table.compact()
    table.expire_snapshots(keep_max=1)
    table.rollback("kept")
    assert content(table) == {1: "b", 2: "x"}
    table.expire_snapshots(keep_max=1)
    table.delete_tag("kept")
    assert content(table) == {1: "b", 2: "x"}
    assert_clean(table)


def assert_clean(table):
    """Files on disk are exactly those that snapshots and tags can reach."""
    assert table.remove_orphans(older_than=-10).files == ()
    store = table.store
    for snapshot in [*table.snapshots(), *table.tags().values()]:
        for entry in store.live(snapshot):
            assert store.files.get_range(store.paths.data_file(entry.file.name), 0, 1)


@pytest.mark.parametrize("type", ["BIGINT", "STRING"])
def test_changes_are_read_a_piece_at_a_time(type, monkeypatch):
    """With pieces of a few rows, changes and differences are those of the whole."""
    monkeypatch.setattr("headwater.lake.engine.scan.PIECE_ROWS", 40)
    options = {"file.block-size": "512", "write-only": "true"}
    table = Warehouse(MemoryFiles()).create_table("t", {"k": type, "v": "INT"}, primary_key="k", options=options)
    named = str if type == "STRING" else int
    table.write([(named(k), 0) for k in range(1000)])
    table.write([(named(k), 1) for k in range(300, 500, 3)])
    table.delete([named(k) for k in range(480, 520)])
    table.write([(named(k), 0) for k in range(990, 1010)])
    before, after = ({row["k"]: row["v"] for row in table.to_arrow(at=at).to_pylist()} for at in (1, 4))
    batches = list(table.changes(1, 4))
    assert len(batches) > 3
    kinds = {}
    for row in (row for batch in batches for row in batch.to_pylist()):
        kinds.setdefault(row["_kind"], {})[row["k"]] = row["v"]
    assert kinds["-D"] == {k: v for k, v in before.items() if k not in after}
    assert kinds["+I"] == {k: v for k, v in after.items() if k not in before}
    changed = {k for k in before if k in after and before[k] != after[k]}
    assert kinds["-U"] == {k: before[k] for k in changed}
    assert kinds["+U"] == {k: after[k] for k in changed}
    assert len(table.diff(1, 4)) == len(kinds["-D"]) + len(kinds["+I"]) + len(changed)


def test_only_the_keys_that_can_differ_are_read(monkeypatch):
    table = Warehouse(MemoryFiles()).create_table(
        "t", {"k": "BIGINT", "v": "INT"}, primary_key="k", options={"file.block-size": "512"}
    )
    table.write([(k, 0) for k in range(10_000)])
    table.write([(5_000, 1)])
    read = []
    original = SSTableReader._open
    monkeypatch.setattr(SSTableReader, "_open", lambda self, *args: read.append(1) or original(self, *args))
    assert [row["_kind"] for batch in table.changes(1, 2) for row in batch.to_pylist()] == ["-U", "+U"]
    assert len(read) < 8


class OtherClock(MemoryFiles):
    """A store whose clock is not ours."""

    def __init__(self, ahead):
        super().__init__()
        self.ahead = ahead

    def list(self, folder="", *, deep=False):
        return [replace(each, modified=each.modified + self.ahead) for each in super().list(folder, deep=deep)]


@pytest.mark.parametrize("ahead", [-7200, 7200])
def test_the_age_of_files_is_told_by_the_clock_of_their_store(ahead):
    files = OtherClock(ahead)
    lake = Warehouse(files)
    lake.create_database("d")
    table = lake.create_table("d.t", {"k": "INT NOT NULL"}, primary_key="k")
    table.write([(1,)])
    files.put("d/t/data/bucket-0/0-00000-0123456789abcdef.sst", b"of a writer at work")
    files.put("d/making/schema/schema-0", b"of a table that is being made")
    assert table.remove_orphans(older_than=60).files == ()
    assert lake.remove_orphans(older_than=60).files == ()
    assert len(table.remove_orphans(older_than=0).files) == 1
    with table.lease(seconds=60):
        table.write([(2,)])
        table.expire_snapshots(keep_min=1, older_than=0)
        assert table.store.leases.held(files.list("d/t/lease")[0].modified) != []
    assert [each for each in files.list(deep=True) if "clock" in each.path] == []


def test_without_a_place_to_write_the_newest_file_tells_the_time(tmp_path):
    class Full(LocalFiles):
        def put(self, path, data, *, synced=True):
            raise NotWritableError("no space")

    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a").write_bytes(b"")
    os.utime(tmp_path / "f" / "a", (5000, 5000))
    assert store_time(Full(tmp_path), "f") == 5000


def test_expiry_keeps_the_commit_of_a_log_that_is_still_there_whatever_the_clocks_say(tmp_path, monkeypatch):
    """A row writer died between its commit and the removal of its log: only the snapshot says that rows landed."""
    table = Warehouse(tmp_path).create_table("default.t", {"k": "INT NOT NULL", "v": "INT"}, primary_key="k")
    table.write([(9, 0)])
    writer = table.writer()
    writer.put((1, 1))
    log = next(iter((tmp_path / "default" / "t" / "rows").rglob("*.log")))
    content = log.read_bytes()
    writer.close()
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(content)
    for turn in range(5):
        table.write([(1, 10 + turn)])
    monkeypatch.setattr("headwater.lake.tables.maintenance.store_time", lambda files, folder: time.time() + 1e6)
    table.expire_snapshots(keep_min=1, older_than=0)
    assert table.snapshots()[0].commit_user == "rows"
    table.writer().close()
    assert table.get(1)["v"] == 14
    table.expire_snapshots(keep_min=1, older_than=0)
    assert len(table.snapshots()) == 1
