"""Batches from a JVM that leaves out the offsets of what is empty."""

import pyarrow as pa
import pytest

from headwater.spark.source.arrow_compat import arrived

DEEP = pa.list_(pa.map_(pa.string(), pa.list_(pa.struct([("x", pa.int32()), ("y", pa.string())]))))
VALUES = [[[("k", [{"x": 1, "y": "y"}, None])]], None, [], [[]], [[("l", None)], [("m", [])]]]


def cut(array: pa.Array) -> pa.Array:
    """An array in which what is inside and empty has no offsets."""
    child = pa.Array.from_buffers(DEEP.value_type, 0, [None, pa.py_buffer(b"")], 0, children=[_no_entries()])
    return pa.Array.from_buffers(DEEP, len(array), array.buffers()[:2], array.null_count, children=[child])


def _no_entries() -> pa.Array:
    type = DEEP.value_type
    return pa.array([], pa.struct([type.key_field, type.item_field]))


@pytest.mark.parametrize("values", [VALUES, VALUES[1:3], [None] * 3, []])
def test_batches_that_are_whole_stay_as_they_are(values):
    batch = pa.RecordBatch.from_arrays([pa.array(range(len(values))), pa.array(values, DEEP)], names=["id", "deep"])
    found = arrived(batch)
    found.validate(full=True)
    assert found.equals(batch)


def test_what_has_no_offsets_gets_them():
    empty = pa.array([None, [], None], DEEP)
    batch = arrived(pa.RecordBatch.from_arrays([cut(empty)], names=["deep"]))
    batch.validate(full=True)
    assert batch.nbytes > 0
    assert batch.column(0).equals(empty)
