"""The bucket into which Paimon puts a row: |murmur3(BinaryRow of the bucket key) mod buckets|, for whole columns at
once. The rows of a batch are laid out as the columns of 32-bit words that their BinaryRows consist of; the hash then
goes over words, not over rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.lake.paimon.binary_row import IN_FIELD, decimal_bytes, header_bytes
from headwater.model.types import DATE, TIMESTAMP, TIMESTAMP_LTZ, DataType, Decimal, Primitive

Words = npt.NDArray[np.uint32]
_SEED = 42


def buckets_of(columns: Sequence[pa.Array], types: Sequence[DataType], buckets: int) -> npt.NDArray[np.int32]:
    """The bucket of each row, by its bucket-key columns; none of them may be null."""
    rows = len(columns[0])
    if buckets == 1 or not rows:
        return np.zeros(rows, np.int32)
    layout = _Layout(rows, len(columns))
    for index, (column, type) in enumerate(zip(columns, types, strict=True)):
        layout.add(index, column, type)
    hashed = _murmur3(layout.matrix(), layout.lengths).astype(np.int32)
    remainder = np.fmod(hashed, np.int32(buckets))  # towards zero, as in Java
    return np.abs(remainder).astype(np.int32)


class _Layout:
    """BinaryRows of many rows, without the arity in front, as one byte matrix padded with zeros."""

    def __init__(self, rows: int, arity: int) -> None:
        self._head = header_bytes(arity)
        self._fixed = np.zeros((rows, self._head + 8 * arity), np.uint8)
        self._behind: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8], Any]] = []
        self.lengths = np.full(rows, self._fixed.shape[1], np.int64)

    def add(self, index: int, column: pa.Array, type: DataType) -> None:
        at = self._head + 8 * index
        if isinstance(type, Primitive) and (
            type == DATE
            or pa.types.is_boolean(column.type)
            or (pa.types.is_primitive(column.type) and type not in (TIMESTAMP, TIMESTAMP_LTZ))
        ):
            raw = _numbers(column, type)
            width = raw.dtype.itemsize
            self._fixed[:, at : at + width] = raw.view(np.uint8).reshape(-1, width)
        elif isinstance(type, Decimal) and type.precision <= 18:
            words = np.frombuffer(column.buffers()[1], np.int64)[2 * column.offset :][: 2 * len(column)]
            low = np.ascontiguousarray(words[::2])
            self._fixed[:, at : at + 8] = low.view(np.uint8).reshape(-1, 8)
        elif type in (TIMESTAMP, TIMESTAMP_LTZ):
            micros = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
            millis = np.floor_divide(micros, 1000)
            rows = np.arange(len(column))
            start = self.lengths.copy()
            self._point(at, rows, (micros - millis * 1000) * 1000, 8)
            self._behind.append((rows, start, millis.view(np.uint8), np.full(len(column), 8, np.int64)))
        else:
            self._add_texts(at, column if not isinstance(type, Decimal) else _decimal_bytes(column, type), type)

    def _point(self, at: int, rows: npt.NDArray[np.int64], length: npt.NDArray[np.int64], room: Any) -> None:
        """Write offset and length into the fields of rows, and make room behind."""
        place = (self.lengths[rows] << 32 | length).astype(np.int64)
        self._fixed[rows, at : at + 8] = place.view(np.uint8).reshape(-1, 8)
        self.lengths[rows] += room

    def _add_texts(self, at: int, column: pa.Array, type: DataType) -> None:
        binary = column.cast(pa.large_binary())
        offsets = np.frombuffer(binary.buffers()[1], np.int64)[binary.offset : binary.offset + len(binary) + 1]
        data = np.frombuffer(binary.buffers()[2] or b"", np.uint8)
        length = np.diff(offsets)
        wide = isinstance(type, Decimal)
        short = np.zeros(len(binary), np.bool_) if wide else length <= IN_FIELD
        for byte in range(IN_FIELD):
            rows = np.flatnonzero(short & (length > byte))
            self._fixed[rows, at + byte] = data[offsets[:-1][rows] + byte]
        self._fixed[short, at + 7] = (0x80 | length[short]).astype(np.uint8)
        rows = np.flatnonzero(~short)
        if len(rows):
            start = self.lengths[rows].copy()
            self._point(at, rows, length[rows], 16 if wide else (length[rows] + 7) // 8 * 8)
            self._behind.append((rows, start, data[_ranges(offsets[:-1][rows], length[rows])], length[rows]))

    def matrix(self) -> npt.NDArray[np.uint8]:
        if not self._behind:
            return self._fixed
        rows, width = self._fixed.shape
        whole = np.zeros((rows, int(self.lengths.max())), np.uint8)
        whole[:, :width] = self._fixed
        for at, start, data, length in self._behind:
            whole[np.repeat(at, length), _ranges(start, length)] = data
        return whole


def _numbers(column: pa.Array, type: DataType) -> npt.NDArray[Any]:
    if type == DATE:
        column = column.cast(pa.int32())
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    return np.ascontiguousarray(column.to_numpy(zero_copy_only=False))


def _decimal_bytes(column: pa.Array, type: Decimal) -> pa.Array:
    """Wide decimals are rare as keys: by the value."""
    return pa.array([decimal_bytes(value, type) for value in column.to_pylist()], pa.binary())


def _ranges(starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """start, start + 1, … for each start, one after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def _murmur3(rows: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int64]) -> Words:
    """MurmurHash3 (32 bits, x86) of each row's first `lengths` bytes, a multiple of 4."""
    words = np.ascontiguousarray(rows).view(np.uint32)
    hashed = np.full(len(rows), _SEED, np.uint32)
    for index in range(words.shape[1]):
        word = words[:, index] * np.uint32(0xCC9E2D51)
        word = (word << np.uint32(15) | word >> np.uint32(17)) * np.uint32(0x1B873593)
        mixed = hashed ^ word
        mixed = (mixed << np.uint32(13) | mixed >> np.uint32(19)) * np.uint32(5) + np.uint32(0xE6546B64)
        hashed = np.where(lengths > 4 * index, mixed, hashed)
    hashed ^= lengths.astype(np.uint32)
    hashed ^= hashed >> np.uint32(16)
    hashed *= np.uint32(0x85EBCA6B)
    hashed ^= hashed >> np.uint32(13)
    hashed *= np.uint32(0xC2B2AE35)
    return hashed ^ hashed >> np.uint32(16)
