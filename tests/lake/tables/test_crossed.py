"""What happens to a reader or a compaction when another process rewrites the table and expires what was there."""

import pytest

from headwater.errors import NotFoundError
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


def test_a_file_that_is_really_missing_is_an_error(crossed):
    _, here, there = crossed
    for entry in there.store.files.list("default", deep=True):
        if "/data" in f"/{entry.path}" and not entry.is_folder and entry.name.endswith((".sst", ".parquet")):
            there.store.files.delete(entry.path)
    with pytest.raises(NotFoundError):
        here.table("default.t").to_arrow()
    with pytest.raises(NotFoundError):
        here.table("default.t").compact()
