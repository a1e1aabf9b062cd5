"""The rows that one of two tables has more of: what changed in a table without a key.

Rows are counted by Arrow, where it can group by all of their columns; rows with lists, structs and maps one by one.
Two NaNs are the same value, and so are two NULLs; 0.0 and -0.0 are not.
"""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa

from headwater.lake.engine.temporal import in_numbers
from headwater.lazy import arrow_compute as pc


def uncommon_rows(left: pa.Table, right: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows of each table without those that the other one has too, each as often as there are more of it.
    REQUIRES: the same schema."""
    if not left.column_names:
        surplus = left.num_rows - right.num_rows
        return left.slice(0, max(0, surplus)), right.slice(0, max(0, -surplus))
    if any(pa.types.is_nested(each.type) for each in left.schema):
        return _one_by_one(left, right)
    names = [f"c{at}" for at in range(left.num_columns)]
    sides = [
        pa.table([*map(_comparable, rows.columns), pa.repeat(sign, rows.num_rows)], [*names, "sign"])
        for rows, sign in ((left, 1), (right, -1))
    ]
    first = pa.array(np.arange(left.num_rows + right.num_rows))
    rows = pa.concat_tables(sides).append_column("at", first)
    groups = rows.group_by(names, use_threads=False).aggregate([("sign", "sum"), ("at", "min")])
    groups = groups.filter(pc.not_equal(groups.column("sign_sum"), 0))
    more = groups.column("sign_sum").to_numpy()
    every = pa.concat_tables([left, right])
    places = groups.column("at_min").to_numpy()
    return tuple(every.take(pa.array(np.repeat(places, np.maximum(0, sign * more)))) for sign in (1, -1))


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in whose groups all NaNs are one value."""
    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), column.type), column)


def _one_by_one(left: pa.Table, right: pa.Table) -> tuple[pa.Table, pa.Table]:
    counts: Counter[str] = Counter()
    listed = [[repr(list(row.values())) for row in in_numbers(rows).to_pylist()] for rows in (left, right)]
    for texts, step in zip(listed, (1, -1)):
        for text in texts:
            counts[text] += step
    parts = []
    for rows, texts, sign in zip((left, right), listed, (1, -1)):
        chosen: list[Any] = []
        for at, text in enumerate(texts):
            if counts[text] * sign > 0:
                counts[text] -= sign
                chosen.append(at)
        parts.append(rows.take(pa.array(chosen, pa.int64())))
    return parts[0], parts[1]
