"""The Bloom filter: may a file hold a key?

    bits per key (4) · hash count (4) · total bits (8) · bit array

Position i of a key with hash h is `(low32(h) + i · (high32(h) | 1)) mod total bits`; bit p is bit p mod 8 of byte
p div 8. Hashes are MurmurHash3 of the encoded key.
"""

import struct

import mmh3
import numpy as np
import numpy.typing as npt

from headwater.errors import CorruptFileError
from headwater.lake.keys.murmur import Hashes

_PREFIX = struct.Struct("<IIQ")


class BloomFilter:
    """A filter that is being read. `None` of its answers is wrong when it says no."""

    __slots__ = ("_array", "_bits", "_steps", "bits_per_key", "hash_count", "total_bits")

    def __init__(self, data: bytes | memoryview) -> None:
        if len(data) < _PREFIX.size:
            raise CorruptFileError("a Bloom filter is cut off")
        self.bits_per_key, self.hash_count, self.total_bits = _PREFIX.unpack(data[: _PREFIX.size])
        self._bits = bytes(data[_PREFIX.size :])
        if len(self._bits) * 8 < self.total_bits:
            raise CorruptFileError("a Bloom filter is cut off")
        self._steps = range(self.hash_count)
        self._array = np.frombuffer(self._bits, np.uint8)

    @classmethod
    def build(cls, hashes: Hashes, *, bits_per_key: int = 10, hash_count: int = 7) -> bytes:
        """The stored form of a filter over keys with these hashes."""
        total = max(64, -(-len(hashes) * bits_per_key // 8) * 8)
        marks = np.zeros(total, np.bool_)  # one byte per bit: scattering bytes is faster than setting bits
        start, step = _halves(hashes)
        position = start % np.uint64(total)
        step %= np.uint64(total)
        for _ in range(hash_count):
            marks[position] = True
            position += step
            np.subtract(position, np.uint64(total), out=position, where=position >= total)
        return _PREFIX.pack(bits_per_key, hash_count, total) + np.packbits(marks, bitorder="little").tobytes()

    def might_contain(self, key: bytes) -> bool:
        """Whether a key may be there; False is certain."""
        digest: int = mmh3.hash64(key, signed=False)[0]
        total, bits = self.total_bits, self._bits
        if not total:
            return True
        position = (digest & 0xFFFFFFFF) % total
        step = (digest >> 32 | 1) % total
        for _ in self._steps:
            if not bits[position >> 3] >> (position & 7) & 1:
                return False
            position += step
            if position >= total:
                position -= total
        return True

    def might_contain_many(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        """`might_contain` for many keys by their hashes."""
        start, step = _halves(hashes)
        result = np.ones(len(hashes), np.bool_)
        for turn in self._steps:
            position = (start + np.uint64(turn) * step) % np.uint64(self.total_bits)
            result &= (self._array[position >> np.uint64(3)] >> (position & np.uint64(7)).astype(np.uint8)) & 1 == 1
        return result

    @property
    def nbytes(self) -> int:
        return len(self._bits)


def _halves(hashes: Hashes) -> tuple[Hashes, Hashes]:
    return hashes & np.uint64(0xFFFFFFFF), (hashes >> np.uint64(32)) | np.uint64(1)
