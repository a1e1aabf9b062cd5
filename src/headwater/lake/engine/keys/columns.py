"""Many encoded keys as one column.
A key has two forms, decided by the table's key columns (`keys/codec.py`): a number below 2⁶⁴, or bytes. Both compare
as the rows' keys do, and one table has only one of them. `NativeKey` is a single key in its form: what dictionaries
are keyed by and what bisection compares."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.lake.engine.keys.murmur import STEP, Hashes, hash_bytes, hash_short, hash_u64
from headwater.lazy import arrow_compute as pc

NativeKey: TypeAlias = int | bytes
Order: TypeAlias = npt.NDArray[np.int64]

_FEW = 16
_LONGEST_IN_WORDS = 48  # longer keys are sorted by Arrow: one pass per eight bytes costs more than comparing


@dataclass(frozen=True)
class NumberKeys:
    """Keys that are numbers."""

    values: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.values)

    def native(self, index: int) -> NativeKey:
        return int(self.values[index])

    def slice(self, start: int, stop: int) -> "NumberKeys":
        return NumberKeys(self.values[start:stop])

    def take(self, order: Order) -> "NumberKeys":
        return NumberKeys(self.values[order])

    def search(self, key: NativeKey, *, right: bool = False) -> int:
        """Return how many keys are below `key`, or with `right` not above it. REQUIRES: sorted keys."""
        return int(np.searchsorted(self.values, np.uint64(key), "right" if right else "left"))

    def sort_order(self) -> Order:
        """The order that sorts the keys and keeps equal ones as they are."""
        descents = np.count_nonzero(self.values[1:] < self.values[:-1])
        if descents * _FEW < len(self.values):
            return np.argsort(self.values, kind="stable")  # recognises sorted runs and merges them
        # sixteen bits at a time, lowest first: numpy sorts 16-bit numbers without comparing them
        values = self.values - self.values.min()
        order = np.argsort(values.astype(np.uint16), kind="stable")
        largest, shift = int(values.max()), 16
        while largest >> shift:
            digits = (values[order] >> np.uint64(shift)).astype(np.uint16)
            order = order[np.argsort(digits, kind="stable")]
            shift += 16
        return order

    def boundary_order(self) -> Order:
        """An order that sorts keys and separators, which may be the beginning of a key."""
        return self.sort_order()

    def differ_from_next(self) -> npt.NDArray[np.bool_]:
        """For each key, whether the next is another; the last always differs."""
        return np.append(self.values[1:] != self.values[:-1], True)

    def is_increasing(self) -> bool:
        return bool(np.all(self.values[1:] > self.values[:-1]))

    def find(self, wanted: "Keys") -> Order:
        """Return where each wanted key is, -1 where it is not. REQUIRES: sorted keys of the same form."""
        assert isinstance(wanted, NumberKeys)
        at = np.searchsorted(self.values, wanted.values)  # for each wanted key, the first of ours not below it
        found = at < len(self.values)
        found[found] = self.values[at[found]] == wanted.values[found]
        return np.where(found, at, -1)

    def hashes(self) -> Hashes:
        return hash_u64(self.values)

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes)


@dataclass(frozen=True)
class BytesKeys:
    """Keys that are bytes; no key is the beginning of another."""

    values: pa.BinaryArray

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        raw = np.frombuffer(self.values.buffers()[1], np.int32, len(self) + 1 + self.values.offset)
        return raw[self.values.offset :].astype(np.int64)

    @cached_property
    def data(self) -> npt.NDArray[np.uint8]:
        buffer = self.values.buffers()[2]
        return np.frombuffer(buffer, np.uint8) if buffer is not None else np.zeros(0, np.uint8)

    def native(self, index: int) -> NativeKey:
        at = index if index >= 0 else len(self) + index
        return self.data[self.offsets[at] : self.offsets[at + 1]].tobytes()

    def slice(self, start: int, stop: int) -> "BytesKeys":
        return BytesKeys(self.values.slice(start, max(0, stop - start)))

    def take(self, order: Order) -> "BytesKeys":
        return BytesKeys(self.values.take(pa.array(order)))

    def search(self, key: NativeKey, *, right: bool = False) -> int:
        """Return how many keys are below `key`, or with `right` not above it. REQUIRES: sorted keys."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            here = self.native(middle)
            if here < key or (right and here == key):  # type: ignore[operator]
                low = middle + 1
            else:
                high = middle
        return low

    def sort_order(self) -> Order:
        """The order that sorts the keys and keeps equal ones as they are.
        REQUIRES: none is the beginning of another."""
        if self.longest > _LONGEST_IN_WORDS:
            return pc.sort_indices(self.values).to_numpy().astype(np.int64)  # type: ignore[no-any-return]
        words = self._words(-(-self.longest // 8))
        return np.lexsort(words[::-1]) if len(words) > 1 else np.argsort(words[0], kind="stable")

    def boundary_order(self) -> Order:
        """An order that sorts keys and separators, which may be the beginning of a key."""
        return pc.sort_indices(self.values).to_numpy().astype(np.int64)  # type: ignore[no-any-return]

    def differ_from_next(self) -> npt.NDArray[np.bool_]:
        """For each key, whether the next is another; the last always differs."""
        differ = pc.not_equal(self.values.slice(1), self.values.slice(0, len(self) - 1))
        return np.append(differ.to_numpy(zero_copy_only=False), True)

    def is_increasing(self) -> bool:
        if len(self) < 2:
            return True
        return bool(pc.all(pc.greater(self.values.slice(1), self.values.slice(0, len(self) - 1))).as_py())

    def find(self, wanted: "Keys") -> Order:
        """Return where each wanted key is, -1 where it is not."""
        assert isinstance(wanted, BytesKeys)
        return pc.index_in(wanted.values, value_set=self.values).fill_null(-1).to_numpy().astype(np.int64)  # type: ignore[no-any-return]

    def hashes(self) -> Hashes:
        if self.longest < STEP:
            return hash_short(self.padded(STEP), self.lengths)
        return hash_bytes(self.data, self.offsets)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.diff(self.offsets)

    @cached_property
    def longest(self) -> int:
        return int(self.lengths.max(initial=0))

    def padded(self, width: int) -> npt.NDArray[np.uint8]:
        """A row of `width` bytes for each key, zeros behind its own. REQUIRES: no key is longer."""
        matrix = np.zeros((len(self), width), np.uint8)
        data = self.data[self.offsets[0] : self.offsets[-1]]
        if len(data) == self.longest * len(self):  # all have one length
            matrix[:, : self.longest] = data.reshape(len(self), self.longest)
        else:  # a mask of (keys, width) fills row by row, which is the order of the bytes
            matrix[np.arange(width) < self.lengths[:, None]] = data
        return matrix

    @property
    def nbytes(self) -> int:
        return int(self.offsets[-1] - self.offsets[0]) + 4 * len(self)

    def _words(self, count: int) -> list[npt.NDArray[np.uint64]]:
        """The keys as columns of big-endian words, padded with zeros.
        Padding keeps the order because no key is the beginning of another."""
        count = max(1, count)
        words = self.padded(8 * count).view(">u8").astype(np.uint64)
        return [words[:, column] for column in range(count)]


Keys: TypeAlias = NumberKeys | BytesKeys


def concat_keys(parts: Sequence[Keys]) -> Keys:
    """All keys of the parts in order. REQUIRES: at least one part, all of one form."""
    if isinstance(parts[0], NumberKeys):
        return NumberKeys(np.concatenate([part.values for part in parts]))
    return BytesKeys(pa.concat_arrays([part.values for part in parts]))


def keys_of(keys: Sequence[NativeKey], *, number_keys: bool) -> Keys:
    """Single keys as a column."""
    if number_keys:
        return NumberKeys(np.array(keys, np.uint64))
    return BytesKeys(pa.array(keys, pa.binary()))


def as_bytes(key: NativeKey) -> bytes:
    """A key in the form of metadata and Bloom filters: numbers as eight bytes, most significant first."""
    return key.to_bytes(8, "big") if isinstance(key, int) else key
