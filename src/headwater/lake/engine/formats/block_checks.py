"""Checksums of a Parquet file that DuckDB can be handed: of every 64 KiB of its rows, and of its footer.

DuckDB does not look at the checksums that Parquet has for its pages, and Parquet has none for its footer. Ours stand
between the rows and the footer, where other readers never look:

rows · checks · footer · length of the footer (4) · "PAR1"
checks = CRC-32 of each block of the rows (4 each) · blocks (4) · CRC-32 of the footer to the end of the file (4)
         · CRC-32 of the checks so far (4) · "HWC1"
"""

import struct
import zlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from headwater.files import RangeReader
from headwater.files.protocol import Buffer

BLOCK = 1 << 16
_TAIL = struct.Struct("<III4s")
_MAGIC = b"HWC1"
_END = 8  # the length of the footer, and PAR1


class BlockChecks:
    """Checksums of the blocks of a file that is being written."""

    def __init__(self) -> None:
        self._sums: list[int] = []
        self._open = 0  # bytes of the last block
        self._sum = 0

    def add(self, data: Buffer) -> None:
        """Count in the next bytes of the rows."""
        view = memoryview(data).cast("B")
        while len(view):
            part, view = view[: BLOCK - self._open], view[BLOCK - self._open :]
            self._sum = zlib.crc32(part, self._sum)
            self._open += len(part)
            if self._open == BLOCK:
                self._close()

    def encode(self, footer: bytes) -> bytes:
        """The checks of all bytes so far, and of the footer that follows."""
        if self._open:
            self._close()
        body = np.array(self._sums, "<u4").tobytes()
        known = body + struct.pack("<II", len(self._sums), zlib.crc32(footer))
        return known + struct.pack("<I4s", zlib.crc32(known), _MAGIC)

    def _close(self) -> None:
        self._sums.append(self._sum)
        self._open = self._sum = 0


class CheckedFile:
    """The checks of a file that was written. REQUIRES: `read_checks` has found them sound."""

    def __init__(self, reader: RangeReader, sums: npt.NDArray[np.uint32], rows_end: int) -> None:
        self._reader = reader
        self._sums = sums
        self._end = rows_end
        self._sound = np.zeros(len(sums), np.bool_)

    def damaged(self, ranges: Iterable[tuple[int, int]]) -> int | None:
        """The offset of the first damaged block that has bytes of the ranges (start, end); None if all are sound.
        A block that was found sound is not read again."""
        wanted = np.zeros(len(self._sums), np.bool_)
        for start, end in ranges:
            wanted[start // BLOCK : -(-end // BLOCK)] = True
        for number in np.flatnonzero(wanted & ~self._sound):
            start = int(number) * BLOCK
            block = self._reader.read(start, min(BLOCK, self._end - start))
            if zlib.crc32(block) != self._sums[number]:
                return start
            self._sound[number] = True
        return None


def read_checks(reader: RangeReader) -> CheckedFile | None:
    """The checks of a file whose footer is sound by them; None if it has none, or they or the footer are damaged.
    RAISES: StorageError when the file cannot be read."""
    size = reader.size
    if size < _END + _TAIL.size:
        return None
    length = int.from_bytes(reader.read(size - _END, 4), "little")
    footer_at = size - _END - length
    if footer_at < _TAIL.size:
        return None
    count, footer_sum, own_sum, magic = _TAIL.unpack(reader.read(footer_at - _TAIL.size, _TAIL.size))
    rows_end = footer_at - _TAIL.size - 4 * count
    if magic != _MAGIC or rows_end < 0 or count != -(-rows_end // BLOCK):
        return None
    known = bytes(reader.read(rows_end, 4 * count + 8))
    if zlib.crc32(known) != own_sum or zlib.crc32(reader.read(footer_at, length + _END)) != footer_sum:
        return None
    return CheckedFile(reader, np.frombuffer(known, "<u4", count), rows_end)
