"""Column chunks: every type that has numbers, every width, with and without nulls."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import CorruptFileError
from headwater.lake.engine.sst.chunks import decode_chunk, encode_chunk, narrowed

AT = ("file", "block", 0)
TYPES = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.date32(), pa.time64("us")),
    *(pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.decimal128(38, 4)),
]


def chunk_of(array: pa.Array) -> bytes:
    return b"".join(encode_chunk(array))


def read(chunk: bytes, array: pa.Array) -> pa.Array:
    return decode_chunk(pa.py_buffer(chunk), array.type, len(array), AT)


def column(type: pa.DataType, numbers: np.ndarray, nulls: np.ndarray | None = None) -> pa.Array:
    if pa.types.is_decimal(type):
        values = [Decimal(int(number)).scaleb(-4) for number in numbers]
        return pa.array([None if nulls is not None and nulls[at] else each for at, each in enumerate(values)], type)
    ints = pa.array(numbers.astype(f"i{type.bit_width // 8}"), mask=nulls)
    return ints.view(type)


@pytest.mark.parametrize("type", TYPES, ids=str)
@given(bits=st.integers(0, 63), rows=st.integers(1, 70), nulls=st.booleans(), seed=st.integers(0, 2**32))
def test_numbers_in_bits_are_the_numbers(type: pa.DataType, bits: int, rows: int, nulls: bool, seed: int) -> None:
    most = 63 if pa.types.is_decimal(type) else type.bit_width - 1
    chance = np.random.default_rng(seed)
    spread = chance.integers(0, 1 << min(bits, most), rows, endpoint=False)
    base = int(chance.integers(-(1 << most), (1 << most) - 1 - int(spread.max()), endpoint=True))
    present = chance.random(rows) < 0.7 if nulls else None
    array = column(type, spread + base, None if present is None else ~present)
    chunk = chunk_of(array)
    assert read(chunk, array).equals(array)
    small = bytes(narrowed(chunk, rows))
    assert len(small) <= len(chunk)
    assert read(small, array).equals(array)


def test_random_numbers_of_ten_bits_take_ten_bits() -> None:
    array = pa.array(np.random.default_rng(1).integers(0, 1000, 8000).astype(np.int32))
    chunk = chunk_of(array)
    assert (len(chunk), len(narrowed(chunk, 8000))) == (16 + 2 * 8000, 16 + 8000 + 8000 // 4)


def test_numbers_that_fill_their_bytes_stay() -> None:
    chunk = chunk_of(pa.array(np.arange(256, dtype=np.int32)))
    assert narrowed(chunk, 256) is chunk


@pytest.mark.parametrize(("at", "value"), [(2, 3), (2, 8), (3, 0), (3, 3), (3, 16)])
def test_a_form_that_no_writer_makes_is_damage(at: int, value: int) -> None:
    array = pa.array(np.random.default_rng(1).integers(0, 1000, 100).astype(np.int32))
    small = bytearray(narrowed(chunk_of(array), 100))
    small[at] = value
    with pytest.raises(CorruptFileError):
        read(bytes(small), array)


def test_narrow_numbers_that_are_cut_off_are_damage() -> None:
    array = pa.array(np.random.default_rng(1).integers(0, 1000, 100).astype(np.int32))
    small = bytes(narrowed(chunk_of(array), 100))
    with pytest.raises(CorruptFileError):
        read(small[:-1], array)
