"""Cells of columns as they are stored, also by somebody whose buffers have more in them than they need."""

import struct

import pyarrow as pa
import pytest

from headwater.lake.engine.arrays import cell_of


@pytest.mark.parametrize("begin", [0, 1])
def test_bytes_after_the_offsets_of_texts_do_not_matter(begin):
    offsets = pa.py_buffer(struct.pack("<4i", 0, 1, 3, 6) + b"\x00\x00")
    column = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"abbccc")])[begin:]
    cell = cell_of(column)
    assert [cell(at) for at in range(len(column))] == ["a", "bb", "ccc"][begin:]
