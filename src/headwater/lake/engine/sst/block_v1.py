"""A data block of version 1, which is read and no longer written: all columns are one compressed part.

    raw block   rows (4) · key form (1) · flags (1) · zeros (2) · size of the keys (4) · offset of the columns (4)
                · key section · kinds, one byte per row, if flag 1 · zeros up to a multiple of 8
                · columns: one Arrow record batch message without its schema
    stored      payload (the raw block, perhaps compressed) · zeros up to a multiple of 8
                · raw size (4) · codec (1) · zeros added (1) · zeros (2) · rows (4) · CRC-32 of all before (4)

A scan turns the columns into Arrow arrays without copying them; a point read finds its row by bisection and decodes
that row only.
"""

import struct
import zlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from headwater.lake.engine.arrays import Cell, cell_of
from headwater.lake.engine.batch import RowKind, SortedBatch
from headwater.lake.engine.keys import Keys
from headwater.lake.engine.sst.format import Compression, corrupt, decoding, unpacked
from headwater.lake.engine.sst.keysection import BytesSection, NumberSection

_RAW = struct.Struct("<IBBHII")
_TRAILER = struct.Struct("<IBBHII")
_NUMBER_KEYS, _BYTE_KEYS = 1, 2
_HAS_KINDS = 1


def open_block(stored: memoryview, path: str, offset: int) -> pa.Buffer:
    """The raw block in a stored one. RAISES: CorruptFileError when a single bit is wrong."""
    end = len(stored) - _TRAILER.size
    if end < 0:
        raise corrupt(path, "block", offset)
    raw_size, codec, padding, _, _, checksum = _TRAILER.unpack(stored[end:])
    if checksum != zlib.crc32(stored[:-4]):
        raise corrupt(path, "block", offset)
    payload = pa.py_buffer(stored[: max(0, end - padding)])
    return payload if codec == Compression.NONE else unpacked(payload, codec, raw_size, (path, "block", offset))


class BlockV1:
    """A block in memory; keys, columns and cells are decoded when they are first asked for.
    RAISES: CorruptFileError when its parts do not fit together, now or when they are asked for."""

    def __init__(self, raw: pa.Buffer, schema: pa.Schema, place: tuple[str, int], *, number_keys: bool) -> None:
        """`place` is the file and the offset in it."""
        self._at = (place[0], "block", place[1])
        view = memoryview(raw).cast("B")
        with decoding(*self._at):
            self.rows, form, flags, _, key_size, columns_at = _RAW.unpack(view[: _RAW.size])
            keys_end = _RAW.size + key_size
            kinds_end = keys_end + (self.rows if flags & _HAS_KINDS else 0)
            if not kinds_end <= columns_at <= len(view) or form != (_NUMBER_KEYS if number_keys else _BYTE_KEYS):
                raise corrupt(*self._at)
            section = NumberSection if number_keys else BytesSection
            self.section = section(view[_RAW.size : keys_end], self.rows, self._at)
            self._message = raw.slice(columns_at)
        self.find = self.section.find
        self._kinds = view[keys_end:kinds_end] if flags & _HAS_KINDS else None
        self._schema = schema
        self.nbytes = int(raw.size)

    @cached_property
    def columns(self) -> pa.RecordBatch:
        """All stored columns."""
        return self.select(self._schema.names)

    @cached_property
    def _unchecked(self) -> pa.RecordBatch:
        with decoding(*self._at):
            found = pa.ipc.read_record_batch(self._message, self._schema)
            found.validate()
        if found.num_rows != self.rows and self._schema.names:  # without columns a batch has no rows either
            raise corrupt(*self._at)
        return found

    def select(self, names: Sequence[str]) -> pa.RecordBatch:
        """Some of the stored columns; what is not asked for is not checked."""
        found = self._unchecked.select(list(names))
        for column in found.columns:
            # no value may be read from outside of its buffer; a number can be any bits, and is not checked
            type = column.type
            if not (pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_timestamp(type)):
                with decoding(*self._at):
                    column.validate(full=True)
        return found

    @cached_property
    def _cells(self) -> list[Cell]:
        return [cell_of(column) for column in self.columns.columns]

    def kind(self, index: int) -> int:
        return RowKind.PUT if self._kinds is None else self._kinds[index]

    def values(self, index: int) -> tuple[Any, ...]:
        """The stored values of one row."""
        return tuple([cell(index) for cell in self._cells])

    def live(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each row, whether it is not a delete."""
        if self._kinds is None:
            return np.ones(self.rows, np.bool_)
        live: np.ndarray[Any, np.dtype[np.bool_]] = np.frombuffer(self._kinds, np.uint8) != RowKind.DELETE
        return live

    @property
    def has_kinds(self) -> bool:
        return self._kinds is not None

    def keys(self) -> Keys:
        return self.section.keys()

    def batch(self, names: Sequence[str] | None = None) -> SortedBatch:
        """The rows, with all stored columns or some of them."""
        kinds = None if self._kinds is None else np.frombuffer(self._kinds, np.uint8)
        return SortedBatch(self.section.keys(), kinds, self.columns if names is None else self.select(names))
