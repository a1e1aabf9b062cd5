"""Reading a tree: memtables first, then runs, newest first."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from headwater.errors import NotFoundError
from headwater.lake.engine.batch import RowKind, SortedBatch, concat, to_rows
from headwater.lake.engine.data_files import OpenFile, OpenRun, ReadTrace
from headwater.lake.engine.formats.columnar import BatchBlock
from headwater.lake.engine.keys import KeyCodec, Keys, NativeKey, keys_of
from headwater.lake.engine.memtable import MemTable
from headwater.lake.engine.merge import MergeRule, merge_batches
from headwater.lake.engine.overlap import narrowed, stretches
from headwater.lake.engine.predicates import Predicate, columns_of, filter_batch
from headwater.lake.engine.row import Row
from headwater.lake.engine.scan import BatchCursor, FilesCursor, RunCursor, cut_points, merge_cursors
from headwater.lake.engine.state import PinnedIterator, Pins, TreeState
from headwater.lake.engine.stored import RowBuilder
from headwater.lake.engine.unmerged_scan import Bounds, Section, plain_rows, sections
from headwater.model.schema import Schema


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """The rows and columns that a scan gives: `lower` ≤ key ≤ `upper`, and all of `where` met."""

    columns: list[str]
    lower: NativeKey | None = None
    upper: NativeKey | None = None
    where: tuple[Predicate, ...] = ()


class StateSource(Protocol):
    """The source of the state to read: a tree that changes, or one snapshot that never does."""

    pins: Pins

    @property
    def state(self) -> TreeState: ...

    def hold(self) -> TreeState:
        """The state of this moment, its files kept on disk until `pins.let_go` of its version."""
        ...

    def reading(self) -> AbstractContextManager[TreeState]:
        """Hold the state of this moment for as long as the block runs."""
        ...


class Reads:
    """Point reads and scans of one tree."""

    def __init__(self, source: StateSource, codec: KeyCodec, schema: Schema, rule: MergeRule) -> None:
        self._source = source
        self._codec = codec
        self._rule = rule
        self._schema = schema
        self._rows = RowBuilder(codec, schema)
        self._newest_wins = rule == MergeRule()

    def get(self, key: NativeKey, trace: ReadTrace | None = None) -> Row | None:
        """The row of a key."""
        if not self._newest_wins:
            return self.multi_get([key])[0]
        while True:
            state = self._source.state
            try:
                found = self._newest(state, key, trace)
            except NotFoundError:
                if self._source.state.version.number == state.version.number:
                    raise
                continue  # a compaction removed the file before it was opened
            if found is None or found[0] == RowKind.DELETE:
                return None
            return self._rows.row(key, found[1])

    def multi_get(self, keys: Sequence[NativeKey]) -> list[Row | None]:
        """The rows of many keys, in their order."""
        if self._newest_wins and self._are_sparse(keys):
            return [self.get(key) for key in keys]
        found = self.rows_of(keys_of(sorted(set(keys)), number_keys=self._codec.is_number))
        rows = {} if found is None else self._to_rows(found)
        return [rows.get(key) for key in keys]

    def rows_of(self, wanted: Keys, columns: Sequence[str] | None = None) -> SortedBatch | None:
        """Return the rows of many keys as one batch, with some columns or all; None if there is none.
        REQUIRES: sorted keys, each once."""
        names = None if columns is None else [each.name for each in self._codec.stored if each.name in columns]
        parts = self._parts_of(wanted, names)
        return merge_batches(parts, self._rule).without_deletes() if parts else None

    def merged_with(self, rows: SortedBatch) -> SortedBatch:
        """Return rows as they would be merged if they were written now. REQUIRES: one row of a key."""
        return merge_batches([*self._parts_of(rows.keys), rows], self._rule)

    def _parts_of(self, wanted: Keys, names: Sequence[str] | None = None) -> list[SortedBatch]:
        """The stored rows of many keys, oldest first, with some stored columns or all.
        Where the newest row of a key wins, older ones are not looked for."""
        found: list[SortedBatch] = []
        with self._source.reading() as state:
            sources: list[MemTable | OpenRun] = [*state.memtables, *state.runs]
            for source in sources:
                parts = [part for part in self._find_in(source, wanted, names) if len(part)]
                found += reversed(parts)
                if self._newest_wins:
                    for part in parts:
                        wanted = wanted.take(np.flatnonzero(part.keys.find(wanted) < 0))
        return found[::-1]

    def scan(self, request: ScanRequest) -> Iterator[pa.RecordBatch]:
        """The rows that are asked for, as of now: what is written later is not seen, what is removed stays."""
        state = self._source.hold()
        return PinnedIterator(self._scan(state, request), self._source.pins, state.version.number)

    def _scan(self, state: TreeState, request: ScanRequest) -> Iterator[pa.RecordBatch]:
        names = list(dict.fromkeys([*request.columns, *columns_of(request.where)]))
        stored = [field.name for field in self._codec.stored if field.name in names]
        memory = self._memory(state, request)
        chosen = self._choose_files(state, memory, request)
        held = [batch.select(stored) for batch in memory if len(batch)]
        return self._rows_of([Section(chosen)] if held else sections(chosen), held, names, request)

    def _rows_of(
        self, found: list[Section], memory: list[SortedBatch], names: list[str], request: ScanRequest
    ) -> Iterator[pa.RecordBatch]:
        """The rows of sections, and of memory, as the user sees them."""
        bounds = (request.lower, request.upper)
        for section in found:
            if memory:
                batches = self._merged(section, memory, names, bounds)
            elif section.is_plain:
                yield from plain_rows(section.runs[0], request.columns, bounds, request.where)
                continue
            else:
                batches = self._mixed(section, names, bounds, request)
            for batch in batches:
                rows = filter_batch(batch, request.where)
                if len(rows):
                    yield rows.select(request.columns)

    def _mixed(
        self, section: Section, names: list[str], bounds: Bounds, request: ScanRequest
    ) -> Iterator[pa.RecordBatch]:
        """The rows of files that overlap: merged where they do, as they are elsewhere."""
        for stretch in stretches(section, bounds):
            here = narrowed(bounds, stretch.lower, stretch.upper)
            if stretch.alone is None:
                yield from self._merged(section, [], names, here)
            else:
                yield from plain_rows([stretch.alone], names, here, request.where)

    def _merged(
        self, section: Section, memory: list[SortedBatch], names: list[str], bounds: Bounds
    ) -> Iterator[pa.RecordBatch]:
        stored = [field.name for field in self._codec.stored if field.name in names]
        cursors: list[RunCursor] = [
            FilesCursor(_batches(files, bounds, stored), *bounds) for files in reversed(section.runs)
        ]
        cursors += [BatchCursor(batch) for batch in memory]
        every = [file for files in section.runs for file in files]
        for batch in merge_cursors(cursors, cut_points(every, *bounds), self._rule):
            yield to_rows(batch, self._codec, names)

    def _memory(self, state: TreeState, request: ScanRequest) -> list[SortedBatch]:
        """The rows in memory that lie between the bounds, oldest run first."""
        runs = (run for table in reversed(state.memtables) for run in table.runs())
        return [run.between(request.lower, request.upper) for run in runs]

    def _choose_files(
        self, state: TreeState, memory: list[SortedBatch], request: ScanRequest
    ) -> list[list[OpenFile]]:
        """The files of each run, newest first, that the scan has to read.
        Statistics may leave out a file only if that uncovers nothing: a row in it may hide an older one of the same
        key that does meet the condition, or be part of what several rows merge to."""
        runs = [run.files_between(request.lower, request.upper) for run in state.runs]
        if not request.where:
            return runs
        chosen = []
        for age, files in enumerate(runs):
            others = runs[age + 1 :] if self._newest_wins else [other for at, other in enumerate(runs) if at != age]
            hides = [file for run in others for file in run]
            alone = self._newest_wins or not any(len(batch) for batch in memory)
            chosen.append(
                [
                    file
                    for file in files
                    if not (alone and file.is_ruled_out(request.where, self._schema))
                    or any(file.min_key <= other.max_key and other.min_key <= file.max_key for other in hides)  # type: ignore[operator]
                ]
            )
        return chosen

    def explain_get(self, key: NativeKey) -> dict[str, Any]:
        """Return what a `get` of the key does."""
        state, trace = self._source.state, list[dict[str, Any]]()
        in_memory = any(table.find(key) is not None for table in state.memtables)
        found = self._newest(state, key, trace)
        return {
            "read": "get",
            "found": found is not None and found[0] != RowKind.DELETE,
            "memtables": len(state.memtables),
            "in_memory": in_memory,
            "runs": len(state.runs),
            "bloom_probes": len([step for step in trace if "bloom" in step]),
            "blocks_read": len([step for step in trace if step.get("cached") is False]),
            "blocks_cached": len([step for step in trace if step.get("cached")]),
            "bytes": sum(step.get("bytes", 0) for step in trace),
            "steps": trace,
        }

    def explain_scan(self, request: ScanRequest) -> dict[str, Any]:
        """Return what a scan reads."""
        state, (lower, upper) = self._source.state, (request.lower, request.upper)
        memory = self._memory(state, request)
        chosen = self._choose_files(state, memory, request)
        every = [file for files in chosen for file in files]
        steps = [_scan_step(file, lower, upper) for file in every]
        return {
            "read": "scan",
            "memtables": len(state.memtables),
            "memory_rows": sum(len(batch) for batch in memory),
            "runs": sum(bool(files) for files in chosen),
            "files": len(steps),
            "files_pruned": len(state.version.files) - len(steps),
            "blocks": sum(step["blocks"] for step in steps),
            "bytes": sum(step["bytes"] for step in steps),
            "pieces": len(cut_points(every, lower, upper)) + 1,
            "steps": steps,
        }

    def _are_sparse(self, keys: Sequence[NativeKey]) -> bool:
        """Return whether there are too few keys to a block to decode blocks as a whole."""
        return len(keys) < 32 or len(keys) * 64 < sum(file.rows for file in self._source.state.version.files)

    def _newest(
        self, state: TreeState, key: NativeKey, trace: ReadTrace | None
    ) -> tuple[int, tuple[Any, ...]] | None:
        for memtable in state.memtables:
            if memtable.rows:
                entry = memtable.find(key)
                if entry is not None:
                    return entry.kind, entry.values
        for run in state.runs:
            file = run.file_of(key)
            if file is not None:
                found = file.find(key, trace)
                if found is not None:
                    return found
        return None

    def _find_in(self, source: MemTable | OpenRun, wanted: Keys, names: Sequence[str] | None) -> list[SortedBatch]:
        """The rows of keys in one memtable or run, oldest first."""
        if isinstance(source, MemTable):
            return [part if names is None else part.select(names) for part in source.find_many(wanted)]
        parts = [part for file in source.files for part in file.find_many(wanted, names)]
        return [concat(parts)] if parts else []

    def _to_rows(self, batch: SortedBatch) -> dict[NativeKey, Row]:
        block = BatchBlock(batch)
        keys = [batch.keys.native(at) for at in range(len(batch))]
        return {key: self._rows.row(key, block.values(at)) for at, key in enumerate(keys)}


def _scan_step(file: OpenFile, lower: NativeKey | None, upper: NativeKey | None) -> dict[str, Any]:
    """Return what a scan reads of one file."""
    blocks = file.reader.blocks_between(lower, upper)
    rows = file.boundaries()[1]
    return {
        "file": file.name,
        "level": file.file.level,
        "blocks": len(blocks),
        "of_blocks": len(rows),
        "rows": int(rows[blocks.start : blocks.stop].sum()),
        "bytes": file.file.size * len(blocks) // max(1, len(rows)),
    }


def _batches(files: list[OpenFile], bounds: Bounds, columns: list[str]) -> Iterator[SortedBatch]:
    for file in files:
        yield from file.batches(*bounds, columns)
