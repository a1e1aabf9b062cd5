"""Rows sorted by key, column-wise: what memory, blocks, merges and scans all hand each other.
The three parts of a batch run in parallel: keys (increasing), kinds, columns. `columns` holds the stored columns of
the table (`KeyCodec.stored`) or some of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.lake.engine.keys import KeyCodec, Keys, NativeKey, concat_keys

Kinds = npt.NDArray[np.uint8]


class RowKind(IntEnum):
    """The effect of a stored row on older rows of its key."""

    PUT = 0  # joins them, as the table's merge engine says
    DELETE = 1  # hides them, and is no row itself
    REPLACE = 2  # hides them: what a put after a delete has become in one row


@dataclass(frozen=True, slots=True)
class SortedBatch:
    """Rows in key order; `kinds` is None when all of them are puts."""

    keys: Keys
    kinds: Kinds | None
    columns: pa.RecordBatch

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + int(self.columns.nbytes) + (0 if self.kinds is None else len(self.kinds))

    def slice(self, start: int, stop: int) -> "SortedBatch":
        if start == 0 and stop >= len(self):
            return self
        kinds = None if self.kinds is None else self.kinds[start:stop]
        return SortedBatch(self.keys.slice(start, stop), kinds, self.columns.slice(start, max(0, stop - start)))

    def between(self, lower: NativeKey | None, upper: NativeKey | None) -> "SortedBatch":
        """The rows with `lower` ≤ key ≤ `upper`."""
        start = 0 if lower is None else self.keys.search(lower)
        stop = len(self) if upper is None else self.keys.search(upper, right=True)
        return self.slice(start, stop)

    def take(self, order: npt.NDArray[np.int64]) -> "SortedBatch":
        """Rows by position. REQUIRES: increasing positions, or the result is not sorted."""
        kinds = None if self.kinds is None else self.kinds[order]
        return SortedBatch(self.keys.take(order), kinds, self.columns.take(pa.array(order)))

    def without_deletes(self) -> "SortedBatch":
        """Only the rows that exist; all of them are puts."""
        if self.kinds is None:
            return self
        live = self.kinds != RowKind.DELETE
        if live.all():
            return SortedBatch(self.keys, None, self.columns)
        kept = self.take(np.flatnonzero(live))
        return SortedBatch(kept.keys, None, kept.columns)

    @property
    def deletes(self) -> int:
        return 0 if self.kinds is None else int(np.count_nonzero(self.kinds == RowKind.DELETE))

    def select(self, names: Sequence[str]) -> "SortedBatch":
        return SortedBatch(self.keys, self.kinds, self.columns.select([*names]))


def concat(batches: Sequence[SortedBatch]) -> SortedBatch:
    """All rows one after the other, in the given order. REQUIRES: at least one batch."""
    if len(batches) == 1:
        return batches[0]
    kinds = None
    if any(batch.kinds is not None for batch in batches):
        kinds = np.concatenate([np.zeros(len(b), np.uint8) if b.kinds is None else b.kinds for b in batches])
    columns = pa.concat_batches([batch.columns for batch in batches])
    return SortedBatch(concat_keys([batch.keys for batch in batches]), kinds, columns)


def without_columns(rows: int) -> pa.RecordBatch:
    """A batch of so many rows and no columns."""
    return pa.RecordBatch.from_struct_array(pa.Array.from_buffers(pa.struct([]), rows, [None]))


def to_rows(batch: SortedBatch, codec: KeyCodec, names: Sequence[str]) -> pa.RecordBatch:
    """The wanted columns of a batch as the user sees them, the key column among them."""
    if not names:
        return without_columns(len(batch))
    arrays = []
    for name in names:
        index = batch.columns.schema.get_field_index(name)
        arrays.append(batch.columns.column(index) if index >= 0 else codec.decode(batch.keys))
    return pa.RecordBatch.from_arrays(arrays, names=list(names))
