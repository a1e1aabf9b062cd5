import multiprocessing
import threading

import pytest
from tests.faulty_files import Death, Fault, FaultyFiles
from tests.lake.commits import at_level, compact, insert, live, placed

from headwater.errors import CommitConflictError, CorruptFileError, NotFoundError, StorageError
from headwater.files import LocalFiles, MemoryFiles
from headwater.lake.engine.layout import PathFactory
from headwater.lake.metadata.commit import Committer, TableChange
from headwater.lake.metadata.snapshot import InputVersion, Operation, Origin

PATHS = PathFactory("db/t")


@pytest.fixture
def files():
    return MemoryFiles()


@pytest.fixture
def committer(files):
    return Committer(files, PATHS)


def test_an_empty_table_has_no_snapshot(committer):
    assert committer.log.latest() is None
    assert committer.log.latest_id() == -1
    with pytest.raises(NotFoundError, match="no snapshot 5") as caught:
        committer.log.get(5)
    assert caught.value.hint == "the table has no snapshots yet"


def test_commits_add_up(files, committer):
    a, b, c = placed(rows=3), placed(rows=4), placed(rows=5)
    first = committer.commit(insert(a))
    second = committer.commit(insert(b, c))
    assert (first.snapshot_id, second.snapshot_id) == (1, 2)
    assert live(committer, first) == {a.file.name}
    assert live(committer, second) == {a.file.name, b.file.name, c.file.name}
    assert (second.summary.total_records, second.summary.total_files, second.summary.added_records) == (12, 3, 9)
    again = Committer(files, PATHS)
    assert again.log.latest() == second
    assert [snapshot.snapshot_id for snapshot in again.log.newest_first()] == [2, 1]


def test_files_are_numbered_by_commit_not_by_writer(committer):
    committer.commit(insert(placed(), placed()))
    last = committer.commit(insert(placed("0-00001-late.sst")))
    (entry,) = committer.delta(last)
    assert entry.file.sequence == 3


def test_a_rewrite_keeps_the_age_of_its_rows(committer):
    a = placed()
    first = committer.commit(insert(a))
    out = at_level(placed(), 5)
    snapshot = committer.commit(compact([a], [out], first.snapshot_id))
    assert live(committer, snapshot) == {out.file.name}
    assert snapshot.next_sequence == first.next_sequence


def test_a_compaction_of_files_that_are_gone_conflicts(committer):
    a, b = placed(), placed()
    first = committer.commit(insert(a, b))
    committer.commit(compact([a, b], [at_level(placed(), 5)], first.snapshot_id))
    with pytest.raises(CommitConflictError, match="rewritten by snapshot 2"):
        committer.commit(compact([a], [at_level(placed(), 1)], first.snapshot_id))
    assert committer.log.latest_id() == 2


def test_an_insert_in_between_does_not_hinder_a_compaction(committer):
    a, b = placed(), placed()
    first = committer.commit(insert(a))
    committer.commit(insert(b))
    out = at_level(placed(), 5)
    snapshot = committer.commit(compact([a], [out], first.snapshot_id))
    assert live(committer, snapshot) == {b.file.name, out.file.name}


def test_compactions_of_other_buckets_do_not_conflict(committer):
    a, b = placed(bucket=0), placed(bucket=1)
    first = committer.commit(insert(a, b))
    committer.commit(compact([a], [at_level(placed(bucket=0), 5)], first.snapshot_id))
    committer.commit(compact([b], [at_level(placed(bucket=1), 5)], first.snapshot_id))
    assert committer.log.latest_id() == 3


def test_overwrite_removes_what_is_there_when_it_lands(committer):
    a, b = placed(partition=("x",)), placed(partition=("y",))
    committer.commit(insert(a, b))
    new = placed(partition=("x",))
    change = TableChange(Operation.OVERWRITE, "u", "o", 0, added=(new,), replaces=True, replaced=frozenset({("x",)}))
    assert live(committer, committer.commit(change)) == {b.file.name, new.file.name}
    everything = TableChange(Operation.OVERWRITE, "u", "p", 0, replaces=True)
    assert live(committer, committer.commit(everything)) == set()


def test_a_replayed_commit_lands_once(files, committer):
    change = insert(placed(), user="stream", id="7", replayed=True)
    first = committer.commit(change)
    committer.commit(insert(placed()))
    assert Committer(files, PATHS).commit(change) == first
    assert committer.log.latest_id() == 2


def test_the_origin_is_kept(files, committer):
    origin = Origin(run_id="r1", inputs=(InputVersion(dataset="db.raw", snapshot_id=4, columns=("a", "b")),))
    committer.commit(insert(placed(), origin=origin))
    assert Committer(files, PATHS).log.latest().origin == origin


@pytest.mark.parametrize("hint", [b"1", b"99", b"rubbish", None])
def test_hints_may_be_wrong(files, committer, hint):
    for _ in range(3):
        committer.commit(insert(placed()))
    for path in (PATHS.latest_snapshot, PATHS.earliest_snapshot):
        files.delete(path) if hint is None else files.put(path, hint)
    log = Committer(files, PATHS).log
    assert (log.earliest_id(), log.latest_id()) == (1, 3)


def test_many_commits_merge_their_manifests(committer):
    names = set()
    for _ in range(100):
        each = placed()
        names.add(each.file.name)
        snapshot = committer.commit(insert(each))
    assert live(committer, snapshot) == names
    assert len(committer.manifests.read_list(snapshot.manifest_list)) <= 31


def test_merging_keeps_removals_of_older_files(committer, monkeypatch):
    monkeypatch.setattr("headwater.lake.metadata.manifest._SMALL", 2000)
    old = [placed() for _ in range(30)]
    first = committer.commit(insert(*old))  # a large manifest
    snapshot = committer.commit(compact(old[:5], [at_level(placed(), 5)], first.snapshot_id))
    for _ in range(40):
        snapshot = committer.commit(insert(placed()))
    assert len(live(committer, snapshot)) == 30 - 5 + 1 + 40
    assert len(live(committer, first)) == 30


def test_a_compaction_rewrites_manifests_that_tell_of_the_dead(committer, monkeypatch):
    monkeypatch.setattr("headwater.lake.metadata.manifest._SMALL", 2000)
    files = [placed() for _ in range(50)]
    committer.commit(insert(*files))
    gone = committer.commit(TableChange(Operation.DELETE, "u", "1", 0, removed=tuple(files[:40]), base=1))
    committer.commit(insert(placed("0-00001-new.sst")))
    assert len(committer.manifests.read_list(committer.log.latest().manifest_list)) == 3
    last = committer.commit(compact(files[40:45], [placed("1-00001-packed.sst", level=1)], gone.snapshot_id + 1))
    rewritten, delta = committer.manifests.read_list(last.manifest_list)
    assert (rewritten.added, rewritten.removed) == (11, 0)
    assert (delta.added, delta.removed) == (1, 5)
    names = {each.file.name for each in files[45:]} | {"0-00001-new.sst", "1-00001-packed.sst"}
    assert live(committer, last) == names
    assert live(committer, committer.log.get(1)) == {each.file.name for each in files}


def test_partitions_and_buckets_prune(committer):
    a, b = placed(partition=("x",), bucket=0), placed(partition=("y",), bucket=3)
    snapshot = committer.commit(insert(a, b))
    only = committer.manifests.live(snapshot.manifest_list, partition=("y",), bucket=3)
    assert [entry.file.name for entry in only] == [b.file.name]


@pytest.mark.fault
def test_damage_is_noticed(files, committer):
    committer.commit(insert(placed()))
    snapshot = committer.log.latest()
    for path in (
        PATHS.snapshot(1),
        PATHS.manifest(snapshot.manifest_list),
        PATHS.manifest(snapshot.delta_manifest),
    ):
        whole = files.get(path)
        for at in range(0, len(whole), 3):
            bad = bytearray(whole)
            bad[at] ^= 1
            files.put(path, bytes(bad))
            fresh = Committer(files, PATHS)
            try:
                names = live(fresh, fresh.log.get(1))
            except CorruptFileError:
                continue
            assert names == live(committer, snapshot), f"{path}: byte {at}"  # white space, which means nothing
        files.put(path, whole)


@pytest.mark.fault
@pytest.mark.parametrize("fault", list(Fault))
def test_a_fault_at_any_call_leaves_the_old_or_the_new(fault):
    """At the n-th call the power goes, or the call fails, or its answer is lost; then look again."""
    number, finished = 0, False
    while not finished:
        number += 1
        first, new = placed(), placed()
        disk = MemoryFiles()
        Committer(disk, PATHS).commit(insert(first))
        faulty = FaultyFiles(disk, at=number, fault=fault)
        done = False
        try:
            Committer(faulty, PATHS).commit(insert(new))
            done = True
        except (Death, StorageError):
            pass
        finished = faulty.calls < number
        after = Committer(faulty.recover(), PATHS)
        if done:
            assert after.log.latest_id() == 2, "a commit that was acknowledged must be there"
        expected = {first.file.name} if after.log.latest_id() == 1 else {first.file.name, new.file.name}
        assert live(after, after.log.latest()) == expected
        assert after.commit(insert(placed())).snapshot_id == after.log.latest_id()
    assert number > 6


class Forgetful(MemoryFiles):
    """A store whose client tries again after a lost answer, and is then told that the file exists."""

    def put_if_absent(self, path, data):
        super().put_if_absent(path, data)
        super().put_if_absent(path, data)


def test_a_commit_whose_answer_was_lost_is_recognised():
    files = Forgetful()
    committer = Committer(files, PATHS)
    each = placed()
    snapshot = committer.commit(insert(each))
    assert snapshot.snapshot_id == 1
    assert live(Committer(files, PATHS), snapshot) == {each.file.name}


def commit_many(folder, worker, count):
    committer = Committer(LocalFiles(folder), PATHS)
    for number in range(count):
        committer.commit(insert(placed(f"0-{worker:05d}-{number:016x}.sst"), user=f"w{worker}", id=str(number)))


def test_processes_commit_together(tmp_path):
    workers, count = 4, 25
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=commit_many, args=(str(tmp_path), n, count)) for n in range(workers)]
    for process in processes:
        process.start()
    stop, problems = threading.Event(), []

    def watch():
        seen = 0
        while not stop.is_set():
            reader = Committer(LocalFiles(tmp_path), PATHS)
            snapshot = reader.log.latest()
            if snapshot is not None:
                names = live(reader, snapshot)
                if len(names) != snapshot.snapshot_id or len(names) < seen:
                    problems.append((snapshot.snapshot_id, len(names)))
                seen = len(names)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for process in processes:
        process.join()
    stop.set()
    watcher.join()
    assert [process.exitcode for process in processes] == [0] * workers
    assert problems == []
    committer = Committer(LocalFiles(tmp_path), PATHS)
    latest = committer.log.latest()
    assert latest.snapshot_id == workers * count
    assert len(live(committer, latest)) == workers * count
    assert latest.summary.total_files == workers * count
