"""The Bloom filter: may a file hold a key?

    bits per key (4) · hash count (4) · total bits (8) · bit array

The positions of a key are `a, a + b, a + 2b, …` modulo n, the total of bits, with `a = low32(h) · n div 2³²` and
`b = (high32(h) · n div 2³²) | 1` for its hash h: MurmurHash3 of the encoded key. Bit p is bit p mod 8 of byte
p div 8.
"""

import struct
from collections.abc import Iterator

import mmh3
import numpy as np
import numpy.typing as npt

from headwater.errors import CorruptFileError
from headwater.lake.engine.keys.murmur import Hashes

_PREFIX = struct.Struct("<IIQ")
_MOST_HASHES = 64  # we write 7; a file that names millions would hold its reader for hours
_AT_ONCE = 16_384  # keys: their positions stay in the processor's cache


class BloomFilter:
    """A filter that is being read. `None` of its answers is wrong when it says no."""

    __slots__ = ("_bits", "_steps", "bits_per_key", "hash_count", "total_bits")

    def __init__(self, data: bytes | memoryview) -> None:
        if len(data) < _PREFIX.size:
            raise CorruptFileError("a Bloom filter is cut off")
        self.bits_per_key, self.hash_count, self.total_bits = _PREFIX.unpack(data[: _PREFIX.size])
        self._bits = bytes(data[_PREFIX.size :])
        if not 0 < self.total_bits <= len(self._bits) * 8:
            raise CorruptFileError("a Bloom filter is cut off")
        if not 0 < self.hash_count <= _MOST_HASHES:
            raise CorruptFileError(f"a Bloom filter names {self.hash_count} hashes, of 1 to {_MOST_HASHES}")
        self._steps = range(self.hash_count)

    @classmethod
    def build(cls, hashes: Hashes, *, bits_per_key: int = 10, hash_count: int = 7) -> bytes:
        """The stored form of a filter over keys with these hashes."""
        total = max(64, -(-len(hashes) * bits_per_key // 8) * 8)
        marks = np.zeros(total, np.bool_)  # one byte per bit: scattering bytes is faster than setting bits
        for start in range(0, len(hashes), _AT_ONCE):
            for positions in _positions(hashes[start : start + _AT_ONCE], total, hash_count):
                marks[positions] = True
        return _PREFIX.pack(bits_per_key, hash_count, total) + np.packbits(marks, bitorder="little").tobytes()

    def might_contain(self, key: bytes) -> bool:
        """Return whether a key may be there; False is certain."""
        digest: int = mmh3.hash64(key, signed=False)[0]
        total, bits = self.total_bits, self._bits
        position = (digest & 0xFFFFFFFF) * total >> 32
        step = (digest >> 32) * total >> 32 | 1
        for _ in self._steps:
            if not bits[position >> 3] >> (position & 7) & 1:
                return False
            position += step
            if position >= total:
                position -= total
        return True


def _positions(hashes: Hashes, total: int, count: int) -> Iterator[npt.NDArray[np.int64]]:
    """The first position of every key, then the second of every key, and so on."""
    size = np.uint64(total)
    position = (hashes & np.uint64(0xFFFFFFFF)) * size >> np.uint64(32)
    step = (hashes >> np.uint64(32)) * size >> np.uint64(32) | np.uint64(1)
    for _ in range(count):
        yield position.view(np.int64)
        position += step
        np.minimum(position, position - size, out=position)  # below zero wraps to a huge number: the remainder
