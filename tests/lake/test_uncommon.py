"""The rows that one table has more of than another, against counting them one by one."""

import random
from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pytest

from headwater.lake.tables.uncommon import uncommon_rows

NAN = float("nan")
VALUES = {
    "plain": (pa.int64(), [1, 2, None]),
    "number": (pa.float64(), [0.0, NAN, 1.5, None]),
    "amount": (pa.decimal128(10, 2), [Decimal("1.00"), Decimal("2.50"), None]),
    "day": (pa.date32(), [0, 1, None]),
    "moment": (pa.timestamp("us", "UTC"), [0, 1, None]),
    "text": (pa.string(), ["", "a", None]),
    "bytes": (pa.binary(), [b"", b"\0", None]),
    "truth": (pa.bool_(), [True, False, None]),
}
NESTED = {"list": (pa.list_(pa.int32()), [[], [1], [None], None])}


def rows_of(chance, columns, count):
    return pa.table(
        {
            name: pa.array([chance.choice(values) for _ in range(count)], type)
            for name, (type, values) in columns.items()
        }
    )


def counted(table):
    return Counter(map(repr, zip(*(column.to_pylist() for column in table.columns))))


@pytest.mark.parametrize("seed", range(30))
def test_it_counts_as_one_by_one(seed):
    chance = random.Random(seed)
    names = chance.sample([*VALUES], chance.randint(1, 3))
    columns = {name: VALUES[name] for name in names} | (NESTED if seed % 3 == 0 else {})
    left, right = (rows_of(chance, columns, chance.randrange(40)) for _ in range(2))
    gone, came = uncommon_rows(left, right)
    assert counted(gone) == counted(left) - counted(right)
    assert counted(came) == counted(right) - counted(left)
    assert gone.schema == left.schema


def test_rows_without_columns_are_counted():
    left, right = (pa.table({"a": range(rows)}).select([]) for rows in (5, 3))
    assert [side.num_rows for side in uncommon_rows(left, right)] == [2, 0]
