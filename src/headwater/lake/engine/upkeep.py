"""Flushes and compactions of one tree: in the background while it is written to, in the foreground when asked for.
Any number of memtables may be encoded at once, as many as there are slots; their files become live strictly in order,
oldest first, so that a newer row is never live before an older one of the same key."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

import pyarrow as pa

from headwater.errors import CommitConflictError, StorageError, ValueOverflowError
from headwater.lake.engine.cache import BlockCache
from headwater.lake.engine.compaction import CompactionPick, compact_bucket
from headwater.lake.engine.data_files import OpenRun, open_runs
from headwater.lake.engine.home import TreeHome
from headwater.lake.engine.memtable import MemTable, MemTableState
from headwater.lake.engine.merge import MergeRule, merge_batches
from headwater.lake.engine.options import StorageOptions
from headwater.lake.engine.state import Pins, TreeState
from headwater.lake.engine.version import ONLY, DataFile, LiveFiles, Place, VersionEdit

_logger = logging.getLogger("headwater.lake")


class Upkeep:
    """Owns the state of a tree and every change of it that is not a write."""

    def __init__(self, home: TreeHome, *, rule: MergeRule, options: StorageOptions) -> None:
        self._home = home
        self._rule = rule
        self._options = options
        self.changed = threading.Condition(threading.RLock())  # guards what follows; notified at every change
        self._slots = threading.BoundedSemaphore(options.flush_threads)
        self._compacting = threading.Lock()
        self._due: set[Place] = set()  # buckets that flushes have added to since they were last compacted
        self._at_work: set[Place] = set()  # and the one that is being compacted
        self._compactor_runs = False
        self._threads: set[threading.Thread] = set()
        self.failure: BaseException | None = None
        self.pins = Pins(home.forget)
        self.memtables: tuple[MemTable, ...] = ()
        self.live: LiveFiles = home.log.latest()
        self._opened: dict[Place, tuple[OpenRun, ...]] = {}
        self._states: dict[Place, TreeState] = {}

    @property
    def state(self) -> TreeState:
        """The state of a tree that has one bucket."""
        return self.bucket(ONLY)

    def bucket(self, place: Place) -> TreeState:
        """The state of one bucket at this moment; the memtables are those of the whole tree."""
        state = self._states.get(place)
        if state is None:
            with self.changed:
                version = self.live.of(place)
                if place not in self._opened:
                    self._opened[place] = tuple(open_runs(self._home.shelf, version.runs(), {}))
                state = self._states[place] = TreeState(self.memtables, self._opened[place], version)
        return state

    def push(self, memtable: MemTable) -> None:
        """A new active memtable; the one before it, if any, waits for its flush."""
        with self.changed:
            self._become((memtable, *self.memtables), self.live, self._opened)

    def refresh(self) -> None:
        """See what other writers have committed."""
        with self.changed:
            latest = self._home.log.latest()
            if latest.number != self.live.number:
                self._become(self.memtables, latest, {})

    def hold(self, place: Place = ONLY) -> TreeState:
        """The state of this moment, its files kept on disk until `pins.let_go` of its version."""
        with self.changed:
            self.pins.hold(self.live.number)
            return self.bucket(place)

    @contextmanager
    def reading(self, place: Place = ONLY) -> Iterator[TreeState]:
        """Hold the state of this moment for as long as the block runs."""
        state = self.hold(place)
        try:
            yield state
        finally:
            self.pins.let_go(state.version.number)
            self.pins.sweep()

    def flush_soon(self, memtable: MemTable) -> None:
        """Flush a memtable in a thread of its own, and compact after it if that is due."""
        self._start(lambda: self._flush_and_compact(memtable), f"flush-{memtable.sequence}")

    def flush_all(self) -> None:
        """Flush every memtable that takes no more writes, and return when it is done.
        RAISES: what a flush raised, in the background before or now."""
        self.failure = None
        for memtable in reversed(self.memtables):
            if memtable.state is not MemTableState.ACTIVE:
                self.flush(memtable)

    def flush(self, memtable: MemTable) -> None:
        """Write one memtable to level 0 and make it live."""
        with memtable.flushing:
            if memtable.state is MemTableState.FLUSHED:
                return
            memtable.state = MemTableState.FLUSHING
            try:
                self._flush(memtable)
            except BaseException:
                memtable.state = MemTableState.IMMUTABLE
                raise
        if memtable.has_log:
            self._home.files.delete(self._home.logs.wal(memtable.sequence))

    def compact(self, *, full: bool, place: Place = ONLY) -> CompactionPick | None:
        """Carry out the compaction of a bucket that is due, or of everything; returns what it was.
        RAISES: CommitConflictError when another writer has rewritten the bucket."""
        with self._compacting:
            live, began, home = self.live, time.perf_counter(), self._home
            runs, writer = live.of(place).runs(), home.writer(place)
            done = compact_bucket(runs, self._options, full=full, shelf=home.shelf, rule=self._rule, writer=writer)
            if done is None:
                return None
            pick, edit = done
            self._commit({place: edit}, base=live.number)
            files, seconds = (len(pick.files), len(edit.added)), time.perf_counter() - began
            _logger.info(
                "compaction bucket=%s level=%d files=%d→%d reason=%r seconds=%.3f",
                *(place, pick.level, *files, pick.reason, seconds),
            )
            return pick

    def compact_due(self) -> None:
        """Compact the buckets that flushes have added to, where it is due; one that others cross is given up.
        So is one with a sum that does not fit, of a table from before such writes were refused."""
        while True:
            with self.changed:
                if not self._due or not self._may_compact:
                    self._due.clear()
                    return
                place = self._due.pop()
                self._at_work = {place}
            try:
                while self.compact(full=False, place=place) is not None:
                    pass
            except (CommitConflictError, ValueOverflowError) as err:
                _logger.info("compaction bucket=%s given up: %s", place, err)
            finally:
                self._at_work = set()

    @property
    def is_behind(self) -> bool:
        """Return whether compaction has to catch up before more is written."""
        if not self._threads or not self._may_compact:
            return False
        with self.changed:
            return any(len(self.bucket(each).runs) > self._options.most_runs for each in self._due | self._at_work)

    @property
    def cache(self) -> BlockCache:
        return self._home.shelf.cache

    def settle(self) -> None:
        """Wait for the threads that run."""
        while self._threads:
            with self.changed:
                running = list(self._threads)
            for thread in running:
                thread.join()

    def raise_failure(self) -> None:
        """RAISES: StorageError if a flush or compaction in the background failed."""
        if self.failure is not None:
            raise StorageError(
                f"a flush or compaction in the background failed: {self.failure}",
                hint="flush() tries again; nothing that was acknowledged is lost",
            ) from self.failure

    @property
    def _may_compact(self) -> bool:
        return self._options.auto_compaction and not self._options.write_only

    def _flush(self, memtable: MemTable) -> None:
        memtable.close_wal()
        began = time.perf_counter()
        added: dict[Place, list[DataFile]] = {}
        try:
            if len(memtable):
                with self._slots:
                    batch = merge_batches(memtable.runs(), self._rule)
                    for place, rows in self._home.route(batch):
                        added[place] = self._home.writer(place).write([rows], level=0, sequence=memtable.sequence)
            with self.changed:
                while self.memtables[-1] is not memtable:
                    self.raise_failure()
                    self.changed.wait()
        except BaseException:
            for place, files in added.items():
                self._home.writer(place).discard(files)
            raise
        edits = {place: VersionEdit(added=tuple(files)) for place, files in added.items()}
        self._commit(edits, base=self.live.number, flushed=memtable)
        facts = (memtable.sequence, len(memtable), len(edits), time.perf_counter() - began)
        _logger.info("flush memtable=%d rows=%d files=%d seconds=%.3f", *facts)

    def _commit(self, edits: Mapping[Place, VersionEdit], *, base: int, flushed: MemTable | None = None) -> None:
        with self.changed:
            before = self.live
            sequence = None if flushed is None else flushed.sequence
            live = self._home.log.commit(edits, base=base, flushed=sequence)
            memtables = tuple(table for table in self.memtables if table is not flushed)
            self._become(memtables, live, self._reopened(edits, before, live))
            if flushed is not None:
                flushed.state = MemTableState.FLUSHED
                self._due.update(edits)
            self.changed.notify_all()
        kept = {file.name for edit in edits.values() for file in edit.added}
        gone = (file.name for edit in edits.values() for file in edit.removed)
        self.pins.retire(before.number, tuple(name for name in gone if name not in kept))

    def _become(
        self, memtables: tuple[MemTable, ...], live: LiveFiles, opened: dict[Place, tuple[OpenRun, ...]]
    ) -> None:
        self.memtables, self.live, self._opened, self._states = memtables, live, opened, {}

    def _reopened(
        self, edits: Mapping[Place, VersionEdit], before: LiveFiles, live: LiveFiles
    ) -> dict[Place, tuple[OpenRun, ...]]:
        """The runs after a commit; files stay open unless their level changed."""
        if live.number != before.number + 1:
            return {}  # others have committed in between
        opened = dict(self._opened)
        for place in edits:
            if place in opened:
                moved = {file.name for file in edits[place].added}
                files = (file for run in opened[place] for file in run.files if file.name not in moved)
                known = {file.name: file for file in files}
                opened[place] = tuple(open_runs(self._home.shelf, live.of(place).runs(), known))
        return opened

    def _flush_and_compact(self, memtable: MemTable) -> None:
        self.flush(memtable)
        with self.changed:
            if self._compactor_runs or not self._may_compact:
                return
            self._compactor_runs = True
        self._start(self._compact_while_due, "compaction")

    def _compact_while_due(self) -> None:
        """One thread compacts for all flushes; those that end meanwhile leave word and go, with their memory."""
        try:
            while True:
                with self.changed:
                    if not self._due:
                        self._compactor_runs = False
                        return
                self.compact_due()
        except BaseException:
            self._compactor_runs = False
            raise

    def _start(self, work: Callable[[], None], name: str) -> None:
        def run() -> None:
            try:
                work()
            except BaseException as err:
                with self.changed:
                    self.failure = self.failure or err
                    self.changed.notify_all()
            finally:
                pa.default_memory_pool().release_unused()
                self._threads.discard(threading.current_thread())

        thread = threading.Thread(target=run, name=name, daemon=True)
        with self.changed:  # nobody may wait for a thread that has not begun
            self._threads.add(thread)
            thread.start()


class BucketSource:
    """One bucket of a tree that changes, for those who read it."""

    def __init__(self, upkeep: Upkeep, place: Place) -> None:
        self.pins = upkeep.pins
        self._upkeep = upkeep
        self._place = place

    @property
    def state(self) -> TreeState:
        return self._upkeep.bucket(self._place)

    def hold(self) -> TreeState:
        return self._upkeep.hold(self._place)

    def reading(self) -> AbstractContextManager[TreeState]:
        return self._upkeep.reading(self._place)
