"""The ranges in which files overlap in fact, by their blocks.
Tasks that write side by side get ranges of keys in turns, so the file of each reaches over those of the others, and
yet most blocks of one lie where no other has any. What lies there is read as it is; only the rest is merged."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.keys import Keys, NativeKey, concat_keys
from headwater.lake.engine.unmerged_scan import Section

LEAST_ROWS = 65_536  # fewer are merged with what is around them, rather than becoming a batch of their own
_MERGED = -1
_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stretch:
    """The rows from one key to another, both included: those of one file alone, or of all runs together."""

    lower: NativeKey
    upper: NativeKey
    alone: OpenFile | None


def stretches(
    section: Section, bounds: tuple[NativeKey | None, NativeKey | None], least: int = LEAST_ROWS
) -> Iterator[Stretch]:
    """A section between bounds in parts, in key order; every row in the bounds is in exactly one of them."""
    files = [file for files in section.runs for file in files]
    spans = [_span(file, bounds) for file in files]
    rows = np.concatenate([rows for _, _, rows in spans])
    if not len(rows):
        return
    # arrays with one item for each block of all files, first in the order of the files, then by first key (`order`)
    owners = np.repeat(np.arange(len(files)), [len(rows) for _, _, rows in spans])
    firsts, lasts = concat_keys([first for first, _, _ in spans]), concat_keys([last for _, last, _ in spans])
    first, last = _ranks(firsts, lasts)
    order = np.argsort(first, kind="stable")
    # for each block, by first key, whether it has keys that no other reaches. Blocks of one run never overlap.
    begins: npt.NDArray[np.bool_] = np.append(True, first[order][1:] > np.maximum.accumulate(last[order])[:-1])
    followed: npt.NDArray[np.bool_] = np.append(begins[1:], True)
    label = np.where(begins & followed, owners[order], _MERGED)
    starts = _changes(label)  # from here on one item for each row of neighbours with one label
    label = label[starts]
    label[np.add.reduceat(rows[order], starts) < least] = _MERGED
    kept = _changes(label)  # short ones are merged with what is around them, and so are one with it
    for at, end, owner in zip(starts[kept], [*starts[kept][1:], len(order)], label[kept]):
        furthest = order[at + int(np.argmax(last[order[at:end]]))]
        alone = files[owner] if owner != _MERGED else None
        yield Stretch(firsts.native(int(order[at])), lasts.native(int(furthest)), alone)


def narrowed(
    bounds: tuple[NativeKey | None, NativeKey | None], lower: NativeKey, upper: NativeKey
) -> tuple[NativeKey, NativeKey]:
    """The keys that are between bounds and between `lower` and `upper`."""
    low, high = bounds
    least = lower if low is None else max(lower, low)
    return least, upper if high is None else min(upper, high)


def _span(file: OpenFile, bounds: tuple[NativeKey | None, NativeKey | None]) -> tuple[Keys, Keys, _Numbers]:
    """First key, a key not below the last, and number of rows of each block that can have rows in the bounds."""
    numbers = file.reader.blocks_between(*bounds)
    ends, rows = file.boundaries()
    start, stop = numbers.start, max(numbers.start, numbers.stop)
    return file.reader.firsts().slice(start, stop), ends.slice(start, stop), rows[start:stop]


def _ranks(firsts: Keys, lasts: Keys) -> tuple[_Numbers, _Numbers]:
    """Keys of any form as numbers that compare as they do."""
    keys = concat_keys([firsts, lasts])
    order = keys.boundary_order()
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = np.append(0, np.cumsum(keys.take(order).differ_from_next())[:-1])
    return ranks[: len(firsts)], ranks[len(firsts) :]


def _changes(label: _Numbers) -> _Numbers:
    """The positions at which a new value begins."""
    return np.flatnonzero(np.append(True, label[1:] != label[:-1]))
