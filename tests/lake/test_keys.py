"""Keys: byte order is key order, one at a time and by the column."""

import datetime
import decimal
import math

import mmh3
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import examples, one_in

from headwater.errors import SchemaError
from headwater.lake.engine.keys import BytesKeys, KeyCodec, NumberKeys, RowKey, as_bytes, concat_keys
from headwater.lake.engine.types import arrow_type
from headwater.model.schema import Field, Schema
from headwater.model.types import parse_type

pytestmark = pytest.mark.property

VALUES = {
    "BOOLEAN": st.booleans(),
    "TINYINT": st.integers(-128, 127),
    "SMALLINT": st.integers(-(2**15), 2**15 - 1),
    "INT": st.integers(-(2**31), 2**31 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "FLOAT": st.floats(width=32),
    "DOUBLE": st.floats(),
    "DATE": st.dates(),
    "TIMESTAMP": st.datetimes(),
    "TIMESTAMP_LTZ": st.datetimes(timezones=st.just(datetime.UTC)),
    "STRING": st.text(st.characters(codec="utf-8")),
    "BINARY": st.binary(max_size=40),
    "DECIMAL(12, 3)": st.decimals(-(10**8), 10**8, places=3, allow_nan=False),
    "DECIMAL(38, 0)": st.integers(1 - 10**38, 10**38 - 1).map(decimal.Decimal),
    "DECIMAL(38, 38)": st.integers(1 - 10**38, 10**38 - 1).map(lambda digits: decimal.Decimal(f"{digits}E-38")),
}


def codec_of(*types: str) -> KeyCodec:
    fields = tuple(Field(i, f"k{i}", parse_type(type), nullable=False) for i, type in enumerate(types))
    return KeyCodec(Schema(fields, tuple(field.name for field in fields)))


def order(value: object) -> object:
    """A value as it sorts: NaN above all, one zero, text by its bytes."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value + 0.0)
    return value.encode() if isinstance(value, str) else value


@pytest.mark.parametrize("type", VALUES)
@given(data=st.data())
@settings(max_examples=examples(60))
def test_order_and_round_trip_of_one_column(type: str, data: st.DataObject) -> None:
    codec = codec_of(type)
    values = data.draw(st.lists(VALUES[type], min_size=2, max_size=8))
    natives = [codec.native(value) for value in values]
    by_key = sorted(range(len(values)), key=lambda i: (as_bytes(natives[i]), i))
    by_value = sorted(range(len(values)), key=lambda i: (order(values[i]), i))
    assert by_key == by_value
    for value, native in zip(values, natives):
        assert order(codec.values(native)[0]) == order(value)
        assert codec.native(RowKey(as_bytes(native))) == native


@pytest.mark.parametrize("type", one_in(3, VALUES))
@given(data=st.data())
@settings(max_examples=examples(40))
def test_columns_and_single_keys_agree(type: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.tuples(VALUES[type], VALUES["STRING"], VALUES["INT"]), min_size=1, max_size=8))
    for types, width in (((type,), 1), ((type, "STRING", "INT"), 3)):
        codec = codec_of(*types)
        arrays = [
            pa.array([value[column] for value in values], arrow_type(parse_type(types[column])))
            for column in range(width)
        ]
        batch = pa.RecordBatch.from_arrays(arrays, names=[f"k{column}" for column in range(width)])
        keys = codec.encode(batch)
        singles = [codec.native(value[:width]) for value in values]
        assert [keys.native(i) for i in range(len(keys))] == singles
        assert keys.hashes().tolist() == [mmh3.hash64(as_bytes(key), signed=False)[0] for key in singles]
        if codec.is_number:
            assert [order(value) for value in codec.decode(keys).to_pylist()] == [order(v[0]) for v in values]
        for value, single in zip(values, singles):
            assert tuple(map(order, codec.values(single))) == tuple(map(order, value[:width]))


@given(st.lists(st.tuples(st.text(st.characters(codec="utf-8"), max_size=6), st.integers(-5, 5)), min_size=2))
def test_composite_keys_sort_as_tuples(pairs: list[tuple[str, int]]) -> None:
    codec = codec_of("STRING", "INT")
    encoded = sorted(codec.native(pair) for pair in pairs)
    expected = sorted(pairs, key=lambda pair: (pair[0].encode(), pair[1]))
    assert [codec.values(key) for key in encoded] == expected


@given(st.lists(st.binary(max_size=70), min_size=1), st.binary(max_size=70))
def test_a_column_of_bytes_sorts_and_searches(raw: list[bytes], probe: bytes) -> None:
    codec = codec_of("BINARY")
    natives = [codec.native(value) for value in raw]
    keys = BytesKeys(pa.array(natives, pa.binary()))
    in_order = keys.take(keys.sort_order())
    assert [in_order.native(i) for i in range(len(keys))] == sorted(natives)
    wanted = codec.native(probe)
    assert in_order.search(wanted) == sum(key < wanted for key in natives)
    assert in_order.search(wanted, right=True) == sum(key <= wanted for key in natives)
    found = keys.find(BytesKeys(pa.array([wanted, natives[0]], pa.binary())))
    assert (found[0] >= 0) == (wanted in natives)
    assert keys.native(int(found[1])) == natives[0]


def test_slices_know_their_own_keys() -> None:
    keys = BytesKeys(pa.array([b"a", b"bb", b"ccc", b"dddd"], pa.binary())).slice(1, 3)
    assert [keys.native(0), keys.native(-1)] == [b"bb", b"ccc"]
    assert keys.search(b"c") == 1
    joined = concat_keys([keys, keys])
    assert len(joined) == 4
    numbers = NumberKeys(np.array([3, 5, 9], np.uint64))
    assert numbers.find(NumberKeys(np.array([5, 6, 10], np.uint64))).tolist() == [1, -1, -1]


@pytest.mark.parametrize(
    ("types", "key"),
    [
        (("BIGINT",), "7"),
        (("BIGINT",), None),
        (("BIGINT",), 2**63),
        (("BIGINT",), True),
        (("TINYINT",), 128),
        (("STRING",), 7),
        (("STRING", "INT"), ("a",)),
        (("STRING", "INT"), ("a", None)),
        (("STRING",), None),
        (("DATE",), 7),
        (("DECIMAL(4, 2)",), decimal.Decimal("100.00")),
        (("BOOLEAN",), 1),
    ],
)
def test_what_is_not_a_key_is_refused(types: tuple[str, ...], key: object) -> None:
    with pytest.raises(SchemaError):
        codec_of(*types).native(key)


def test_a_type_without_order_is_no_key() -> None:
    with pytest.raises(SchemaError, match="no order"):
        codec_of("ARRAY<INT>")


def test_null_keys_in_columns_are_refused() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1, None], pa.int64())], names=["k0"])
    with pytest.raises(SchemaError, match="`k0` is null in 1 rows"):
        codec_of("BIGINT").encode(batch)


def test_a_key_has_as_many_values_as_key_columns() -> None:
    for types, keys in {("INT",): [(2, 99), ()], ("INT", "INT"): [2, (2,), (2, 9, 9)]}.items():
        for key in keys:
            with pytest.raises(SchemaError, match=f"the key has {len(types)} column"):
                codec_of(*types).native(key)
