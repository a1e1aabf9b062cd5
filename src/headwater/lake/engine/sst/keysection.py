"""The keys of a block, searchable without decoding them.

Number keys: base (8) · width (1) · zeros (3) · step (4) · the difference of each key to the base in `width` bytes.
Keys in a block are close together: a difference mostly takes one or two bytes, and bisection runs on them directly.
Keys that are all `step` apart take no bytes: their width is 0.

Byte keys: size of the lengths (4) · shared length of each key · unshared length of each key (varints) · the unshared
bytes · offset of each restart key in them (4 each) · restart count (4). Every sixteenth key is a restart key, stored
whole; the others share a prefix with the restart key before them, so any key is decoded in one step.
"""

import struct
from bisect import bisect_left
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.lake.engine.keys import BytesKeys, Keys, NativeKey, NumberKeys
from headwater.lake.engine.sst.format import corrupt, decoding


def encode_varints(values: npt.NDArray[np.int64]) -> bytes:
    """Numbers one after the other: seven bits to a byte, low bits first, the top bit set on all bytes but the last.
    REQUIRES: none is negative."""
    if values.max(initial=0) < 0x80:
        return values.astype(np.uint8).tobytes()
    out = bytearray()
    for value in values.tolist():
        while value >= 0x80:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        out.append(value)
    return bytes(out)


def decode_varints(data: npt.NDArray[np.uint8], count: int) -> tuple[npt.NDArray[np.int64], int]:
    """The first `count` numbers and how many bytes they took. RAISES: IndexError when the data ends before."""
    head = data[:count]
    if len(head) == count and not np.any(head & 0x80):
        return head.astype(np.int64), count
    values, at = np.zeros(count, np.int64), 0
    for index in range(count):
        value, shift = 0, 0
        while True:
            byte = int(data[at])
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        values[index] = value
    return values, at


Place = tuple[str, str, int]
"""The file, the part of it and its offset, for those who must say that it is damaged."""
RESTART_INTERVAL = 16
_NUMBERS = struct.Struct("<QB3xI")
_FORMATS: dict[int, Any] = {1: "B", 2: "H", 4: "I", 8: "Q"}
_MATRIX_LIMIT = 1 << 24  # bytes; a block with one giant key is encoded key by key


def encode_keys(keys: Keys) -> bytes:
    """The key section of sorted keys. REQUIRES: at least one key."""
    if isinstance(keys, NumberKeys):
        values = keys.values
        spread = int(values[-1] - values[0])
        step = int(values[1] - values[0]) if len(values) > 1 else 1
        if step < 1 << 32 and spread == step * (len(values) - 1) and (np.diff(values) == step).all():
            return _NUMBERS.pack(int(values[0]), 0, step)
        width = next(width for width in _FORMATS if spread < 1 << (8 * width))
        deltas: bytes = (values - values[0]).astype(f"<u{width}").tobytes()
        return _NUMBERS.pack(int(values[0]), width, 0) + deltas
    shared, data = _prefixes(keys)
    unshared = keys.lengths - shared
    lengths = encode_varints(shared) + encode_varints(unshared)
    restarts = _begins(unshared)[:-1:RESTART_INTERVAL].astype("<u4")
    return b"".join(
        (struct.pack("<I", len(lengths)), lengths, data, restarts.tobytes(), struct.pack("<I", len(restarts)))
    )


class NumberSection:
    """The keys of a block of numbers."""

    __slots__ = ("_base", "_deltas", "_rows", "_step", "_width")

    def __init__(self, data: memoryview, rows: int, at: Place) -> None:
        self._base, self._width, self._step = _NUMBERS.unpack(data[: _NUMBERS.size])
        self._rows = rows
        known = self._width in _FORMATS or (self._width == 0 and self._step > 0)
        last = self._base + self._step * (rows - 1)
        if not known or last >= 1 << 64 or len(data) != _NUMBERS.size + rows * self._width:
            raise corrupt(*at)
        self._deltas = data[_NUMBERS.size :].cast(_FORMATS[self._width]) if self._width else data

    def find(self, key: NativeKey) -> int:
        """The position of a key, -1 if it is not there."""
        delta = key - self._base
        if not self._width:
            at, rest = divmod(delta, self._step)
            return at if not rest and 0 <= at < self._rows else -1
        at = bisect_left(self._deltas, delta)
        return at if at < self._rows and self._deltas[at] == delta else -1

    def keys(self) -> NumberKeys:
        if not self._width:
            steps = np.arange(self._rows, dtype=np.uint64) * np.uint64(self._step)
            return NumberKeys(steps + np.uint64(self._base))
        deltas = np.frombuffer(self._deltas, f"<u{self._width}")
        return NumberKeys(deltas.astype(np.uint64) + np.uint64(self._base))


class BytesSection:
    """The keys of a block of bytes."""

    def __init__(self, data: memoryview, rows: int, at: Place) -> None:
        self._data = data
        self._rows = rows
        self._at = at

    @cached_property
    def _lengths(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The shared and the unshared length of each key: a scan that needs no keys never decodes them.
        RAISES: CorruptFileError unless each key shares no more than its restart key has, and all fill the section."""
        with decoding(*self._at):
            (size,) = struct.unpack("<I", self._data[:4])
            lengths = np.frombuffer(self._data[4 : 4 + size], np.uint8)
            if self._rows > len(lengths):
                raise corrupt(*self._at)
            both, _ = decode_varints(lengths, 2 * self._rows)
            shared, unshared = both[: self._rows], both[self._rows :]
            # for each key, the length of its restart key: what it shares cannot be longer
            whole = np.repeat(unshared[::RESTART_INTERVAL], RESTART_INTERVAL)[: self._rows]
            begins = _begins(unshared)
            fits: object = both.min() >= 0 and (shared <= whole).all()
            fits = fits and not shared[::RESTART_INTERVAL].any() and begins[-1] == len(self._suffixes)
            if not fits or begins[:-1:RESTART_INTERVAL].tolist() != self._restarts.tolist():
                raise corrupt(*self._at)
        return shared, unshared

    @cached_property
    def _restarts(self) -> memoryview:
        with decoding(*self._at):
            (count,) = struct.unpack("<I", self._data[-4:])
            if count != -(-self._rows // RESTART_INTERVAL) or 8 + 4 * count > len(self._data):
                raise corrupt(*self._at)
            return self._data[len(self._data) - 4 - 4 * count : len(self._data) - 4].cast("I")

    @cached_property
    def _suffixes(self) -> bytes:
        (size,) = struct.unpack("<I", self._data[:4])
        return bytes(self._data[4 + size : len(self._data) - 4 - 4 * len(self._restarts)])

    @cached_property
    def _shared_list(self) -> list[int]:
        return list(map(int, self._lengths[0]))

    @cached_property
    def _unshared_list(self) -> list[int]:
        return list(map(int, self._lengths[1]))

    def find(self, key: NativeKey) -> int:
        """The position of a key, -1 if it is not there: bisection over restart keys, then at most sixteen steps."""
        assert isinstance(key, bytes)
        if not len(self._unshared_list):
            return -1
        low, high = 0, len(self._restarts) - 1
        while low < high:
            middle = (low + high + 1) >> 1
            if self._restart_key(middle) <= key:
                low = middle
            else:
                high = middle - 1
        at = self._restarts[low]
        whole = self._restart_key(low)
        first = low * RESTART_INTERVAL
        for index in range(first, min(first + RESTART_INTERVAL, self._rows)):
            shared, unshared = self._shared_list[index], self._unshared_list[index]
            if shared + unshared == len(key) and self._suffixes[at : at + unshared] == key[shared:]:  # noqa: SIM102
                if whole[:shared] == key[:shared]:
                    return index
            at += unshared
        return -1

    def _restart_key(self, restart: int) -> bytes:
        at = self._restarts[restart]
        return self._suffixes[at : at + self._unshared_list[restart * RESTART_INTERVAL]]

    def keys(self) -> BytesKeys:
        shared, unshared = self._lengths
        lengths = shared + unshared
        offsets, suffix_at = _begins(lengths), _begins(unshared)[:-1]
        suffixes = np.frombuffer(self._suffixes, np.uint8)
        if offsets[-1] == lengths[0] * self._rows and (lengths == lengths[0]).all():
            # keys of one length: their restart keys, and over these what they do not share
            columns = np.arange(int(lengths[0]))
            whole = suffixes[suffix_at[::RESTART_INTERVAL, None] + columns]  # (restart keys, length)
            matrix = np.repeat(whole, RESTART_INTERVAL, axis=0)[: len(shared)]  # (keys, length)
            matrix[columns >= shared[:, None]] = suffixes  # row by row: the order in which they are stored
            data = matrix.reshape(-1)
        else:
            # one item for each byte of all keys: its place in its key, and where in the suffixes it is taken from
            restart = np.arange(self._rows) // RESTART_INTERVAL * RESTART_INTERVAL
            inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
            from_restart = np.repeat(suffix_at[restart], lengths)
            from_suffix = np.repeat(suffix_at - shared, lengths)
            data = suffixes[np.where(inside < np.repeat(shared, lengths), from_restart, from_suffix) + inside]
        buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
        return BytesKeys(pa.BinaryArray.from_buffers(pa.binary(), self._rows, buffers))


def _begins(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where each of some pieces begins, and where the last ends."""
    found = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=found[1:])
    return found


def _prefixes(keys: BytesKeys) -> tuple[npt.NDArray[np.int64], bytes]:
    """Return how much each key shares with its restart key, and the bytes it does not share."""
    lengths, longest = keys.lengths, keys.longest
    if longest * len(keys) > _MATRIX_LIMIT:
        return _prefixes_one_by_one(keys)
    matrix, columns = keys.padded(longest), np.arange(longest)  # all matrices here are (keys, longest)
    whole = np.repeat(matrix[::RESTART_INTERVAL], RESTART_INTERVAL, axis=0)[: len(keys)]
    same = matrix == whole
    filled = columns < lengths[:, None]
    if not filled.all():
        same &= filled & np.repeat(filled[::RESTART_INTERVAL], RESTART_INTERVAL, axis=0)[: len(keys)]
    # argmin of booleans is the first False: the first byte that differs
    shared = np.where(same.all(axis=1), longest, np.argmin(same, axis=1)).astype(np.int64)
    shared[::RESTART_INTERVAL] = 0
    return shared, matrix[filled & (columns >= shared[:, None])].tobytes()


def _prefixes_one_by_one(keys: BytesKeys) -> tuple[npt.NDArray[np.int64], bytes]:
    shared, suffixes, whole = np.zeros(len(keys), np.int64), [], b""
    for index, key in enumerate(keys.values.to_pylist()):
        if index % RESTART_INTERVAL == 0:
            whole = key
        else:
            pairs = zip(key, whole)
            shared[index] = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(key), len(whole)))
        suffixes.append(key[shared[index] :])
    return shared, b"".join(suffixes)
