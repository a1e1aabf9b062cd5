"""Averages from sums and counts, to the last bit as DuckDB computes them from rows.

DuckDB adds whole numbers and the digits of decimals without loss, and divides once: in `long double`, and where the
argument is of 16 bits or less, in `double`. NumPy's `longdouble` is the same type of the same machine. (The engine
turns off the rewriting of `avg`, which divides otherwise.)
"""

import re

import numpy as np
import pyarrow as pa

_NARROW = re.compile(r"U?TINYINT|SMALLINT|DECIMAL\([1-4],\d\)")  # types whose sums DuckDB divides in `double`


def is_narrow(type: str) -> bool:
    """Return whether DuckDB divides the sum of an argument of this type in `double`."""
    return _NARROW.fullmatch(type) is not None


def averages(sums: pa.ChunkedArray, counts: pa.ChunkedArray, *, narrow: bool) -> pa.Array:
    """The averages of groups, NULL where a count is 0. REQUIRES: `sums` are decimals of 128 bits."""
    digits = sums.combine_chunks()
    filled = digits.fill_null(pa.scalar(0, digits.type)) if digits.null_count else digits
    halves = np.frombuffer(filled.buffers()[1], np.uint64)[2 * filled.offset :][: 2 * len(filled)].reshape(-1, 2)
    real = np.float64 if narrow else np.longdouble
    whole = halves[:, 0].astype(np.longdouble) + halves[:, 1].view(np.int64).astype(np.longdouble) * 2.0**64
    number = counts.combine_chunks().to_numpy(zero_copy_only=False)
    divisor = np.maximum(number, 1).astype(real) * real(float(10**digits.type.scale))
    return pa.array((whole.astype(real) / divisor).astype(np.float64), mask=number == 0)
