"""Flushes and compactions of one tree: in the background while it is written to, in the foreground when asked for.

Any number of memtables may be encoded at once, as many as there are slots; their files become live strictly in order,
oldest first, so that a newer row is never live before an older one of the same key.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from headwater.errors import StorageError
from headwater.files import Files
from headwater.lake.engine.cache import BlockCache
from headwater.lake.engine.compaction import CompactionPick, compact_runs, pick_all, pick_compaction
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.memtable import MemTable, MemTableState
from headwater.lake.engine.merge import MergeRule, merge_batches
from headwater.lake.engine.opened import Shelf, open_runs
from headwater.lake.engine.options import StorageOptions
from headwater.lake.engine.state import Pins, TreeState
from headwater.lake.engine.version import VersionEdit, VersionLog
from headwater.lake.engine.write import FileWriter


class Upkeep:
    """Owns the state of a tree and every change of it that is not a write."""

    def __init__(
        self,
        shelf: Shelf,
        log: VersionLog,
        writer: FileWriter,
        *,
        rule: MergeRule,
        options: StorageOptions,
        paths: PathFactory,
    ) -> None:
        self._files: Files = shelf.files
        self._shelf = shelf
        self._log = log
        self._writer = writer
        self._rule = rule
        self._options = options
        self._paths = paths
        self.changed = threading.Condition(threading.RLock())  # guards `state`; notified at every change
        self._slots = threading.BoundedSemaphore(options.flush_threads)
        self._compacting = threading.Lock()
        self._compaction_due = False
        self._compactor_runs = False
        self._threads: set[threading.Thread] = set()
        self.failure: BaseException | None = None
        self.pins = Pins(self._remove)
        version = log.latest()
        self.state = TreeState((), tuple(open_runs(shelf, version.runs(), {})), version)

    def push(self, memtable: MemTable) -> None:
        """A new active memtable; the one before it, if any, waits for its flush."""
        with self.changed:
            state = self.state
            self.state = TreeState((memtable, *state.memtables), state.runs, state.version)

    def hold(self) -> TreeState:
        """The state of this moment, its files kept on disk until `pins.let_go` of its version."""
        with self.changed:
            self.pins.hold(self.state.version.number)
            return self.state

    @contextmanager
    def reading(self) -> Iterator[TreeState]:
        """Hold the state of this moment for as long as the block runs."""
        state = self.hold()
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

        RAISES: what a flush raised, in the background before or now.
        """
        self.failure = None
        for memtable in reversed(self.state.memtables):
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
        if memtable.wal is not None:
            self._files.delete(self._paths.wal(memtable.sequence))

    def compact(self, *, full: bool) -> CompactionPick | None:
        """Carry out the compaction that is due, or of everything; returns what it was."""
        with self._compacting:
            runs = self.state.version.runs()
            if full and (len(runs) > 1 or any(file.deletes or file.level == 0 for run in runs for file in run.files)):
                pick: CompactionPick | None = pick_all(runs, self._options)
            else:
                pick = None if full else pick_compaction(runs, self._options)
            if pick is not None:
                edit = compact_runs(pick, shelf=self._shelf, rule=self._rule, writer=self._writer)
                self._commit(edit)
            return pick

    @property
    def is_busy(self) -> bool:
        """Whether a flush or compaction runs in the background."""
        return bool(self._threads)

    @property
    def cache(self) -> BlockCache:
        return self._shelf.cache

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

    def _flush(self, memtable: MemTable) -> None:
        memtable.close_wal()
        added = []
        if len(memtable):
            with self._slots:
                batch = merge_batches(memtable.runs(), self._rule)
                added = self._writer.write([batch], level=0, sequence=memtable.sequence)
        try:
            self._await_turn(memtable)
        except StorageError:
            self._writer.discard(added)
            raise
        after = memtable.sequence + 1
        self._commit(VersionEdit(added=tuple(added), wal_floor=after, next_sequence=after), flushed=memtable)

    def _await_turn(self, memtable: MemTable) -> None:
        with self.changed:
            while self.state.memtables[-1] is not memtable:
                self.raise_failure()
                self.changed.wait()

    def _commit(self, edit: VersionEdit, flushed: MemTable | None = None) -> None:
        with self.changed:
            before = self.state
            version = self._log.commit(edit)
            known = {file.file.name: file for run in before.runs for file in run.files}
            kept = {file.name for file in edit.added} & set(edit.removed)
            known = {name: file for name, file in known.items() if name not in kept}  # their level changed
            memtables = tuple(table for table in self.state.memtables if table is not flushed)
            self.state = TreeState(memtables, tuple(open_runs(self._shelf, version.runs(), known)), version)
            if flushed is not None:
                flushed.state = MemTableState.FLUSHED
            self.changed.notify_all()
        self.pins.retire(before.version.number, tuple(name for name in edit.removed if name not in kept))

    def _flush_and_compact(self, memtable: MemTable) -> None:
        self.flush(memtable)
        with self.changed:
            self._compaction_due = self._options.auto_compaction
            if not self._compaction_due or self._compactor_runs:
                return
            self._compactor_runs = True
        self._start(self._compact_while_due, "compaction")

    def _compact_while_due(self) -> None:
        """One thread compacts for all flushes; those that end meanwhile leave word and go, with their memory."""
        try:
            while True:
                with self.changed:
                    if not self._compaction_due:
                        self._compactor_runs = False
                        return
                    self._compaction_due = False
                while self.compact(full=False) is not None:
                    pass
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

    def _remove(self, name: str) -> None:
        self._shelf.cache.drop(name)
        self._files.delete(self._paths.data_file(name))
