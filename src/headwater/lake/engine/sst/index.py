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

from headwater.lake.engine.keys import Keys, NativeKey, keys_of
from headwater.lake.engine.sst.format import Handle, corrupt, decoding


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One data block: its keys lie between `first_key` and `separator`, both included."""

    first_key: NativeKey
    separator: NativeKey
    handle: Handle
    rows: int


class IndexBlock:
    """The index of an open file, by column; entries are made when they are asked for."""

    def __init__(
        self,
        first_keys: list[NativeKey],
        separators: list[NativeKey],
        offsets: npt.NDArray[np.int64],
        sizes: npt.NDArray[np.int64],
        rows: list[int],
    ) -> None:
        self.first_keys = first_keys
        self.separators = separators
        self._offsets = offsets
        self._sizes = sizes
        self._rows = rows

    @classmethod
    def of(cls, entries: Sequence[IndexEntry]) -> "IndexBlock":
        """The index of blocks in the order of their keys."""
        return cls(
            [entry.first_key for entry in entries],
            [entry.separator for entry in entries],
            np.array([entry.handle.offset for entry in entries], np.int64),
            np.array([entry.handle.size for entry in entries], np.int64),
            [entry.rows for entry in entries],
        )

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def entries(self) -> list[IndexEntry]:
        """One for each block."""
        parts = zip(self.first_keys, self.separators, self.handles(range(len(self))), self._rows)
        return [IndexEntry(*each) for each in parts]

    def handle(self, number: int) -> Handle:
        """Return where a block is."""
        return Handle(int(self._offsets[number]), int(self._sizes[number]))

    def handles(self, numbers: range) -> list[Handle]:
        """Return where some blocks are that follow each other."""
        some = slice(numbers.start, numbers.stop)
        return [Handle(*each) for each in zip(self._offsets[some].tolist(), self._sizes[some].tolist())]

    def fills(self, start: int, end: int) -> bool:
        """Return whether the blocks follow each other without a gap from `start` to `end`."""
        if not len(self):
            return start == end
        ends = self._offsets + self._sizes
        return bool(self._offsets[0] == start and ends[-1] == end and (self._offsets[1:] == ends[:-1]).all())

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
        columns = (
            struct.pack("<I", len(self)),
            self._offsets.astype("<u8").tobytes(),
            self._sizes.astype("<u4").tobytes(),
            np.array(self._rows, "<u4").tobytes(),
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
            offsets = np.frombuffer(data[4:], "<u8", count).astype(np.int64)
            sizes = np.frombuffer(data[4 + 8 * count :], "<u4", count).astype(np.int64)
            rows = np.frombuffer(data[4 + 12 * count :], "<u4", count).tolist()
            separators, used = _decode_keys(data[4 + 16 * count :], count, number_keys=number_keys)
            first_keys, _ = _decode_keys(data[4 + 16 * count + used :], count, number_keys=number_keys)
        return cls(first_keys, separators, offsets, sizes, rows)

    def boundaries(self) -> tuple[Keys, npt.NDArray[np.int64]]:
        """The separators and the number of rows of each block, for cutting a scan into even pieces."""
        return self._column(self.separators), np.array(self._rows, np.int64)

    def firsts(self) -> Keys:
        """The first key of each block."""
        return self._column(self.first_keys)

    def _column(self, keys: list[NativeKey]) -> Keys:
        return keys_of(keys, number_keys=bool(keys) and isinstance(keys[0], int))


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
