"""Arrow batches as the JVM sends them: before Spark 4.2, arrays inside others that are empty come without offsets.

Arrow's format wants one offset even there, and Arrow in Python reads it, from where there is no memory.
"""

import numpy as np
import pyarrow as pa


def arrived(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch in which every array can be read. REQUIRES: it was sent, so it begins where its buffers do."""
    if not any(pa.types.is_nested(field.type) for field in batch.schema):
        return batch
    return pa.RecordBatch.from_arrays([_whole(column) for column in batch.columns], schema=batch.schema)


def _whole(array: pa.Array) -> pa.Array:
    type, buffers = array.type, array.buffers()
    if not len(array):
        return pa.array([], type)
    if pa.types.is_struct(type):
        children = [_whole(array.field(at)) for at in range(type.num_fields)]
        return pa.Array.from_buffers(type, len(array), buffers[:1], array.null_count, children=children)
    if not (pa.types.is_list(type) or pa.types.is_map(type)):
        return array
    inner = array.values if pa.types.is_list(type) else _entries(array)
    offsets = buffers[1] if len(inner) else pa.py_buffer(np.zeros(len(array) + 1, np.int32))
    return pa.Array.from_buffers(type, len(array), [buffers[0], offsets], array.null_count, children=[_whole(inner)])


def _entries(array: pa.MapArray) -> pa.StructArray:
    """The keys and items of maps as the structs that they are stored as."""
    type, keys = pa.struct([array.type.key_field, array.type.item_field]), array.keys
    return pa.Array.from_buffers(type, len(keys), [None], 0, children=[keys, array.items])
