"""The index block: one entry per data block, kept by column so that it loads in one step.

    blocks (4) · offset of each (8) · size of each (4) · rows of each (4) · separator keys · first keys · CRC-32 (4)

A separator is the shortest key that is not below the last key of its block and below the first key of the next. Keys
are eight bytes each, or for byte keys the end of each (4) and then their bytes.
"""

import struct
import zlib
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.lake.keys import BytesKeys, Keys, NativeKey, NumberKeys
from headwater.lake.sst.format import Handle, corrupt, decoding


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One data block: its keys lie between `first_key` and `separator`, both included."""

    first_key: NativeKey
    separator: NativeKey
    handle: Handle
    rows: int


class IndexBlock:
    """The index of an open file."""

    def __init__(self, entries: Sequence[IndexEntry]) -> None:
        self.entries = entries
        self.separators = [entry.separator for entry in entries]
        self.first_keys = [entry.first_key for entry in entries]

    def __len__(self) -> int:
        return len(self.entries)

    def block_of(self, key: NativeKey) -> int:
        """The only block that can hold a key, -1 if there is none."""
        at = bisect_left(self.separators, key)
        if at == len(self.separators) or key < self.first_keys[at]:  # type: ignore[operator]
            return -1
        return at

    def between(self, lower: NativeKey | None, upper: NativeKey | None) -> range:
        """The blocks that can hold keys with `lower` ≤ key ≤ `upper`."""
        start = 0 if lower is None else bisect_left(self.separators, lower)
        stop = len(self)
        if upper is not None:
            stop = bisect_left(self.first_keys, upper, start)
            if stop < len(self) and self.first_keys[stop] == upper:
                stop += 1
        return range(start, stop)

    def encode(self) -> bytes:
        count = len(self.entries)
        columns = (
            struct.pack("<I", count),
            np.array([entry.handle.offset for entry in self.entries], "<u8").tobytes(),
            np.array([entry.handle.size for entry in self.entries], "<u4").tobytes(),
            np.array([entry.rows for entry in self.entries], "<u4").tobytes(),
            _encode_keys(self.separators),
            _encode_keys(self.first_keys),
        )
        body = b"".join(columns)
        return body + zlib.crc32(body).to_bytes(4, "little")

    @classmethod
    def decode(cls, data: memoryview, path: str, at: int, *, number_keys: bool) -> "IndexBlock":
        """RAISES: CorruptFileError when the checksum does not hold."""
        if len(data) < 8 or int.from_bytes(data[-4:], "little") != zlib.crc32(data[:-4]):
            raise corrupt(path, "index", at)
        (count,) = struct.unpack("<I", data[:4])
        with decoding(path, "index", at):
            offsets = np.frombuffer(data[4:], "<u8", count).tolist()
            sizes = np.frombuffer(data[4 + 8 * count :], "<u4", count).tolist()
            rows = np.frombuffer(data[4 + 12 * count :], "<u4", count).tolist()
            separators, used = _decode_keys(data[4 + 16 * count :], count, number_keys=number_keys)
            first_keys, _ = _decode_keys(data[4 + 16 * count + used :], count, number_keys=number_keys)
        parts = zip(first_keys, separators, offsets, sizes, rows)
        return cls([IndexEntry(first, last, Handle(at, size), n) for first, last, at, size, n in parts])

    def boundaries(self) -> tuple[Keys, npt.NDArray[np.int64]]:
        """The separators and the number of rows of each block, for cutting a scan into even pieces."""
        rows = np.array([entry.rows for entry in self.entries], np.int64)
        if self.separators and isinstance(self.separators[0], int):
            return NumberKeys(np.array(self.separators, np.uint64)), rows
        return BytesKeys(pa.array(self.separators, pa.binary())), rows


def shortest_separator(last: NativeKey, following: NativeKey) -> NativeKey:
    """A key not below `last` and below `following`, as short as one gets. REQUIRES: last < following.

    >>> shortest_separator(b"blackbird", b"bluejay")
    b'blu'
    """
    if isinstance(last, int) or isinstance(following, int):
        return last
    common = next((i for i, (a, b) in enumerate(zip(last, following)) if a != b), min(len(last), len(following)))
    candidate = following[: common + 1]
    return candidate if last <= candidate < following and len(candidate) < len(last) else last


def _encode_keys(keys: Sequence[NativeKey]) -> bytes:
    if not keys or isinstance(keys[0], int):
        return np.array(keys, "<u8").tobytes()
    ends = np.cumsum([len(key) for key in keys]).astype("<u4")  # type: ignore[arg-type]
    return ends.tobytes() + b"".join(keys)  # type: ignore[arg-type]


def _decode_keys(data: memoryview, count: int, *, number_keys: bool) -> tuple[list[NativeKey], int]:
    if number_keys:
        return np.frombuffer(data, "<u8", count).tolist(), 8 * count
    ends = np.frombuffer(data, "<u4", count).tolist()
    content = bytes(data[4 * count : 4 * count + (ends[-1] if ends else 0)])
    return [content[start:end] for start, end in zip([0, *ends], ends)], 4 * count + len(content)
