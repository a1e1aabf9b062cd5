"""Reading files that nothing else overlaps: their rows are what the scan gives, so no key has to be decoded.

Most of a table is like that: one run after a compaction, files of rows that came in the order of their keys, every
file of a table without a key. `Section` is where it is not: files that overlap in keys, and must be merged.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.lake.engine.batch import no_columns
from headwater.lake.engine.formats.protocol import DataBlock
from headwater.lake.engine.keys import Keys, NativeKey, concat_keys
from headwater.lake.engine.opened import OpenFile
from headwater.lake.engine.scan import PIECE_ROWS
from headwater.lake.engine.sst.block import check_column

FIRST_ROWS = 8_192  # of the first batch: who takes only some rows need not wait for many
_ROW_BYTES = 256  # of a row: batches of wider ones have fewer


@dataclass(frozen=True, slots=True)
class Section:
    """Files by run, newest run first, that overlap among themselves and with no others."""

    runs: list[list[OpenFile]]

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to merge."""
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
    files: Sequence[OpenFile],
    names: Sequence[str],
    bounds: tuple[NativeKey | None, NativeKey | None] = (None, None),
) -> Iterator[pa.RecordBatch]:
    """Columns of the rows of files in key order, in batches that grow; `bounds` are the keys to stay within."""
    most = FIRST_ROWS
    for file in files:
        piece = _Piece(file, names)
        blocks = file.reader.blocks_between(*bounds)
        cut = bounds != (None, None)
        for number, block in zip(blocks, file.reader.load_many(blocks, file.stored_names(names))):
            piece.add(block, bounds if cut and number in (blocks.start, blocks.stop - 1) else None)
            if piece.is_full(most):
                yield from piece.take()
                most = min(2 * most, PIECE_ROWS)
        yield from piece.take()


class _Piece:
    """Blocks of one file that become one batch."""

    def __init__(self, file: OpenFile, names: Sequence[str]) -> None:
        self._file = file
        self._names = list(names)
        self._codec = codec = file.codec
        self._key = next((f.name for f in codec.fields if codec.is_number and f.name in self._names), None)
        self._blocks: list[pa.RecordBatch] = []
        self._keys: list[Keys] = []
        self.rows = self._bytes = 0

    def is_full(self, most: int) -> bool:
        return self.rows >= most or self._bytes >= most * _ROW_BYTES

    def add(self, block: DataBlock, bounds: tuple[NativeKey | None, NativeKey | None] | None) -> None:
        if bounds is None and not block.has_kinds:
            columns, rows = block.stored if self._file.is_as_stored else block.columns, block.rows
            keys = block.keys() if self._key is not None else None
        else:
            batch = block.batch() if bounds is None else block.batch().between(*bounds)
            live = batch.without_deletes()
            columns, rows, keys = live.columns, len(live), live.keys
        self._blocks.append(columns)
        if self._key is not None and keys is not None:
            self._keys.append(keys)
        self.rows += rows
        self._bytes += columns.nbytes

    def take(self) -> Iterator[pa.RecordBatch]:
        """The rows so far, of which there are none afterwards."""
        if self.rows:
            table = pa.Table.from_batches(self._blocks)
            arrays = [self._column(name, table) for name in self._names]
            if arrays:
                yield from pa.Table.from_arrays(arrays, names=self._names).combine_chunks().to_batches()
            else:
                yield no_columns(self.rows)
        self._blocks, self._keys, self.rows, self._bytes = [], [], 0, 0

    def _column(self, name: str, stored: pa.Table) -> Any:
        if name == self._key:
            return self._codec.decode(concat_keys(self._keys))
        if self._file.is_as_stored:  # what is not asked for need not be checked
            check_column(stored.column(name), (self._file.reader.path, "data", 0))
        return self._file.column(name, stored, self.rows)
