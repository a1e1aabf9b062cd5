"""Between a row as the user sees it and its stored values: a number key is not stored among them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.lake.engine.batch import RowKind, SortedBatch
from headwater.lake.engine.keys import KeyCodec, NativeKey
from headwater.lake.engine.row import Row
from headwater.lake.engine.types import arrow_type
from headwater.model.schema import Schema


def stored_values(codec: KeyCodec, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The stored values of a whole row."""
    at = codec.key_at
    return values if at < 0 else values[:at] + values[at + 1 :]


def delete_values(codec: KeyCodec, key: NativeKey) -> tuple[Any, ...]:
    """The stored values of a delete: the key, and nothing else."""
    if codec.is_number:
        return (None,) * len(codec.stored)
    known = dict(zip((field.name for field in codec.fields), codec.values(key)))
    return tuple(known.get(field.name) for field in codec.stored)


def stored_batch(codec: KeyCodec, rows: pa.Table, kind: RowKind | npt.NDArray[np.uint8]) -> SortedBatch:
    """Rows as they arrived, not sorted yet, in stored columns; all of one kind, or each of its own.
    REQUIRES: key columns at least."""
    batch = rows.combine_chunks().to_batches()[0]
    columns = []
    for field in codec.stored:
        at = batch.schema.get_field_index(field.name)
        columns.append(batch.column(at) if at >= 0 else pa.nulls(len(batch), arrow_type(field.type)))
    kinds = (
        kind if isinstance(kind, np.ndarray) else None if kind is RowKind.PUT else np.full(len(batch), kind, np.uint8)
    )
    stored = pa.RecordBatch.from_arrays(columns, names=[field.name for field in codec.stored])
    return SortedBatch(codec.encode(batch), kinds, stored)


class RowBuilder:
    """Makes rows out of keys and stored values."""

    def __init__(self, codec: KeyCodec, schema: Schema) -> None:
        self._codec = codec
        self._names = schema.names
        self._key_at = codec.key_at

    def row(self, key: NativeKey, stored: tuple[Any, ...]) -> Row:
        at = self._key_at
        if at < 0:
            return Row(self._names, stored)
        if at == 0:
            return Row(self._names, self._codec.values(key) + stored)
        return Row(self._names, stored[:at] + self._codec.values(key) + stored[at:])
