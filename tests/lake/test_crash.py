"""Crashes: at every call to the store in turn, and by kill -9 of a real process.

After a restart the tree holds every acknowledged write, perhaps the one that was under way, and nothing between.
"""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from headwater.errors import CorruptFileError, HeadwaterError, StorageError
from headwater.files import Death, Fault, FaultyFiles, LocalFiles, MemoryFiles
from headwater.lake import BlockCache, LSMTree
from headwater.lake.engine.types import schema_of
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
Step = tuple[str, Callable[[LSMTree], object], Callable[[Model], object]]


def put(key: int, name: str) -> Step:
    return f"put {key}", lambda tree: tree.put((key, name)), lambda model: model.update({key: name})


def delete(key: int) -> Step:
    return f"delete {key}", lambda tree: tree.delete(key), lambda model: model.pop(key, None)


def unchanged(name: str, action: Callable[[LSMTree], object]) -> Step:
    return name, action, lambda model: None


STORY: list[Step] = [
    put(1, "a"),
    put(2, "b"),
    unchanged("flush", LSMTree.flush),
    put(2, "c"),
    delete(1),
    put(3, "d"),
    unchanged("flush", LSMTree.flush),
    put(4, "e"),
    unchanged("compact", LSMTree.compact),
    put(1, "again"),
    unchanged("close", LSMTree.close),
]


def tell(files: FaultyFiles) -> tuple[Model, Model]:
    """Live the story until death: what was acknowledged, and that with the step under way."""
    model: Model = {}
    after = dict(model)
    try:
        tree = LSMTree(files, SCHEMA, cache=BlockCache(0))
        for _, action, effect in STORY:
            effect(after)
            action(tree)
            effect(model)
    except Death:
        pass
    return model, after


def content(store: MemoryFiles | LocalFiles) -> Model:
    with LSMTree(store, SCHEMA, cache=BlockCache(0)) as tree:
        rows = {row["id"]: row["name"] for row in tree.to_arrow().to_pylist()}
        assert {key: tree.get(key)["name"] for key in rows} == rows
        return rows


def test_the_whole_story_has_a_happy_end() -> None:
    files = FaultyFiles(MemoryFiles())
    model, after = tell(files)
    assert model == after == content(files.inner)
    assert files.calls > 40


@pytest.mark.parametrize("fault", [Fault.DIE, Fault.DIE_AFTER])
@pytest.mark.parametrize("kept", [0.0, 0.5, 1.0])
def test_death_at_every_call(fault: Fault, kept: float) -> None:
    happy = FaultyFiles(MemoryFiles())
    tell(happy)
    for at in range(1, happy.calls + 1):
        files = FaultyFiles(MemoryFiles(), at=at, fault=fault)
        acknowledged, under_way = tell(files)
        found = content(files.recover(kept=kept))
        assert found in (acknowledged, under_way), happy.trace[at - 1]


@pytest.mark.parametrize("fault", [Fault.DIE, Fault.DIE_AFTER])
def test_death_during_recovery(fault: Fault) -> None:
    def crashed() -> MemoryFiles:
        files = FaultyFiles(MemoryFiles(), at=22)
        crashed.acknowledged, crashed.under_way = tell(files)  # type: ignore[attr-defined]
        return files.recover(kept=1.0)

    probe = FaultyFiles(crashed())
    LSMTree(probe, SCHEMA, cache=BlockCache(0)).close()
    for at in range(1, probe.calls + 1):
        files = FaultyFiles(crashed(), at=at, fault=fault)
        with pytest.raises(Death):
            LSMTree(files, SCHEMA, cache=BlockCache(0)).close()
        assert content(files.recover()) in (crashed.acknowledged, crashed.under_way)  # type: ignore[attr-defined]


@pytest.mark.parametrize("fault", [Fault.DIE, Fault.DIE_AFTER])
def test_nothing_is_counted_twice(fault: Fault) -> None:
    """A sum would show a log that is replayed after its rows are in a data file."""

    def add(files: FaultyFiles) -> int:
        done = 0
        try:
            tree = LSMTree(files, SUMS, cache=BlockCache(0))
            for turn in range(6):
                tree.put((1, 1))
                done += 1
                if turn % 2:
                    tree.flush()
            tree.compact()
        except Death:
            pass
        return done

    happy = FaultyFiles(MemoryFiles())
    add(happy)
    for at in range(1, happy.calls + 1):
        files = FaultyFiles(MemoryFiles(), at=at, fault=fault)
        done = add(files)
        with LSMTree(files.recover(kept=1.0), SUMS, cache=BlockCache(0)) as tree:
            row = tree.get(1)
            assert (row["n"] if row else 0) in (done, done + 1), happy.trace[at - 1]


@pytest.mark.parametrize("fault", [Fault.FAIL, Fault.LOSE_REPLY])
def test_a_failed_call_fails_one_step_and_the_tree_goes_on(fault: Fault) -> None:
    happy = FaultyFiles(MemoryFiles())
    tell(happy)
    for at in range(1, happy.calls + 1):
        files = FaultyFiles(MemoryFiles(), at=at, fault=fault)
        model, doubtful = _live_with_failures(files)
        found = content(files.inner)
        for key in model.keys() | found.keys():
            assert found.get(key) in (model.get(key), *doubtful.get(key, [])), happy.trace[at - 1]


def _live_with_failures(files: FaultyFiles) -> tuple[Model, dict[int, list[str | None]]]:
    """What the story leaves when a failed step is given up; keys of that step may have either value."""
    model: Model = {}
    doubtful: dict[int, list[str | None]] = {}
    tree = None
    for name, action, effect in STORY:
        try:
            tree = tree or LSMTree(files, SCHEMA, cache=BlockCache(0))
            action(tree)
            effect(model)
        except HeadwaterError:
            after = dict(model)
            effect(after)
            for key in model.keys() | after.keys():
                if model.get(key) != after.get(key):
                    doubtful.setdefault(key, []).extend([model.get(key), after.get(key)])
            if tree is not None and name != "close":
                tree.flush()  # what the hint of a failed log says
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


@pytest.mark.slow
def test_kill_9(tmp_path: Path) -> None:
    from headwater.lake.tools.torture import torture

    report = torture(tmp_path / "t", rounds=20, seed=7)
    assert report.rounds == 20
    assert report.acknowledged > 100
    assert report.problems == []
