"""Crashes: at every call to the store in turn, and by kill -9 of a real process.

After a restart the tree holds every acknowledged write, perhaps the one that was under way, and nothing between.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.effort import THOROUGH, first_then_slow
from tests.faulty_files import Death, Fault, FaultyFiles

from headwater.errors import CorruptFileError, HeadwaterError, StorageError
from headwater.files import LocalFiles, MemoryFiles
from headwater.lake import BlockCache, LSMTree
from headwater.lake.engine.types import schema_of
from headwater.lake.tables import Warehouse
from headwater.lake.tools.torture import Victim, torture
from headwater.model.schema import Schema

pytestmark = pytest.mark.fault

PLAIN = schema_of(pa.schema([("id", pa.int64()), ("name", pa.string())]), ("id",))
OPTIONS = {"memtable.size": "64 KB", "num-sorted-run.compaction-trigger": "3", "compaction.auto": "false"}
SCHEMA = Schema(PLAIN.fields, PLAIN.primary_keys, options=OPTIONS)
SUMS = Schema(
    schema_of(pa.schema([("id", pa.int64()), ("n", pa.int64())]), ("id",)).fields,
    ("id",),
    options=OPTIONS | {"merge-engine": "aggregation", "fields.n.aggregate-function": "sum"},
)
Model = dict[int, str]
Step = tuple[str, Callable[[Any], object], Callable[[Model], object]]


class TreeDoor:
    """A tree in a folder of its own."""

    def __init__(self, files: Any, schema: Schema = SCHEMA) -> None:
        self.tree = LSMTree(files, schema, cache=BlockCache(0))
        self.put, self.delete, self.flush = self.tree.put, self.tree.delete, self.tree.flush
        self.compact, self.close, self.get = self.tree.compact, self.tree.close, self.tree.get

    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.tree.to_arrow().to_pylist()
        return rows


class TableDoor:
    """The row writer of a table of two buckets."""

    def __init__(self, files: Any, schema: Schema = SCHEMA) -> None:
        schema = Schema(schema.fields, schema.primary_keys, options=schema.options | {"bucket": "2"})
        self.table = Warehouse(files).create_table("t", schema, if_not_exists=True)
        self.writer = self.table.writer()
        self.put, self.delete, self.flush = self.writer.put, self.writer.delete, self.writer.flush
        self.compact, self.close, self.get = self.table.compact, self.writer.close, self.writer.get

    def rows(self) -> list[dict[str, Any]]:
        self.writer.flush()
        rows: list[dict[str, Any]] = self.table.to_arrow().to_pylist()
        return rows


both_doors = pytest.mark.parametrize("door", [TreeDoor, TableDoor])


def put(key: int, name: str) -> Step:
    return f"put {key}", lambda door: door.put((key, name)), lambda model: model.update({key: name})


def delete(key: int) -> Step:
    return f"delete {key}", lambda door: door.delete(key), lambda model: model.pop(key, None)


def unchanged(name: str) -> Step:
    return name, lambda door: getattr(door, name)(), lambda model: None


STORY: list[Step] = [
    put(1, "a"),
    put(2, "b"),
    unchanged("flush"),
    put(2, "c"),
    delete(1),
    put(3, "d"),
    unchanged("flush"),
    put(4, "e"),
    unchanged("compact"),
    put(1, "again"),
    unchanged("close"),
]


def tell(files: FaultyFiles, door: Any) -> tuple[Model, Model]:
    """Live the story until death: what was acknowledged, and that with the step under way."""
    model: Model = {}
    after = dict(model)
    try:
        opened = door(files)
        for _, action, effect in STORY:
            effect(after)
            action(opened)
            effect(model)
    except Death:
        pass
    return model, after


def content(store: MemoryFiles | LocalFiles, door: Any) -> Model:
    opened = door(store)
    try:
        rows = {row["id"]: row["name"] for row in opened.rows()}
        assert {key: opened.get(key)["name"] for key in rows} == rows
        return rows
    finally:
        opened.close()


@both_doors
def test_the_whole_story_has_a_happy_end(door: Any) -> None:
    files = FaultyFiles(MemoryFiles())
    model, after = tell(files, door)
    assert model == after == content(files.inner, door)
    assert files.calls > 40


@both_doors
@pytest.mark.parametrize("fault", [Fault.DIE, Fault.DIE_AFTER])
@pytest.mark.parametrize("kept", first_then_slow([0.5, 0.0, 1.0]))
def test_death_at_every_call(fault: Fault, kept: float, door: Any) -> None:
    happy = FaultyFiles(MemoryFiles())
    tell(happy, door)
    for at in range(1, happy.calls + 1):
        files = FaultyFiles(MemoryFiles(), at=at, fault=fault)
        acknowledged, under_way = tell(files, door)
        found = content(files.recover(kept=kept), door)
        assert found in (acknowledged, under_way), happy.trace[at - 1]


@both_doors
@pytest.mark.parametrize("fault", [Fault.DIE, Fault.DIE_AFTER])
def test_death_during_recovery(fault: Fault, door: Any) -> None:
    happy = FaultyFiles(MemoryFiles())
    tell(happy, door)
    unflushed = 2 * happy.calls // 3  # the last put before it is in a log only

    def crashed() -> tuple[MemoryFiles, tuple[Model, Model]]:
        files = FaultyFiles(MemoryFiles(), at=unflushed)
        told = tell(files, door)
        return files.recover(kept=1.0), told

    probe = FaultyFiles(crashed()[0])
    door(probe).close()
    for at in range(1, probe.calls + 1):
        store, told = crashed()
        files = FaultyFiles(store, at=at, fault=fault)
        with pytest.raises(Death):
            door(files).close()
        assert content(files.recover(), door) in told


@both_doors
@pytest.mark.parametrize("fault", first_then_slow([Fault.DIE_AFTER, Fault.DIE]))
def test_nothing_is_counted_twice(fault: Fault, door: Any) -> None:
    """A sum would show a log that is replayed after its rows are in a data file."""

    def add(files: FaultyFiles) -> int:
        done = 0
        try:
            opened = door(files, SUMS)
            for turn in range(6):
                opened.put((1, 1))
                done += 1
                if turn % 2:
                    opened.flush()
            opened.compact()
        except Death:
            pass
        return done

    happy = FaultyFiles(MemoryFiles())
    add(happy)
    for at in range(1, happy.calls + 1):
        files = FaultyFiles(MemoryFiles(), at=at, fault=fault)
        done = add(files)
        opened = door(files.recover(kept=1.0), SUMS)
        row = opened.get(1)
        opened.close()
        assert (row["n"] if row else 0) in (done, done + 1), happy.trace[at - 1]


@both_doors
@pytest.mark.parametrize("fault", first_then_slow([Fault.LOSE_REPLY, Fault.FAIL]))
def test_a_failed_call_fails_one_step_and_writing_goes_on(fault: Fault, door: Any) -> None:
    happy = FaultyFiles(MemoryFiles())
    tell(happy, door)
    for at in range(1, happy.calls + 1):
        files = FaultyFiles(MemoryFiles(), at=at, fault=fault)
        model, doubtful = _live_with_failures(files, door)
        found = content(files.inner, door)
        for key in model.keys() | found.keys():
            assert found.get(key) in (model.get(key), *doubtful.get(key, [])), happy.trace[at - 1]


def _live_with_failures(files: FaultyFiles, door: Any) -> tuple[Model, dict[int, list[str | None]]]:
    """What the story leaves when a failed step is given up; keys of that step may have either value."""
    model: Model = {}
    doubtful: dict[int, list[str | None]] = {}
    opened = None
    for name, action, effect in STORY:
        try:
            opened = opened or door(files)
            action(opened)
            effect(model)
        except HeadwaterError:
            after = dict(model)
            effect(after)
            for key in model.keys() | after.keys():
                if model.get(key) != after.get(key):
                    doubtful.setdefault(key, []).extend([model.get(key), after.get(key)])
            if opened is not None and name != "close":
                opened.flush()  # what the hint of a failed log says
    return model, doubtful


def test_a_log_damaged_in_the_middle_stops_the_opening() -> None:
    files = FaultyFiles(MemoryFiles())
    tree = LSMTree(files, SCHEMA, cache=BlockCache(0))
    for key in range(5):
        tree.put((key, "x" * 20))
    store = files.recover(kept=1.0)
    log = next(entry.path for entry in store.list("wal"))
    damaged = bytearray(store.get(log))
    damaged[30] ^= 1
    store.put(log, bytes(damaged))
    with pytest.raises(CorruptFileError, match=r"wal-00000001\.log: the record at byte 8"):
        LSMTree(store, SCHEMA, cache=BlockCache(0))


def test_a_torn_tail_is_cut_and_reported() -> None:
    files = FaultyFiles(MemoryFiles())
    tree = LSMTree(files, Schema(SCHEMA.fields, ("id",), options={"wal.fsync": "none"}), cache=BlockCache(0))
    for key in range(5):
        tree.put((key, "x" * 20))
    with LSMTree(files.recover(kept=0.9), SCHEMA, cache=BlockCache(0)) as reopened:
        assert [log.records for log in reopened.recovered] == [4]
        assert reopened.recovered[0].torn_at is not None
        assert reopened.to_arrow()["id"].to_pylist() == [0, 1, 2, 3]


def test_two_writers_are_kept_apart(tmp_path: Path) -> None:
    with LSMTree(tmp_path, SCHEMA), pytest.raises(StorageError, match="another writer"):
        LSMTree(tmp_path, SCHEMA)
    LSMTree(tmp_path, SCHEMA).close()


@pytest.mark.parametrize("table", ["", "db.rows"])
def test_kill_9(tmp_path: Path, table: str) -> None:
    rounds = 20 if THOROUGH else 2
    report = torture(Victim(str(tmp_path / "t"), table), rounds=rounds, seed=7)
    assert report.rounds == rounds
    assert report.acknowledged > (100 if THOROUGH else 0)
    assert report.problems == []


def test_rows_of_a_log_are_the_newer_ones_although_the_clock_went_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flush fails, the clock goes back, and the process dies: the log that began later is read later."""
    for failing in range(1, 8):
        monkeypatch.undo()
        files = FaultyFiles(MemoryFiles())
        door = TableDoor(files)
        door.put((1, "older"))
        monkeypatch.setattr(time, "time_ns", lambda: 1_000_000)
        files.at, files.fault = files.calls + failing, Fault.FAIL
        with pytest.raises(HeadwaterError):
            door.flush()
        door.put((1, "newer"))
        assert content(files.recover(kept=1.0), TableDoor) == {1: "newer"}
