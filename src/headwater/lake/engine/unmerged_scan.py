"""Reading files that nothing else overlaps: their rows are what the scan gives, so no key has to be decoded.
Most of a table is like that: one run after a compaction, files of rows that came in the order of their keys, every
file of a table without a key. `Section` is where it is not: files that overlap in keys, and must be merged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from headwater.lake.engine.arrays import mask_array
from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.formats.protocol import DataBlock
from headwater.lake.engine.keys import NativeKey
from headwater.lake.engine.predicates import Predicate, columns_of, mask_batch

Bounds: TypeAlias = tuple[NativeKey | None, NativeKey | None]
_LARGE = 4_096  # rows of a batch that is handed on as it is
_ENOUGH = 65_536  # rows of smaller ones put together
_ENOUGH_BYTES = 16 << 20  # wide rows make a batch sooner


@dataclass(frozen=True, slots=True)
class Section:
    """Files by run, newest run first, that overlap among themselves and with no others."""

    runs: list[list[OpenFile]]

    @property
    def is_plain(self) -> bool:
        """Return whether there is nothing to merge."""
        return len(self.runs) == 1


def sections(runs: Sequence[Sequence[OpenFile]]) -> list[Section]:
    """The files of runs, newest first, in sections by key; neighbours with nothing to merge are one section."""
    aged = [(file, age) for age, files in enumerate(runs) for file in files]
    groups: list[list[tuple[OpenFile, int]]] = []
    end: NativeKey | None = None
    for file, age in sorted(aged, key=lambda pair: pair[0].min_key):
        if end is not None and file.min_key <= end:  # type: ignore[operator]
            groups[-1].append((file, age))
            end = max(end, file.max_key)
        else:
            groups.append([(file, age)])
            end = file.max_key
    found: list[Section] = []
    for group in groups:
        if len(group) == 1 and found and found[-1].is_plain:
            found[-1].runs[0].append(group[0][0])
        else:
            ages = sorted({age for _, age in group})
            found.append(Section([[file for file, of in group if of == age] for age in ages]))
    return found


def plain_rows(
    files: Sequence[OpenFile], names: Sequence[str], bounds: Bounds = (None, None), where: Sequence[Predicate] = ()
) -> Iterator[pa.RecordBatch]:
    """Columns of the rows of files in key order that meet `where`, within the keys `bounds`, by the batch.
    The columns that `where` looks at are read first; where no row of a block is left, the others are not read."""
    looked_at = columns_of(where)
    for file in files:
        small = _Small(names)
        blocks = file.reader.blocks_between(*bounds)
        cut = bounds != (None, None)
        for number, block in zip(blocks, file.reader.load_many(blocks)):
            ends = bounds if cut and number in (blocks.start, blocks.stop - 1) else None
            rows = _BlockRows(file, block, ends)
            kept = rows.all() if not where else rows.meeting(where, looked_at)
            if kept is not None:
                yield from small.add(rows.columns(names, kept))
        yield from small.rest()


class _BlockRows:
    """The rows of one block of a file that exist, within bounds if there are any."""

    def __init__(self, file: OpenFile, block: DataBlock, bounds: Bounds | None) -> None:
        self._file = file
        self._block = block
        self._existing = _existing(block, bounds)

    def all(self) -> pa.Array | slice | None:
        """All rows: a slice, or a mask if some are left out in between; None if there are none."""
        return self._existing

    def meeting(self, where: Sequence[Predicate], looked_at: Sequence[str]) -> pa.Array | slice | None:
        """The rows that meet predicates, in the same form."""
        kept = self.all()
        if kept is None:
            return None
        found = mask_batch(self.columns(looked_at, slice(0, self._block.rows)), where)
        if isinstance(kept, slice):
            found[: kept.start] = found[kept.stop :] = False
        else:
            found &= np.asarray(kept)
        if found.all():
            return slice(0, self._block.rows)
        return mask_array(found) if found.any() else None

    def columns(self, names: Sequence[str], kept: pa.Array | slice) -> pa.RecordBatch:
        batch = self._file.select(self._block, names)
        if isinstance(kept, slice):
            whole = kept.start == 0 and kept.stop == self._block.rows
            return batch if whole else batch.slice(kept.start, kept.stop - kept.start)
        return batch.filter(kept)


def _existing(block: DataBlock, bounds: Bounds | None) -> pa.Array | slice | None:
    """The rows of a block that are not deletes and lie within bounds."""
    start, stop = 0, block.rows
    if bounds is not None:
        keys, (lower, upper) = block.keys(), bounds
        start = 0 if lower is None else keys.search(lower)
        stop = block.rows if upper is None else keys.search(upper, right=True)
    if start >= stop:
        return None
    if not block.has_kinds:
        return slice(start, stop)
    live = block.live()
    live[:start] = live[stop:] = False
    return mask_array(live) if live.any() else None


class _Small:
    """Puts small batches together: those of files that were made for reads by key."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._held: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def add(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if not self._held and len(batch) >= _LARGE:
            yield batch
            return
        self._held.append(batch)
        self._rows += len(batch)
        self._bytes += batch.nbytes
        if self._rows >= _ENOUGH or self._bytes >= _ENOUGH_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        if self._rows:
            yield pa.concat_batches(self._held) if len(self._held) > 1 else self._held[0]
        self._held, self._rows, self._bytes = [], 0, 0
