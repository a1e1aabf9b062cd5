"""The hidden key of a table without a primary key: the position of a row in its file.
Such a key is a number, is never compared between files, and need not be stored: a reader counts."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from headwater.lake.engine.batch import SortedBatch
from headwater.lake.engine.keys import NumberKeys

ROW_COLUMN = "_row"
_BIAS = 1 << 63  # how a BIGINT key becomes a number that sorts as it does


def row_keys(start: int, count: int) -> NumberKeys:
    """The hidden keys of rows of a file, from position `start` on."""
    return NumberKeys(np.arange(start, start + count, dtype=np.uint64) + np.uint64(_BIAS))


def numbered(parts: Iterable[pa.RecordBatch]) -> Iterator[SortedBatch]:
    """Rows that are written one part after the other, with their hidden keys."""
    start = 0
    for part in parts:
        yield SortedBatch(row_keys(start, len(part)), None, part)
        start += len(part)
