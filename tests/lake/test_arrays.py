"""Arrays made of bytes are those that pyarrow makes of the same values."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.lake.engine.arrays import array_of, is_exactly, mask_array, mask_of, number_array, numbers_of

TYPES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.bool_()]
VALUES = st.one_of(st.booleans(), st.integers(-(1 << 64), 1 << 64), st.floats(), st.text())


@given(VALUES, st.sampled_from(TYPES))
def test_a_value_that_is_exactly_of_a_type_is_taken_as_it_is(value, type):
    if is_exactly(value, type):
        made = pa.array([value, value], type)
        assert repr(made.to_pylist()) == repr([value, value])
        if not isinstance(value, bool):
            assert array_of([value, value], type).equals(made) or value != value


@pytest.mark.parametrize(
    ("value", "type"),
    [(128, pa.int8()), (True, pa.int64()), (1, pa.float64()), (0.1, pa.float32()), ("\ud800", pa.string())],
)
def test_a_value_that_would_be_another_is_not(value, type):
    assert not is_exactly(value, type)


@given(st.lists(st.sampled_from([True, False, None])), st.integers(0, 9))
def test_masks(values, start):
    array = pa.array(values, pa.bool_()).slice(start)
    found = mask_of(array)
    assert found.tolist() == [bool(each) for each in array.to_pylist()]
    assert mask_array(found).to_pylist() == found.tolist()


def test_numbers():
    array = pa.array([1, 2, 3, 4], pa.int16()).slice(1, 2)
    assert numbers_of(array).tolist() == [2, 3]
    assert numbers_of(pa.array([None, 2.5])).tolist() == [2.5]
    assert number_array(np.array([5, 6])).to_pylist() == [5, 6]
