"""The container of an SSTable: header, handles and footer (`docs/spec/sstable.md`).

    header (32) · data block … · meta block · index block · bloom block · footer (48)

The parts follow each other without a gap, so every byte belongs to a part, and every part has a checksum. The footer
has the eight fields of the format and no room for its own checksum; the meta block carries it.
"""

import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType

import pyarrow as pa

from headwater.errors import CorruptFileError, MemoryLimitError
from headwater.lake.engine.stored_json import check_format_version

MAGIC = b"HWST"
VERSION = 2
HEADER_SIZE = 32
FOOTER_SIZE = 48

_HEADER = struct.Struct("<4sIIQQI")  # magic, version, compression, created (ms), zeros, crc of what comes before
_FOOTER = struct.Struct("<QIQIQIQ4s")  # meta, index and bloom as offset and size, row count, magic
_UNDECODABLE = (
    struct.error,
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    OverflowError,
    OSError,
    EOFError,
    pa.ArrowException,
)


class Compression(IntEnum):
    """Codecs by their number in the file."""

    NONE = 0
    LZ4 = 1
    ZSTD = 2
    SNAPPY = 3


@dataclass(frozen=True, slots=True)
class Handle:
    """The position of a part of a file."""

    offset: int
    size: int

    @property
    def end(self) -> int:
        return self.offset + self.size


@dataclass(frozen=True, slots=True)
class Header:
    """The first 32 bytes."""

    compression: Compression
    created_millis: int
    version: int = VERSION

    def encode(self) -> bytes:
        body = _HEADER.pack(MAGIC, VERSION, self.compression, self.created_millis, 0, 0)[:-4]
        return body + struct.pack("<I", zlib.crc32(body))

    @classmethod
    def decode(cls, data: memoryview | bytes, path: str) -> "Header":
        magic, version, compression, created, zeros, checksum = _HEADER.unpack(data)
        if magic != MAGIC:
            raise CorruptFileError(f"{path} is not an SSTable: it begins with {magic!r}")
        if checksum != zlib.crc32(data[: HEADER_SIZE - 4]) or zeros:
            raise corrupt(path, "header", 0)
        check_format_version(path, version, VERSION)
        if not version:
            raise CorruptFileError(f"{path} has format version 0, which there never was")
        if compression not in Compression.__members__.values():
            raise corrupt(path, "header", 0)
        return cls(Compression(compression), created, version)


@dataclass(frozen=True, slots=True)
class Footer:
    """The last 48 bytes."""

    meta: Handle
    index: Handle
    bloom: Handle
    rows: int

    def encode(self) -> bytes:
        handles = (self.meta, self.index, self.bloom)
        flat = [number for handle in handles for number in (handle.offset, handle.size)]
        return _FOOTER.pack(*flat, self.rows, MAGIC)

    @classmethod
    def decode(cls, data: memoryview | bytes, path: str, file_size: int) -> "Footer":
        """RAISES: CorruptFileError unless the parts fill the end of the file without a gap."""
        if len(data) != FOOTER_SIZE or bytes(data[-4:]) != MAGIC:
            raise CorruptFileError(f"{path} is not an SSTable: its last bytes are {bytes(data[-4:])!r}")
        m_at, m_size, i_at, i_size, b_at, b_size, rows, _ = _FOOTER.unpack(data)
        footer = cls(Handle(m_at, m_size), Handle(i_at, i_size), Handle(b_at, b_size), rows)
        ends = (footer.meta.end, footer.index.end, footer.bloom.end)
        if m_at < HEADER_SIZE or ends != (i_at, b_at, file_size - FOOTER_SIZE):
            raise corrupt(path, "footer", file_size - FOOTER_SIZE)
        return footer


class decoding:  # noqa: N801  (it reads as the word that it is used as: `with decoding(…)`)
    """Say of a part that it is damaged when it cannot be decoded, though its checksum holds.
    A class, since it is entered several times for each block of a scan."""

    __slots__ = ("_place",)

    def __init__(self, path: str, part: str, offset: int) -> None:
        self._place = (path, part, offset)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, _: TracebackType | None) -> None:
        if kind is not None and issubclass(kind, MemoryError):
            raise out_of_memory(self._place[0]) from err
        if kind is not None and issubclass(kind, _UNDECODABLE):
            raise corrupt(*self._place) from err


def out_of_memory(path: str) -> MemoryLimitError:
    """The error for a file that is sound, as far as one knows, and does not fit into memory."""
    return MemoryLimitError(f"{path} cannot be read: there is not enough memory")


def corrupt(path: str, part: str, offset: int) -> CorruptFileError:
    """The error for a part whose checksum or structure does not hold."""
    return CorruptFileError(
        f"{path}: the {part} at byte {offset} is damaged",
        hint="`headwater lake verify` lists all damage, `headwater lake repair` keeps what is whole",
    )


MOST_BYTES = 1 << 31
"""No part is larger: a writer closes a block at some megabytes, and one row fits into Arrow's 32-bit offsets."""
_MOST_FOLD = {Compression.LZ4: 256, Compression.ZSTD: 100_000, Compression.SNAPPY: 64}  # bytes made of one
_ALIGNED = 8  # a number in Arrow lies at a multiple of its size; other engines refuse arrays where it does not
CODECS = {
    Compression.LZ4: pa.Codec("lz4_raw"),
    Compression.ZSTD: pa.Codec("zstd", compression_level=1),
    Compression.SNAPPY: pa.Codec("snappy"),
}


def unpacked(payload: pa.Buffer, codec: int, raw_size: int, at: tuple[str, str, int]) -> pa.Buffer:
    """The bytes that were compressed.
    RAISES: CorruptFileError when they are not `raw_size` bytes, or claim to be more than a writer makes."""
    if codec == Compression.NONE:
        if payload.size != raw_size:
            raise corrupt(*at)
        return payload if payload.address % _ALIGNED == 0 else pa.py_buffer(payload.to_pybytes())
    if raw_size > min(MOST_BYTES, payload.size * _MOST_FOLD.get(codec, 0)):  # type: ignore[call-overload]
        raise corrupt(*at)
    with decoding(*at):
        return CODECS[Compression(codec)].decompress(payload, raw_size)
