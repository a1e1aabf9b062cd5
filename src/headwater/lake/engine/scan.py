"""Scanning several sorted runs as one, piece by piece.
The key range is cut at block boundaries into pieces of about equal rows; each piece is read from every run and merged
as a whole, column-wise. Memory is bounded by the size of a piece, whatever the size of the tree."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from headwater.lake.engine.batch import SortedBatch, concat
from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.keys import NativeKey, concat_keys
from headwater.lake.engine.merge import MergeRule, merge_batches

PIECE_ROWS = 262_144


class RunCursor(Protocol):
    """A sorted run that is read once, from its first key on."""

    def take_until(self, key: NativeKey | None) -> SortedBatch | None:
        """The rows up to and with `key` that were not taken before; all that are left if it is None."""
        ...


class BatchCursor:
    """A run in memory."""

    def __init__(self, batch: SortedBatch) -> None:
        self._rest = batch

    def take_until(self, key: NativeKey | None) -> SortedBatch | None:
        cut = len(self._rest) if key is None else self._rest.keys.search(key, right=True)
        taken, self._rest = self._rest.slice(0, cut), self._rest.slice(cut, len(self._rest))
        return taken if len(taken) else None


class FilesCursor:
    """A run in files that do not overlap, given in key order."""

    def __init__(self, batches: Iterator[SortedBatch], lower: NativeKey | None, upper: NativeKey | None) -> None:
        self._batches = batches
        self._lower = lower
        self._upper = upper
        self._rest: SortedBatch | None = None

    def take_until(self, key: NativeKey | None) -> SortedBatch | None:
        parts: list[SortedBatch] = []
        while (batch := self._next()) is not None:
            if key is not None and batch.keys.native(-1) > key:  # type: ignore[operator]
                cut = batch.keys.search(key, right=True)
                self._rest = batch.slice(cut, len(batch))
                if cut:
                    parts.append(batch.slice(0, cut))
                break
            parts.append(batch)
        return concat(parts) if parts else None

    def _next(self) -> SortedBatch | None:
        """The next batch that has rows inside the bounds."""
        batch, self._rest = self._rest, None
        if batch is not None:
            return batch
        for batch in self._batches:
            inside = batch.between(self._lower, self._upper)
            if len(inside):
                return inside
        return None


def cut_points(files: Sequence[OpenFile], lower: NativeKey | None, upper: NativeKey | None) -> list[NativeKey]:
    """Keys that cut a range into pieces of about `PIECE_ROWS` rows over all files."""
    if sum(file.file.rows for file in files) <= PIECE_ROWS:
        return []
    bounds = [file.boundaries() for file in files]
    # the ends of the blocks of all files in key order, and the rows of each: where their running sum passes a
    # multiple of PIECE_ROWS, a piece ends
    keys = concat_keys([keys for keys, _ in bounds])
    order = keys.boundary_order()
    keys, rows = keys.take(order), np.concatenate([rows for _, rows in bounds])[order]
    start = 0 if lower is None else keys.search(lower)
    stop = len(keys) if upper is None else keys.search(upper)
    pieces = np.cumsum(rows[start:stop]) // PIECE_ROWS
    changes = np.flatnonzero(np.diff(pieces)) + start
    return [keys.native(int(at)) for at in changes]


def merge_cursors(
    cursors: Sequence[RunCursor], cuts: Sequence[NativeKey], rule: MergeRule, *, keep_deletes: bool = False
) -> Iterator[SortedBatch]:
    """Merge runs given oldest first, one batch per piece; pieces without rows are left out."""
    for cut in (*cuts, None):
        parts = [part for cursor in cursors if (part := cursor.take_until(cut)) is not None]
        if parts:
            merged = merge_batches(parts, rule)
            merged = merged if keep_deletes else merged.without_deletes()
            if len(merged):
                yield merged
