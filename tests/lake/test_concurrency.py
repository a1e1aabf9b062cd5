"""Readers, writers and background work at the same time; and memory that stays bounded."""

import gc
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.faulty_files import FaultyFiles

from headwater.errors import StorageError
from headwater.files import MemoryFiles
from headwater.lake import BlockCache, LSMTree, MemTableState
from headwater.lake.engine.types import schema_of
from headwater.model.schema import Schema

PLAIN = schema_of(pa.schema([("id", pa.int64()), ("turn", pa.int64())]), ("id",))
OPTIONS = {
    "memtable.size": "48 KB",
    "num-sorted-run.compaction-trigger": "3",
    "file.block-size": "1 KB",
    "wal.fsync": "none",
}
SCHEMA = Schema(PLAIN.fields, PLAIN.primary_keys, options=OPTIONS)


def batch(turn: int, keys: int) -> pa.Table:
    return pa.table({"id": np.arange(keys), "turn": np.full(keys, turn)})


def test_every_scan_sees_one_moment(tmp_path: Path) -> None:
    """Each batch writes all keys at once: a scan in which they differ has seen half of one."""
    keys, turns, done = 1000, 60, threading.Event()
    tree = LSMTree(tmp_path, SCHEMA, cache=BlockCache(1 << 20))
    tree.write_arrow(batch(0, keys))

    def scan() -> int:
        seen, last = 0, 0
        while not done.is_set() or not seen:
            table = tree.to_arrow()
            found = set(table["turn"].to_pylist())
            assert table.num_rows == keys
            assert len(found) == 1
            assert found.pop() >= last
            seen += 1
        return seen

    def get() -> int:
        seen, last = 0, 0
        while not done.is_set() or not seen:
            row = tree.get(seen % keys)
            assert row is not None
            assert row["turn"] >= last
            last, seen = row["turn"], seen + keys
        return seen

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(scan), pool.submit(get), pool.submit(scan)]
        for turn in range(1, turns + 1):
            tree.write_arrow(batch(turn, keys))
        done.set()
        assert all(reader.result() > 0 for reader in readers)
    stats = tree.stats
    assert stats.version > 3  # flushes and compactions did happen meanwhile
    tree.close()
    live = {file.name for file in tree.version.files}
    assert {path.name for path in (tmp_path / "data").iterdir()} == live


def test_an_open_scan_keeps_its_files(tmp_path: Path) -> None:
    tree = LSMTree(tmp_path, SCHEMA, cache=BlockCache(0))
    for turn in range(3):
        tree.write_arrow(batch(turn, 500))
        tree.flush()
    scan = tree.scan()
    first = next(scan)
    tree.write_arrow(batch(9, 500))
    tree.compact()
    assert len(list((tmp_path / "data").iterdir())) > 1  # the old files wait for the scan
    rows = pa.Table.from_batches([first, *scan])
    assert set(rows["turn"].to_pylist()) == {2}
    assert len(list((tmp_path / "data").iterdir())) == 1
    tree.close()


def test_a_scan_that_was_not_begun_is_of_its_moment_too(tmp_path: Path) -> None:
    tree = LSMTree(tmp_path, SCHEMA, cache=BlockCache(0))
    for turn in range(3):
        tree.write_arrow(batch(turn, 500))
        tree.flush()
    tree.write_arrow(batch(3, 500))
    scan, forgotten, closed = tree.scan(), tree.scan(), tree.scan()
    tree.write_arrow(batch(9, 500))
    tree.compact()
    assert set(pa.Table.from_batches(scan)["turn"].to_pylist()) == {3}
    assert len(list((tmp_path / "data").iterdir())) > 1
    closed.close()
    del forgotten
    gc.collect()
    tree.get(1)
    tree.compact(full=False)
    tree._upkeep.pins.sweep()
    assert len(list((tmp_path / "data").iterdir())) == 1
    tree.close()


def test_writers_from_many_threads(tmp_path: Path) -> None:
    with LSMTree(tmp_path, SCHEMA, cache=BlockCache(0)) as tree:

        def write(me: int) -> None:
            for turn in range(200):
                tree.put((me * 1000 + turn, turn))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(8)))
        assert tree.to_arrow().num_rows == 1600
        tree.flush()
    with LSMTree(tmp_path, SCHEMA, cache=BlockCache(0)) as tree:
        assert tree.to_arrow().num_rows == 1600


def test_a_full_memory_makes_writers_wait_and_says_so() -> None:
    """With a flush that cannot proceed, the fourth memtable has to wait for it."""
    tree = LSMTree(MemoryFiles(), Schema(SCHEMA.fields, ("id",), options=OPTIONS | {"compaction.auto": "false"}))
    slots = tree._upkeep._slots
    slots.acquire()
    writer = threading.Thread(target=lambda: [tree.write_arrow(batch(turn, 4000)) for turn in range(5)])
    writer.start()
    while not tree.stalls:
        pass
    states = [memtable.state for memtable in tree._upkeep.state.memtables]
    assert len(states) == 3
    assert states[0] is MemTableState.ACTIVE
    assert set(states[1:]) <= {MemTableState.IMMUTABLE, MemTableState.FLUSHING}
    assert tree.to_arrow().num_rows == 4000  # readers do not wait
    slots.release()
    writer.join()
    tree.close()
    assert tree.stats.stalls >= 1
    assert tree.stats.stalled_seconds > 0


@pytest.mark.fault
def test_a_failed_flush_in_the_background_is_reported_and_mended() -> None:
    files = FaultyFiles(MemoryFiles())
    tree = LSMTree(files, SCHEMA, cache=BlockCache(0))
    real, failed = files.put, threading.Event()

    def fail(path: str, data: object) -> None:
        failed.set()
        raise StorageError("the disk is full")

    files.put = fail  # type: ignore[method-assign, assignment]
    tree.write_arrow(batch(1, 6000))
    assert failed.wait(5)
    tree._upkeep.settle()
    with pytest.raises(StorageError, match="in the background failed: the disk is full"):
        tree.put((1, 1))
    assert tree.to_arrow().num_rows == 6000
    files.put = real  # type: ignore[method-assign]
    tree.flush()
    tree.put((1, 77))
    assert tree.get(1)["turn"] == 77
    tree.close()


MEMORY = """
import sys, numpy as np, pyarrow as pa
from pathlib import Path
from headwater.lake import LSMTree
from headwater.lake.engine.types import schema_of
from headwater.model.schema import Schema

plain = schema_of(pa.schema([("id", pa.int64()), ("s", pa.string()), ("d", pa.float64())]), ("id",))
options = {"memtable.size": "8 MB", "target-file-size": "16 MB"}
tree = LSMTree(sys.argv[1], Schema(plain.fields, plain.primary_keys, options=options))
chance, size = np.random.default_rng(0), 50_000
for turn in range(40):
    keys = (np.arange(turn * size, (turn + 1) * size, dtype=np.uint64) * np.uint64(2654435761)) % np.uint64(1 << 40)
    text = pa.array(["%020d" % key for key in keys])
    tree.write_arrow(pa.table({"id": keys.astype(np.int64), "s": text, "d": chance.random(size)}))
tree.flush()
rows = sum(batch.num_rows for batch in tree.scan())
tree.compact()
rows += sum(batch.num_rows for batch in tree.scan(["d"]))
tree.close()
peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
print(rows, peak)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak of memory from /proc")
def test_memory_is_bounded_by_the_options_not_by_the_rows(tmp_path: Path) -> None:
    """Two million rows of 40 bytes through memtables of 8 MB; the interpreter and its libraries take 110 MB."""
    command = [sys.executable, "-c", MEMORY, str(tmp_path / "t")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    rows, peak = map(int, run.stdout.split())
    assert rows == 4_000_000
    assert peak < 450
