import pytest
from tests.faulty_files import Death, Fault, FaultyFiles
from tests.lake.commits import at_level, compact, insert, live, placed

from headwater.errors import NotFoundError
from headwater.files import MemoryFiles
from headwater.lake.engine.layout import PathFactory
from headwater.lake.metadata.commit import Committer, TableChange
from headwater.lake.metadata.expire import Cleaner, Retention
from headwater.lake.metadata.snapshot import Operation

PATHS = PathFactory("db/t")
KEEP_TWO = Retention(min_snapshots=2, age_millis=0)
LATER = 1 << 50


def put_data(files, *each):
    for one in each:
        files.put(PATHS.data_file(one.file.name), b"rows")


def history(files):
    """Five inserts, a compaction of all of them, two more inserts."""
    committer = Committer(files, PATHS)
    inputs = [placed() for _ in range(5)]
    out, later = at_level(placed(), 5), [placed(), placed()]
    put_data(files, *inputs, out, *later)
    for each in inputs:
        snapshot = committer.commit(insert(each))
    committer.commit(compact(inputs, [out], snapshot.snapshot_id))
    for each in later:
        committer.commit(insert(each))
    return committer


def stored(files, folder):
    return {entry.path for entry in files.list(folder, deep=True)}


def reachable(committer):
    log, manifests = committer.log, committer.manifests
    data, meta = set(), set()
    for id in log.ids():
        name = log.get(id).manifest_list
        data |= {PATHS.data_file(entry.file.name) for entry in manifests.live(name)}
        meta |= {PATHS.manifest(name)} | {PATHS.manifest(each.name) for each in manifests.read_list(name)}
    return data, meta


def assert_exactly_what_is_reachable(files, committer):
    data, meta = reachable(committer)
    assert stored(files, PATHS.data_folder) == data
    assert stored(files, PATHS.manifest_folder) == meta


def test_no_snapshot_is_young_where_no_age_is_asked_for():
    """The store's clock goes in ticks, on some stores in whole seconds: it may be behind that of the last commits."""
    files = MemoryFiles()
    removal = Cleaner(files, PATHS, history(files)).expire(KEEP_TWO, now_millis=0)
    assert removal.snapshots == (1, 2, 3, 4, 5, 6)


def test_a_snapshot_of_just_the_age_is_not_young():
    files = MemoryFiles()
    committer = history(files)
    last = committer.log.get(committer.log.ids()[-1]).timestamp
    aged = Retention(min_snapshots=1, age_millis=1000)
    assert Cleaner(files, PATHS, committer).expire(aged, now_millis=last + 1000).snapshots == tuple(range(1, 8))


def test_expiry_leaves_exactly_what_is_reachable():
    files = MemoryFiles()
    committer = history(files)
    removal = Cleaner(files, PATHS, committer).expire(KEEP_TWO, now_millis=LATER)
    assert removal.snapshots == (1, 2, 3, 4, 5, 6)
    assert committer.log.ids() == [7, 8]
    assert committer.log.earliest_id() == 7
    assert_exactly_what_is_reachable(files, Committer(files, PATHS))
    with pytest.raises(NotFoundError) as caught:
        Committer(files, PATHS).log.get(3)
    assert caught.value.hint == "snapshots 7 to 8 are kept"


def test_what_is_held_stays():
    files = MemoryFiles()
    committer = history(files)
    tagged = committer.log.get(4)
    before = live(committer, tagged)
    Cleaner(files, PATHS, committer).expire(KEEP_TWO, now_millis=LATER, held=lambda: [tagged])
    assert live(Committer(files, PATHS), tagged) == before
    assert {PATHS.data_file(name) for name in before} <= stored(files, PATHS.data_folder)


def test_young_snapshots_stay_and_a_dry_run_removes_nothing():
    files = MemoryFiles()
    committer = history(files)
    cleaner = Cleaner(files, PATHS, committer)
    assert cleaner.expire(Retention(min_snapshots=1), now_millis=0).snapshots == ()
    before = stored(files, "")
    assert cleaner.expire(KEEP_TWO, now_millis=LATER, dry_run=True).snapshots == (1, 2, 3, 4, 5, 6)
    assert stored(files, "") == before


def test_at_most_so_many():
    files = MemoryFiles()
    committer = history(files)
    Cleaner(files, PATHS, committer).expire(Retention(1, 3), now_millis=0)
    assert committer.log.ids() == [6, 7, 8]


def test_orphans_are_found_and_young_files_spared():
    files = MemoryFiles()
    committer = history(files)
    cleaner = Cleaner(files, PATHS, committer)
    put_data(files, lost := placed())
    files.put(PATHS.manifest("manifest-lost"), b"x")
    assert cleaner.orphans(now=0.0).files == ()
    found = cleaner.orphans(now=float(LATER))
    assert set(found.files) == {PATHS.data_file(lost.file.name), PATHS.manifest("manifest-lost")}
    cleaner.orphans(now=float(LATER), dry_run=False)
    assert_exactly_what_is_reachable(files, committer)


@pytest.mark.fault
@pytest.mark.parametrize("fault", [Fault.DIE, Fault.DIE_AFTER])
def test_expiry_that_dies_anywhere_loses_nothing_that_is_kept(fault):
    number, finished = 0, False
    while not finished:
        number += 1
        disk = MemoryFiles()
        history(disk)
        kept = {id: live(Committer(disk, PATHS), Committer(disk, PATHS).log.get(id)) for id in (7, 8)}
        faulty = FaultyFiles(disk, at=number, fault=fault)
        try:
            Cleaner(faulty, PATHS, Committer(faulty, PATHS)).expire(KEEP_TWO, now_millis=LATER)
            finished = True
        except Death:
            disk = faulty.recover()
        after = Committer(disk, PATHS)
        for id, names in kept.items():
            assert live(after, after.log.get(id)) == names
            assert {PATHS.data_file(name) for name in names} <= stored(disk, PATHS.data_folder)
        again = Committer(disk, PATHS)
        Cleaner(disk, PATHS, again).expire(KEEP_TWO, now_millis=LATER)
        Cleaner(disk, PATHS, again).orphans(now=float(LATER), dry_run=False)
        assert_exactly_what_is_reachable(disk, Committer(disk, PATHS))
    assert number > 20


def test_expiry_after_an_overwrite():
    files = MemoryFiles()
    committer = history(files)
    put_data(files, new := placed())
    committer.commit(TableChange(Operation.OVERWRITE, "u", "o", 0, added=(new,), replaces=True))
    Cleaner(files, PATHS, committer).expire(Retention(1, age_millis=0), now_millis=LATER)
    assert stored(files, PATHS.data_folder) == {PATHS.data_file(new.file.name)}
