"""A data block: some thousand rows, their keys searchable, their values by column.

    block      chunk of the keys · chunk of the kinds, if flag 1 · chunk of each column, each filled up with zeros to
               a multiple of 8 · directory
    directory  stored size of each chunk (4 each) · raw size of each (4) · CRC-32 of each with its zeros (4)
               · codec of each (1) · rows (4) · chunks (4) · key form (1) · flags (1) · zeros (2)
               · CRC-32 of the directory before it (4)

Each chunk is compressed and checked on its own, so a scan of one column reads, checks and unpacks that column only.
The keys of a block are a key section (`keysection.py`), kinds are one byte per row, and columns are chunks of
`chunks.py`. A chunk stays as it is, numbers in bits, where compressing saves less than an eighth of that: then it is
read from where it lies.
"""

import struct
import zlib
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from headwater.lake.engine.arrays import Cell, cell_of
from headwater.lake.engine.batch import RowKind, SortedBatch
from headwater.lake.engine.keys import Keys, NativeKey, NumberKeys
from headwater.lake.engine.sst.chunks import decode_chunk, decoded_width, encode_chunk, narrowed
from headwater.lake.engine.sst.format import CODECS, Compression, corrupt, decoding, unpacked
from headwater.lake.engine.sst.keysection import BytesSection, NumberSection, encode_keys

_TRAILER = struct.Struct("<IIBBHI")
_NUMBER_KEYS, _BYTE_KEYS = 1, 2
_HAS_KINDS = 1
MOST_ROWS = 1 << 20  # of a block; writers stay far below
_SHORT = 64  # bytes of a chunk that is not worth the work
_FACTS = 13  # bytes of the directory for each chunk


def encode_block(batch: SortedBatch, compression: Compression) -> list[bytes | memoryview]:
    """The pieces of a block. REQUIRES: at least one row."""
    is_number = isinstance(batch.keys, NumberKeys)
    kinds = [] if batch.kinds is None or not batch.kinds.any() else [batch.kinds.tobytes()]
    raw: list[list[bytes | memoryview]] = [[encode_keys(batch.keys)]]
    raw += [[each] for each in kinds]
    raw += [encode_chunk(column) for column in batch.columns.columns]
    first = 1 + len(kinds)
    pieces: list[bytes | memoryview] = []
    sizes, raw_sizes, sums, codecs = [], [], [], []
    for number, parts in enumerate(raw):
        whole = parts[0] if len(parts) == 1 else b"".join(parts)
        least = whole if number < first or len(whole) <= _SHORT else narrowed(whole, len(batch))
        codec, packed = _pack(whole, least, Compression.NONE if is_number and number == 0 else compression)
        padding = bytes(-len(packed) % 8)
        pieces += [packed, padding]
        sizes.append(len(packed))
        raw_sizes.append(len(packed if codec is Compression.NONE else whole))
        sums.append(zlib.crc32(padding, zlib.crc32(packed)))
        codecs.append(codec)
    columns = (np.array(each, "<u4").tobytes() for each in (sizes, raw_sizes, sums))
    form, flags = _NUMBER_KEYS if is_number else _BYTE_KEYS, _HAS_KINDS if kinds else 0
    directory = b"".join((*columns, bytes(codecs), _TRAILER.pack(len(batch), len(raw), form, flags, 0, 0)[:-4]))
    return [*pieces, directory, zlib.crc32(directory).to_bytes(4, "little")]


def _pack(
    raw: bytes | memoryview, least: bytes | memoryview, compression: Compression
) -> tuple[Compression, bytes | memoryview]:
    """A chunk as it is stored, and by which codec: none, where compressing saves less than an eighth of `least`.
    `least` is the same chunk in the least room that it takes without compressing."""
    if compression is not Compression.NONE and len(raw) > _SHORT:
        packed = memoryview(CODECS[compression].compress(raw)).cast("B")
        if len(packed) <= len(least) - len(least) // 8:
            return compression, packed
    return Compression.NONE, least


class Block:
    """A block in memory; keys and columns are checked and decoded when they are first asked for.
    RAISES: CorruptFileError when its parts do not fit together, now or when they are asked for."""

    def __init__(self, stored: memoryview, schema: pa.Schema, place: tuple[str, int], *, number_keys: bool) -> None:
        """`place` is the file and the offset in it."""
        self._at = (place[0], "block", place[1])
        self._schema = schema
        self._stored = pa.py_buffer(stored)
        end = len(stored) - _TRAILER.size
        if end < 0:
            raise corrupt(*self._at)
        self.rows, chunks, form, flags, _, checksum = _TRAILER.unpack(stored[end:])
        start = end - _FACTS * chunks
        expected = 1 + (flags & _HAS_KINDS) + len(schema.names)
        if start < 0 or chunks != expected or zlib.crc32(stored[start:-4]) != checksum:
            raise corrupt(*self._at)
        # keys that are evenly apart take no bytes: no memory is taken for a number of rows that is only claimed
        if not 0 < self.rows <= MOST_ROWS:
            raise corrupt(*self._at)
        if form != (_NUMBER_KEYS if number_keys else _BYTE_KEYS):
            raise corrupt(*self._at)
        facts = stored[start:end]
        numbers = struct.unpack_from(f"<{3 * chunks}I", facts)
        self._sizes, self._raw_sizes, self._sums = (numbers[at : at + chunks] for at in (0, chunks, 2 * chunks))
        self._codecs = bytes(facts[12 * chunks :])
        self._starts = list(accumulate((-(-size // 8) * 8 for size in self._sizes), initial=0))
        if self._starts[-1] != start:
            raise corrupt(*self._at)
        self._section = NumberSection if number_keys else BytesSection
        self.has_kinds = bool(flags & _HAS_KINDS)
        self._first = 1 + self.has_kinds  # the chunk of the first column
        self._columns: dict[int, pa.Array] = {}

    @cached_property
    def nbytes(self) -> int:
        """The memory it takes when every chunk is unpacked and every column decoded."""
        return int(sum(self._raw_sizes) + self.rows * decoded_width(self._schema))

    @cached_property
    def section(self) -> NumberSection | BytesSection:
        """The keys, searchable."""
        with decoding(*self._at):
            return self._section(memoryview(self._chunk(0)).cast("B"), self.rows, self._at)

    def find(self, key: NativeKey, /) -> int:
        return self.section.find(key)

    def keys(self) -> Keys:
        return self.section.keys()

    @cached_property
    def kinds(self) -> np.ndarray[Any, np.dtype[np.uint8]] | None:
        """The kind of each row, None if all are puts."""
        if not self.has_kinds:
            return None
        kinds = np.frombuffer(self._chunk(1), np.uint8)
        if len(kinds) != self.rows:
            raise corrupt(*self._at)
        return kinds

    def live(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each row, whether it is not a delete."""
        return np.ones(self.rows, np.bool_) if self.kinds is None else self.kinds != RowKind.DELETE

    def kind(self, index: int) -> int:
        return RowKind.PUT if self.kinds is None else int(self.kinds[index])

    @cached_property
    def _cells(self) -> list[Cell]:
        return [cell_of(self.column(at)) for at in range(len(self._schema.names))]

    def values(self, index: int) -> tuple[Any, ...]:
        """The stored values of one row."""
        return tuple([cell(index) for cell in self._cells])

    def column(self, at: int) -> pa.Array:
        """One stored column, by its position."""
        found = self._columns.get(at)
        if found is None:
            with decoding(*self._at):
                type = self._schema.field(at).type
                found = self._columns[at] = decode_chunk(self._chunk(self._first + at), type, self.rows, self._at)
                if pa.types.is_nested(type):
                    found.validate(full=True)
        return found

    def select(self, names: Sequence[str]) -> pa.RecordBatch:
        """Some of the stored columns."""
        columns = [self.column(self._schema.get_field_index(name)) for name in names]
        return pa.RecordBatch.from_arrays(columns, names=list(names))

    @property
    def columns(self) -> pa.RecordBatch:
        """All stored columns."""
        return self.select(self._schema.names)

    def batch(self, names: Sequence[str] | None = None) -> SortedBatch:
        """The rows, with all stored columns or some of them."""
        return SortedBatch(self.keys(), self.kinds, self.columns if names is None else self.select(names))

    def _chunk(self, number: int) -> pa.Buffer:
        """The bytes of a chunk, checked and unpacked."""
        start, end = self._starts[number], self._starts[number + 1]
        padded = self._stored.slice(start, end - start)
        if zlib.crc32(padded) != self._sums[number]:
            raise corrupt(*self._at)
        stored = padded.slice(0, self._sizes[number])
        return unpacked(stored, self._codecs[number], self._raw_sizes[number], self._at)
