"""A data block: some hundred rows, their keys searchable, their values column-wise.

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
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from headwater.lake.engine.batch import Kind, SortedBatch
from headwater.lake.engine.cells import Cell, cell_of
from headwater.lake.engine.keys import Keys, NumberKeys
from headwater.lake.engine.sst.format import Compression, corrupt, decoding
from headwater.lake.engine.sst.keysection import BytesSection, NumberSection, encode_keys

_RAW = struct.Struct("<IBBHII")
_TRAILER = struct.Struct("<IBBHII")
_NUMBER_KEYS, _BYTE_KEYS = 1, 2
_HAS_KINDS = 1
MOST_BYTES = 1 << 31
"""No block is larger: a writer closes one at some kilobytes, and one row fits into Arrow's 32-bit offsets."""
_MOST_FOLD = {Compression.LZ4: 256, Compression.ZSTD: 100_000, Compression.SNAPPY: 64}  # bytes made of one
_CODECS = {
    Compression.LZ4: pa.Codec("lz4_raw"),
    Compression.ZSTD: pa.Codec("zstd", compression_level=1),
    Compression.SNAPPY: pa.Codec("snappy"),
}


def encode_block(batch: SortedBatch) -> bytes:
    """The raw form of a block. REQUIRES: at least one row."""
    form = _NUMBER_KEYS if isinstance(batch.keys, NumberKeys) else _BYTE_KEYS
    keys = encode_keys(batch.keys)
    kinds = b"" if batch.kinds is None or not batch.kinds.any() else batch.kinds.tobytes()
    before = _RAW.size + len(keys) + len(kinds)
    padding = -before % 8
    flags = _HAS_KINDS if kinds else 0
    head = _RAW.pack(len(batch), form, flags, 0, len(keys), before + padding)
    return b"".join((head, keys, kinds, bytes(padding), memoryview(batch.columns.serialize()).cast("B")))


def seal_block(raw: bytes, rows: int, compression: Compression) -> tuple[bytes | memoryview, bytes]:
    """Payload and trailer of a stored block; it stays uncompressed where compressing saves less than a quarter.

    So little is not worth a copy of the block each time that it is read.
    """
    payload: bytes | memoryview = raw
    if compression is not Compression.NONE:
        packed = memoryview(_CODECS[compression].compress(raw)).cast("B")
        if len(packed) <= len(raw) - len(raw) // 4:
            payload = packed
        else:
            compression = Compression.NONE
    padding = -len(payload) % 8
    trailer = bytes(padding) + _TRAILER.pack(len(raw), compression, padding, 0, rows, 0)[:-4]
    checksum = zlib.crc32(trailer, zlib.crc32(payload))
    return payload, trailer + checksum.to_bytes(4, "little")


def open_block(stored: memoryview, path: str, offset: int) -> pa.Buffer:
    """The raw block in a stored one.

    RAISES: CorruptFileError when a single bit is wrong.
    """
    end = len(stored) - _TRAILER.size
    if end < 0:
        raise corrupt(path, "block", offset)
    raw_size, codec, padding, _, _, checksum = _TRAILER.unpack(stored[end:])
    if checksum != zlib.crc32(stored[:-4]):
        raise corrupt(path, "block", offset)
    payload = pa.py_buffer(stored[: max(0, end - padding)])
    if codec == Compression.NONE:
        return payload
    if raw_size > min(
        MOST_BYTES, payload.size * _MOST_FOLD.get(codec, 0)
    ):  # no writer makes it: it would fill memory
        raise corrupt(path, "block", offset)
    with decoding(path, "block", offset):
        return _CODECS[Compression(codec)].decompress(payload, raw_size)


class Block:
    """A block in memory; keys, columns and cells are decoded when they are first asked for.

    RAISES: CorruptFileError when its parts do not fit together, now or when they are asked for.
    """

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
    def stored(self) -> pa.RecordBatch:
        """The columns, each of which is to be checked by `check_column` before its values are read."""
        with decoding(*self._at):
            found = pa.ipc.read_record_batch(self._message, self._schema)
            found.validate()
        if found.num_rows != self.rows and self._schema.names:  # without columns a batch has no rows either
            raise corrupt(*self._at)
        return found

    @cached_property
    def columns(self) -> pa.RecordBatch:
        """The columns, checked."""
        for column in self.stored.columns:
            check_column(column, self._at)
        return self.stored

    @cached_property
    def _cells(self) -> list[Cell]:
        return [cell_of(column) for column in self.columns.columns]

    def kind(self, index: int) -> int:
        return Kind.PUT if self._kinds is None else self._kinds[index]

    def values(self, index: int) -> tuple[Any, ...]:
        """The stored values of one row."""
        return tuple([cell(index) for cell in self._cells])

    @property
    def has_kinds(self) -> bool:
        return self._kinds is not None

    def keys(self) -> Keys:
        return self.section.keys()

    def batch(self) -> SortedBatch:
        kinds = None if self._kinds is None else np.frombuffer(self._kinds, np.uint8)
        return SortedBatch(self.section.keys(), kinds, self.columns)


def check_column(column: pa.Array | pa.ChunkedArray, place: tuple[str, str, int]) -> None:
    """Make sure that no value is read from outside of its buffer, and that each is one of its type.

    A number can be any bits, so a hostile file has nothing to lie about there.

    RAISES: CorruptFileError naming the place.
    """
    type = column.type
    if not (pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_timestamp(type)):
        with decoding(*place):
            column.validate(full=True)
