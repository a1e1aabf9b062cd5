"""Compactions that are due after a write: noted by the commit, carried out by tasks, beside the queries.

A commit runs in the driver's Python, or in a process that Spark starts for it, which has no Spark. So it leaves a
note in a folder that is named after the Java process above it. A thread of the driver's Python reads the notes and
runs a job with a task for each bucket; nobody waits for it. Where no driver reads notes, a stream compacts in its
commit.
"""

import atexit
import os
import shutil
import tempfile
import threading
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from headwater.lake.metadata.snapshot import Snapshot
from headwater.lake.tables.maintenance import compact_buckets, due_buckets
from headwater.lake.tables.state import Place as Bucket
from headwater.spark.source.options import StoredAt

_POLL = 0.5  # seconds
_ANCESTORS = 4  # a worker, its daemon, Java


@dataclass(frozen=True, slots=True)
class Due:
    """Buckets of a table whose compaction is due."""

    at: StoredAt
    buckets: tuple[Bucket, ...]


def compact_after(at: StoredAt, snapshot: Snapshot, *, streamed: bool = False) -> None:
    """See to the buckets that a commit has filled.

    Batches only fill those of tables with a key: to pack the files of other tables would cross statements that
    rewrite them.
    """
    store = at.open()
    if not streamed and not store.shape().is_keyed:
        return
    buckets = due_buckets(store, snapshot)
    if not buckets:
        return
    folder = next(filter(_is_ours, map(_folder, _ancestors())), None)
    if folder is not None:
        _leave_note(folder, Due(at, tuple(buckets)))
    elif streamed:
        compact_buckets(store, buckets)


class Compactor:
    """Reads the notes of the commits of one Spark, and has its tasks compact."""

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        assert context._jvm is not None
        self._notes = _folder(int(context._jvm.ProcessHandle.current().pid()))
        self._notes.mkdir(mode=0o700, exist_ok=True)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="headwater-compactor", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def wait(self) -> None:
        """Wait until all that was noted so far is compacted."""
        while self._thread.is_alive() and any(self._notes.iterdir()):
            self._ended.wait(_POLL / 5)

    def close(self) -> None:
        """Read no more notes; what is noted is left to the next compaction."""
        self._ended.set()
        self._thread.join()
        shutil.rmtree(self._notes, ignore_errors=True)

    def _run(self) -> None:
        while not self._ended.wait(_POLL):
            if self._context._jsc is None or not _is_ours(self._notes):  # stopped, or somebody else's folder
                return
            for note in sorted(self._notes.glob("*.due")):
                with suppress(Py4JError, PySparkException, OSError):  # it is due again after some writes more
                    self._compact(msgspec.msgpack.decode(note.read_bytes(), type=Due))
                note.unlink(missing_ok=True)

    def _compact(self, due: Due) -> None:
        self._context.setJobGroup("headwater-compaction", f"compaction of {due.at.place.table}")
        width = max(1, min(len(due.buckets), self._context.defaultParallelism // 2))  # leave cores to queries
        parts = [Due(due.at, (bucket,)) for bucket in due.buckets]
        self._context.parallelize(parts, width).foreach(_compact_in_task)


def _compact_in_task(due: Due) -> None:
    compact_buckets(due.at.open(), due.buckets)


_lock = threading.Lock()
_compactors: dict[SparkContext, Compactor] = {}


def start_compactor(context: SparkContext) -> Compactor:
    """The compactor of a Spark; there is one, for as long as Spark runs."""
    with _lock:
        for other in [each for each in _compactors if each._jsc is None]:
            _compactors.pop(other).close()
        if context not in _compactors:
            _compactors[context] = Compactor(context)
        return _compactors[context]


def _leave_note(folder: Path, due: Due) -> None:
    """Write a note whole, for nobody else to read: it may say how to reach an object store."""
    name = folder / uuid.uuid4().hex
    with suppress(OSError):  # the driver has ended
        with open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.msgpack.encode(due))
        name.rename(name.with_suffix(".due"))


def _folder(process: int) -> Path:
    return Path(tempfile.gettempdir(), f"headwater-due-{process}")


def _is_ours(folder: Path) -> bool:
    try:
        return folder.stat().st_uid == os.getuid()
    except OSError:
        return False


def _ancestors() -> list[int]:
    """The processes that notes may be named after: Java above this one, or the one that this one has started."""
    with _lock:
        own = [int(each._notes.name.rpartition("-")[2]) for each in _compactors.values()]
    found, process = [], os.getpid()
    for _ in range(_ANCESTORS):
        try:
            text = Path(f"/proc/{process}/stat").read_text()
        except OSError:  # not Linux, or the process has ended
            break
        process = int(text.rpartition(")")[2].split()[1])
        found.append(process)
    return [*own, *found]
