"""What happens to a reader or a compaction when another process rewrites the table and expires what was there."""

import threading
import time
from itertools import count

import pytest
from tests.effort import THOROUGH

from headwater.errors import NotFoundError, StorageError
from headwater.files import LocalFiles
from headwater.lake.tables import Warehouse
from headwater.query import connect


class Interrupted(LocalFiles):
    """A disk on which something else happens once, just before a call for a path like this."""

    def __init__(self, folder):
        super().__init__(folder)
        self.verb, self.part, self.action = "", "", lambda: None

    def before(self, verb, part, action):
        self.verb, self.part, self.action = verb, part, action

    def _meet(self, verb, path):
        if verb == self.verb and self.part in path:
            self.verb, action = "", self.action
            action()

    def get(self, path):
        self._meet("get", path)
        return super().get(path)

    def get_range(self, path, start, length):
        self._meet("get_range", path)
        return super().get_range(path, start, length)

    def map(self, path):
        self._meet("map", path)
        return super().map(path)

    def put_if_absent(self, path, data):
        self._meet("put_if_absent", path)
        super().put_if_absent(path, data)
        self._meet("after put_if_absent", path)

    def put(self, path, data, *, synced=True):
        self._meet("put", path)
        super().put(path, data, synced=synced)

    def delete(self, path):
        self._meet("delete", path)
        super().delete(path)


@pytest.fixture
def crossed(tmp_path):
    """A table on an interrupted disk, and the same table as another process has it."""
    disk = Interrupted(tmp_path)
    here, there = Warehouse(disk), Warehouse(tmp_path)
    here.create_table("default.t", {"k": "int", "v": "int"}, primary_key=["k"])
    for value in range(4):
        here.table("default.t").write([{"k": key, "v": value} for key in range(10)])
    return disk, here, there.table("default.t")


def rewrite(table):
    """Compact, write once more, and expire all that came before."""
    table.compact()
    table.write([{"k": 0, "v": 100}])
    table.expire_snapshots(keep_min=1, keep_max=1, older_than=0)


def sums(rows):
    return sum(row["v"] for row in rows)


def test_a_compaction_is_done_again(crossed):
    disk, here, there = crossed
    disk.before("map", ".sst", lambda: rewrite(there))
    here.table("default.t").compact()
    assert disk.verb == ""  # the other process did come
    assert sums(there.to_arrow().to_pylist()) == 9 * 3 + 100
    assert there.to_arrow().equals(here.table("default.t").to_arrow())


@pytest.mark.parametrize(("verb", "part"), [("put", "lease"), ("get_range", "snapshot-4")])
def test_a_scan_of_the_latest_state_reads_the_newer_one(crossed, verb, part):
    """The other process comes between the choice of a snapshot and its lease."""
    disk, here, there = crossed
    table = here.table("default.t")
    scan = table.scan()
    disk.before(verb, part, lambda: rewrite(there))
    assert sums(row for batch in scan for row in batch.to_pylist()) == 9 * 3 + 100
    assert disk.verb == ""  # it did come


def test_a_query_reads_the_newer_state(crossed):
    disk, here, there = crossed
    with connect(here) as session:
        disk.before("put", "lease", lambda: rewrite(there))
        assert session.sql("SELECT sum(v) FROM default.t").scalar() == 9 * 3 + 100


def test_a_lease_taken_in_time_keeps_the_files(crossed):
    """Another process looks for leases only after it has forgotten the snapshots."""
    disk, here, there = crossed
    scan = here.table("default.t").scan(columns=["v"])
    disk.before("map", ".sst", lambda: rewrite(there))
    assert sums(row for batch in scan for row in batch.to_pylist()) == 10 * 3
    assert disk.verb == ""


def test_a_lease_that_comes_while_snapshots_are_forgotten_holds(tmp_path):
    disk = Interrupted(tmp_path)
    here, there = Warehouse(disk), Warehouse(tmp_path)
    table = here.create_table("default.t", {"k": "int"}, primary_key=["k"])
    for key in range(3):
        table.write([{"k": key}])
    reader = there.table("default.t")
    scan = reader.scan(at=2)
    taken = []
    disk.before("delete", "snapshot-1", lambda: taken.append(next(scan)))
    table.compact()
    table.expire_snapshots(keep_min=1, keep_max=1, older_than=0)
    rows = [row["k"] for batch in (*taken, *scan) for row in batch.to_pylist()]
    assert rows == [0, 1]


def overtake(table, commits=3):
    """Commit, and expire all but the newest: the next place of a slow writer is taken, and free again."""
    for value in range(commits):
        table.write([{"k": 20 + value, "v": 0}])
        table.expire_snapshots(keep_min=1, keep_max=1, older_than=0)


@pytest.mark.parametrize("verb", ["put_if_absent", "after put_if_absent"])
def test_a_slow_writer_loses_nothing_and_lands_once(tmp_path, verb):
    """Others commit and expire before its snapshot is there, or before it looks whether it is."""
    disk = Interrupted(tmp_path)
    here, there = Warehouse(disk), Warehouse(tmp_path)
    here.create_table("default.t", {"k": "int", "v": "int"}).write([{"k": 0, "v": 0}])
    disk.before(verb, "snapshot-2", lambda: overtake(there.table("default.t")))
    here.table("default.t").write([{"k": 1, "v": 0}])
    assert disk.verb == ""
    for warehouse in (here, there, Warehouse(tmp_path)):
        rows = warehouse.table("default.t").to_arrow().column("k").to_pylist()
        assert sorted(rows) == [0, 1, 20, 21, 22]
    ids = there.table("default.t").store.committer.log.ids()
    assert ids == [*range(ids[0], ids[-1] + 1)]
    assert ids[0] > 2  # the place that the writer had chosen stays free


def test_a_writer_that_cannot_know_whether_it_landed_says_so(tmp_path):
    """More snapshots have expired since than are noted."""
    disk = Interrupted(tmp_path)
    here, there = Warehouse(disk), Warehouse(tmp_path)
    here.create_table("default.t", {"k": "int", "v": "int"}).write([{"k": 0, "v": 0}])

    def forgetful():
        overtake(there.table("default.t"))
        there.files.delete(there.table("default.t").store.paths.expired_snapshots)

    disk.before("after put_if_absent", "snapshot-2", forgetful)
    with pytest.raises(StorageError, match="has expired"):
        here.table("default.t").write([{"k": 1, "v": 0}])
    assert len(there.table("default.t").to_arrow()) == 5  # it did land, and nothing of it was removed


def test_a_snapshot_below_the_earliest_does_not_count(tmp_path):
    """A slow writer died with its snapshot in a place that had expired."""
    warehouse = Warehouse(tmp_path)
    table = warehouse.create_table("default.t", {"k": "int"}, primary_key=["k"])
    table.write([{"k": 0}])
    first = table.store.paths.snapshot(1)
    left = table.store.files.get(first)
    for key in range(1, 4):
        table.write([{"k": key}])
    table.expire_snapshots(keep_min=2, keep_max=2, older_than=0)
    table.store.files.put(first, left)
    table.store.files.delete(table.store.paths.latest_snapshot)
    other = Warehouse(tmp_path).table("default.t")
    assert (other.store.committer.log.ids(), len(other.to_arrow())) == ([3, 4], 4)
    other.expire_snapshots(keep_min=1, keep_max=1, older_than=0)
    with pytest.raises(NotFoundError):
        other.store.files.get(first)


def test_nothing_fails_or_is_lost_beside_an_expiry_of_everything(tmp_path):
    Warehouse(tmp_path).create_table("default.t", {"k": "bigint"}, primary_key=["k"])
    end, keys, landed, failures = time.monotonic() + (20 if THOROUGH else 2), count(), [], []

    def again(work):
        while time.monotonic() < end:
            try:
                work(Warehouse(tmp_path).table("default.t"))
            except Exception as err:
                failures.append(err)

    def write(table):
        key = next(keys)
        table.write([{"k": key}])
        landed.append(key)

    def read(table):
        before = set(landed)
        assert before <= set(table.to_arrow().column("k").to_pylist())

    def expire(table):
        table.expire_snapshots(keep_min=1, keep_max=1, older_than=0)

    work = (write, write, write, lambda table: table.compact(), expire, expire, read)
    threads = [threading.Thread(target=again, args=(each,)) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert set(landed) == set(Warehouse(tmp_path).table("default.t").to_arrow().column("k").to_pylist())


def test_a_file_that_is_really_missing_is_an_error(crossed):
    _, here, there = crossed
    for entry in there.store.files.list("default", deep=True):
        if "/data" in f"/{entry.path}" and not entry.is_folder and entry.name.endswith((".sst", ".parquet")):
            there.store.files.delete(entry.path)
    with pytest.raises(NotFoundError):
        here.table("default.t").to_arrow()
    with pytest.raises(NotFoundError):
        here.table("default.t").compact()
