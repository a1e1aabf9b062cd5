"""BinaryRow and bucket hashes, checked one against the other and against mmh3."""

import datetime
import decimal

import mmh3
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import CorruptFileError
from headwater.lake.engine.types import arrow_type
from headwater.lake.paimon.binary_row import decimal_bytes, decode_row, encode_row
from headwater.lake.paimon.buckets import buckets_of
from headwater.model import types as t

VALUES = {
    t.BOOLEAN: st.booleans(),
    t.TINYINT: st.integers(-128, 127),
    t.SMALLINT: st.integers(-(2**15), 2**15 - 1),
    t.INT: st.integers(-(2**31), 2**31 - 1),
    t.BIGINT: st.integers(-(2**63), 2**63 - 1),
    t.STRING: st.text(max_size=20),
    t.BINARY: st.binary(max_size=20),
    t.DATE: st.dates(),
    t.TIMESTAMP: st.datetimes(),
    t.Decimal(12, 2): st.decimals(-(10**9), 10**9, places=2),
    t.Decimal(38, 4): st.decimals(-(10**30), 10**30, places=4),
}


@st.composite
def typed_rows(draw, nullable):
    types = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    cells = [st.none() | VALUES[type] if nullable else VALUES[type] for type in types]
    return types, draw(st.lists(st.tuples(*cells), min_size=1, max_size=6))


@given(typed_rows(nullable=True))
def test_rows_come_back(given_rows):
    types, rows = given_rows
    for row in rows:
        assert tuple(decode_row(encode_row(row, types), types)) == row


@given(typed_rows(nullable=False), st.integers(1, 9))
def test_columns_hash_as_rows_do(given_rows, buckets):
    types, rows = given_rows
    columns = [pa.array(list(column), arrow_type(type)) for column, type in zip(zip(*rows), types)]
    expected = []
    for row in rows:
        hashed = mmh3.hash(encode_row(row, types)[4:], 42)
        expected.append(abs(int(hashed / buckets) * buckets - hashed) if buckets > 1 else 0)
    assert buckets_of(columns, types, buckets).tolist() == [abs(each) % buckets for each in expected]


def test_slices_hash_alike():
    array = pa.array(["long enough to stand behind", "short", "x"])
    whole = buckets_of([array], [t.STRING], 64)
    assert buckets_of([array.slice(1)], [t.STRING], 64).tolist() == whole[1:].tolist()
    numbers = pa.array([decimal.Decimal(1), decimal.Decimal(2)], pa.decimal128(10, 0))
    both = buckets_of([numbers], [t.Decimal(10, 0)], 64)
    assert buckets_of([numbers.slice(1)], [t.Decimal(10, 0)], 64).tolist() == both[1:].tolist()


def test_known_bytes():
    assert encode_row(["a"], [t.STRING]).hex() == "00000001" + "00" * 8 + "61000000000000" + "81"
    assert encode_row([datetime.date(1970, 1, 2)], [t.DATE]).hex() == "00000001" + "00" * 8 + "0100000000000000"


def test_wide_decimals_are_as_short_as_in_java():
    assert [len(decimal_bytes(decimal.Decimal(n), t.Decimal(38, 0))) for n in (0, 127, 128, -128, -129)] == [
        1,
        1,
        2,
        1,
        2,
    ]


@pytest.mark.parametrize(
    "data", [b"", b"\0\0\0\2", b"\0\0\0\1" + b"\0" * 8, encode_row(["x" * 30], [t.STRING])[:-20]]
)
def test_damage_is_found(data):
    with pytest.raises(CorruptFileError):
        decode_row(data, [t.STRING])
