"""Crashes of tables: die at every call to the store in turn; afterwards the table is the old one or the new one."""

from collections.abc import Callable

import pytest
from tests.effort import first_then_slow
from tests.faulty_files import Death, Fault, FaultyFiles

from headwater import Table, Warehouse
from headwater.errors import HeadwaterError
from headwater.files import MemoryFiles
from headwater.lake.metadata.schema_change import AddColumn, RenameColumn
from headwater.model.types import INT

pytestmark = pytest.mark.fault

COLUMNS = {"k": "INT", "v": "STRING"}


def create(warehouse: Warehouse) -> Table:
    return warehouse.create_table("t", COLUMNS, primary_key="k", options={"bucket": "2", "wal.fsync": "always"})


def old_state(warehouse: Warehouse) -> None:
    """Some history: four snapshots, a compaction, a tag, and a table without a key."""
    table = create(warehouse)
    table.write([(k, "a") for k in range(8)])
    table.write([(k, "b") for k in range(4)])
    table.create_tag("b", 2)
    table.delete([7])
    table.compact()
    table.write([(k, "c") for k in range(2)])
    events = warehouse.create_table("e", COLUMNS)
    events.write([(k, "x") for k in range(5)])
    events.write([(k, "y") for k in range(5)])


def put_rows(warehouse: Warehouse) -> None:
    with warehouse.table("t").writer() as writer:
        writer.put((100, "row"))
        writer.put((101, "row"))


STEPS: dict[str, Callable[[Warehouse], object]] = {
    "write": lambda w: w.table("t").write([(k, "new") for k in range(20)]),
    "delete": lambda w: w.table("t").delete([0, 1]),
    "overwrite": lambda w: w.table("t").overwrite([(1, "only")]),
    "compact": lambda w: w.table("t").compact(),
    "rollback": lambda w: w.table("t").rollback("b"),
    "expire": lambda w: w.table("t").expire_snapshots(keep_max=1),
    "delete a tag": lambda w: w.table("t").delete_tag("b"),
    "alter": lambda w: w.table("t").alter(AddColumn("n", INT), RenameColumn("v", "w")),
    "rewrite": lambda w: w.table("e").delete(where=()),
    "pack": lambda w: w.table("e").compact(),
    "rows": put_rows,
    "rename": lambda w: w.rename_table("t", "u"),
    "create": lambda w: w.create_table("more", COLUMNS, if_not_exists=True),
    "drop": lambda w: w.drop_table("t"),
}


def content(warehouse: Warehouse) -> dict[str, object]:
    """Everything that can be seen: rows and columns of every table, now and at every snapshot and tag."""
    seen: dict[str, object] = {}
    for name in warehouse.list_tables():
        table = warehouse.table(name)
        seen[name] = table.schema.names, sorted(map(tuple, (r.values() for r in table.to_arrow().to_pylist())))
        for tag in table.tags():
            seen[f"{name}@{tag}"] = sorted(map(tuple, (r.values() for r in table.to_arrow(at=tag).to_pylist())))
    return seen


def everything_kept_is_readable(warehouse: Warehouse) -> None:
    for name in warehouse.list_tables():
        table = warehouse.table(name)
        for snapshot in table.snapshots():
            assert table.to_arrow(at=snapshot.snapshot_id).num_rows >= 0


def clean_up(warehouse: Warehouse) -> None:
    """The cleaner finds what the crash left, and after it there is nothing left to find."""
    for name in warehouse.list_tables():
        table = warehouse.table(name)
        table.remove_orphans(older_than=-10, dry_run=False)
        assert table.remove_orphans(older_than=-10).files == ()


def seed() -> MemoryFiles:
    disk = MemoryFiles()
    old_state(Warehouse(disk))
    return disk


def copied(disk: MemoryFiles) -> MemoryFiles:
    copy = MemoryFiles()
    for entry in disk.list(deep=True):
        copy.put(entry.path, disk.get(entry.path))
    return copy


@pytest.mark.parametrize(
    "death", first_then_slow([(Fault.DIE, 0.0), (Fault.DIE, 1.0), (Fault.DIE_AFTER, 0.0), (Fault.DIE_AFTER, 1.0)])
)
@pytest.mark.parametrize("step", STEPS)
def test_a_table_that_dies_is_the_old_or_the_new_one(step: str, death: tuple[Fault, float]) -> None:
    fault, kept = death
    start = seed()
    old = content(Warehouse(copied(start)))
    done = Warehouse(copied(start))
    STEPS[step](done)
    states = [old, content(done)]
    if step == "rows":  # each acknowledged row is kept: the next writer commits what the log holds
        states += [{**old, "t": (old["t"][0], sorted([*old["t"][1], (100, "row")]))}]  # type: ignore[index]
    if step == "rename":  # for a moment both names lead to the table
        states += [{**old, **states[1]}]
    number, finished = 0, False
    while not finished:
        number += 1
        faulty = FaultyFiles(copied(start), at=number, fault=fault)
        try:
            STEPS[step](Warehouse(faulty))
            finished = True
        except Death:
            pass
        disk = faulty.recover(kept=kept)
        after = Warehouse(disk)
        if step == "rows":
            after.table("t").writer().close()
        assert content(after) in states, f"{step} died at call {number}: {faulty.trace[-1]}"
        everything_kept_is_readable(after)
        clean_up(after)
        assert content(after) in states
        if step not in ("delete a tag", "rename", "drop", "alter"):
            STEPS[step](after)
            clean_up(after)
    assert number > 3


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_call_that_fails_once_leaves_the_old_or_the_new_table(step: str) -> None:
    """The process goes on after the error, and the next attempt succeeds."""
    start = seed()
    old = content(Warehouse(copied(start)))
    done = Warehouse(copied(start))
    STEPS[step](done)
    states = [old, content(done)]
    if step == "rows":
        states += [{**old, "t": (old["t"][0], sorted([*old["t"][1], (100, "row")]))}]  # type: ignore[index]
    if step == "rename":
        states += [{**old, **states[1]}]
    for fault in (Fault.FAIL, Fault.LOSE_REPLY):
        number, finished = 0, False
        while not finished:
            number += 1
            faulty = FaultyFiles(copied(start), at=number, fault=fault)
            warehouse = Warehouse(faulty)
            try:
                STEPS[step](warehouse)
                finished = faulty.calls < number
            except HeadwaterError:
                pass
            if step == "rows":
                Warehouse(faulty.inner).table("t").writer().close()
            assert content(Warehouse(faulty.inner)) in states, f"{step} failed at call {number}: {faulty.trace[-1]}"
            clean_up(Warehouse(faulty.inner))
            assert content(Warehouse(faulty.inner)) in states


@pytest.mark.parametrize("kept", [0.0, 1.0])
@pytest.mark.parametrize("fault", [Fault.DIE, Fault.DIE_AFTER])
def test_rows_put_one_by_one_count_once(fault: Fault, kept: float) -> None:
    """Each row adds one: what was acknowledged is counted, and nothing is counted twice."""
    options = {"merge-engine": "aggregation", "fields.n.aggregate-function": "sum"}
    number, finished = 0, False
    while not finished:
        number += 1
        disk = MemoryFiles()
        Warehouse(disk).create_table("t", {"k": "INT", "n": "INT"}, primary_key="k", options=options)
        faulty = FaultyFiles(disk, at=number, fault=fault)
        tried = acknowledged = 0
        try:
            writer = Warehouse(faulty).table("t").writer()
            for turn in range(6):
                tried += 1
                writer.put((1, 1))
                acknowledged += 1
                if turn % 3 == 2:
                    writer.flush()
            writer.close()
            finished = True
        except Death:
            pass
        after = Warehouse(faulty.recover(kept=kept)).table("t")
        for _ in range(2):  # a second recovery finds nothing to do
            after.writer().close()
            row = after.get(1)
            assert acknowledged <= (0 if row is None else row["n"]) <= tried, f"at call {number}: {faulty.trace[-1]}"
        assert after.store.files.list(after.store.paths.rows_folder, deep=True) == []
    assert number > 20


def test_a_log_written_under_an_older_schema_is_recovered() -> None:
    disk = MemoryFiles()
    create(Warehouse(disk))
    faulty = FaultyFiles(disk)
    writer = Warehouse(faulty).table("t").writer()
    writer.put((1, "left behind"))
    table = Warehouse(faulty.recover(kept=1.0)).table("t")
    table.alter(AddColumn("n", INT, after=""), RenameColumn("v", "w"))
    for _ in range(12):
        table.write([(0, 2, "b")])
    assert table.get(1) is None
    table.writer().close()
    row = table.get(1)
    assert row is not None
    assert row.values == (None, 1, "left behind")


def test_expiry_keeps_what_shows_that_a_log_has_landed() -> None:
    """The writer dies after its commit, before it removes the log; others go on, and snapshots expire."""
    disk = MemoryFiles()
    table = create(Warehouse(disk))
    faulty = FaultyFiles(disk)
    writer = Warehouse(faulty).table("t").writer()
    writer.put((1, "old"))
    log = next(entry.path for entry in disk.list(table.store.paths.rows_folder, deep=True))
    content_of_log = disk.get(log)
    writer.flush()
    faulty.recover(kept=1.0)
    disk.put(log, content_of_log)  # its removal did not survive
    table = Warehouse(disk).table("t")
    for turn in range(5):
        table.write([(1, f"newer {turn}")])
    table.expire_snapshots(keep_max=1)
    table.writer().close()
    row = table.get(1)
    assert row is not None
    assert row["v"] == "newer 4"
    table.expire_snapshots(keep_max=1)
    assert len(table.snapshots()) == 1
