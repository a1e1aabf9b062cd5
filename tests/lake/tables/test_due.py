"""Writes compact what they have filled, and never fail by it."""

import threading

import pytest

from headwater import Warehouse
from headwater.errors import CommitConflictError
from headwater.files import MemoryFiles
from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables import maintenance


def table_of(key="k", **options):
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return Warehouse(MemoryFiles()).create_table("t", {"k": "BIGINT", "v": "STRING"}, primary_key=key, options=named)


def compactions(table):
    return [each.snapshot_id for each in table.snapshots() if each.operation is Operation.COMPACT]


@pytest.mark.parametrize("key", ["k", ()])
def test_the_commit_that_fills_the_measure_compacts(key):
    table = table_of(key)
    for turn in range(4):
        assert table.write([(turn, "a")]).snapshot_id == turn + 1
    assert compactions(table) == []
    assert table.write([(4, "a")]).snapshot_id == 5, "what is returned is the write, not the compaction"
    assert compactions(table) == [6]
    assert table.stats().files == 1
    assert sorted(row["k"] for row in table.to_arrow().to_pylist()) == [0, 1, 2, 3, 4]
    for turn in range(5, 40):
        table.write([(turn, "a")])
    assert table.stats().most_runs < 10
    assert sorted(row["k"] for row in table.to_arrow().to_pylist()) == list(range(40))


@pytest.mark.parametrize("options", [{"write_only": "true"}, {"compaction.auto": "false"}])
def test_it_can_be_switched_off(options):
    table = table_of(**options)
    for turn in range(12):
        table.write([(turn, "a")])
    assert table.stats().files == 12


def test_only_buckets_that_were_written_are_compacted():
    warehouse = Warehouse(MemoryFiles())
    table = warehouse.create_table(
        "t", {"day": "STRING", "k": "BIGINT"}, primary_key=["day", "k"], partition_by="day"
    )
    for turn in range(4):
        table.write([("monday", turn), ("tuesday", turn)])
    table.write([("monday", 4)])
    left = {place[0]: len(files) for place, files in table.store.latest().places.items()}
    assert left == {("monday",): 1, ("tuesday",): 4}


def test_rows_put_one_by_one_are_compacted_too():
    table = table_of()
    with table.writer() as writer:
        for turn in range(5):
            writer.put((turn, "a"))
            writer.flush()
    assert table.stats().files == 1


def test_a_compaction_that_others_cross_is_given_up_and_counted(monkeypatch):
    table = table_of()

    for turn in range(4):
        table.write([(turn, "a")])

    def refused(store, change):
        raise CommitConflictError("somebody else was faster")

    monkeypatch.setattr(maintenance, "commit_compaction", refused)
    assert table.write([(4, "a")]).operation is Operation.INSERT
    assert table.stats().compactions_given_up == 1
    assert len(table.to_arrow()) == 5


def test_of_many_writers_few_compact():
    table = table_of()
    gate = threading.Barrier(4)

    def work(me):
        gate.wait()
        for turn in range(25):
            table.write([(me * 100 + turn, "a")])

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(table.to_arrow()) == 100
    assert 0 < len(compactions(table)) + table.stats().compactions_given_up <= 100 // 5 + 5
    assert table.remove_orphans(older_than=-10).files == ()


def test_appended_files_are_written_anew_a_few_times_only():
    table = table_of(())
    for turn in range(200):
        table.write([(turn, "some text that takes some room")] * 5)
    written = sum(snapshot.summary.added_records for snapshot in table.snapshots())
    assert written < 1000 * 8
    assert [row["k"] for row in table.to_arrow().to_pylist()] == [turn for turn in range(200) for _ in range(5)]
