"""MurmurHash3 (x64, 128 bit; the first 64 are used) of many keys at once, equal bit for bit to `mmh3.hash64`.
Keys of any length are hashed sixteen bytes at a time, all keys in step; a key that has ended stands still. A zero
byte in the tail contributes nothing to the hash, so padding a tail with zeros does not change it."""

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]

_C1 = np.uint64(0x87C37B91114253D5)
_C2 = np.uint64(0x4CF5AD432745937F)
_FIVE = np.uint64(5)
_N1 = np.uint64(0x52DCE729)
_N2 = np.uint64(0x38495AB5)
_EIGHT = np.uint64(8)
STEP = 16
"""Bytes that are hashed at once; what is left of a key is its tail."""
_AT_ONCE = 16_384  # keys: what is computed of them stays in the processor's cache


def hash_u64(keys: npt.NDArray[np.uint64]) -> Hashes:
    """Hash keys of eight bytes each: the big-endian bytes of the numbers."""
    found = np.empty(len(keys), np.uint64)
    for start in range(0, len(keys), _AT_ONCE):
        tail = _mix1(keys[start : start + _AT_ONCE].byteswap())
        found[start : start + _AT_ONCE] = _finish(tail ^ _EIGHT, np.full(len(tail), _EIGHT))
    return found


def hash_bytes(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> Hashes:
    """Hash keys of any length: key i is `data[offsets[i]:offsets[i + 1]]`."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    padded = np.concatenate([data, np.zeros(16, np.uint8)])  # so that sixteen bytes can be read at any position
    h1 = np.zeros(len(lengths), np.uint64)
    h2 = np.zeros(len(lengths), np.uint64)
    blocks = lengths // 16
    for turn in range(int(blocks.max(initial=0))):
        live = np.flatnonzero(blocks > turn)
        k1, k2 = _words(padded, starts[live] + 16 * turn)
        a = (_rotate(h1[live] ^ _mix1(k1), 27) + h2[live]) * _FIVE + _N1
        h2[live] = (_rotate(h2[live] ^ _mix2(k2), 31) + a) * _FIVE + _N2
        h1[live] = a
    k1, k2 = _words(padded, starts + 16 * blocks)
    rest = lengths - 16 * blocks
    h2 ^= _mix2(k2 & _mask(rest - 8))
    h1 ^= _mix1(k1 & _mask(rest))
    size = lengths.astype(np.uint64)
    return _finish(h1 ^ size, h2 ^ size)


def hash_short(padded: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int64]) -> Hashes:
    """Hash keys that are nothing but a tail, each in a row of `STEP` bytes that ends in zeros."""
    words, size = padded.view("<u8"), lengths.astype(np.uint64)
    return _finish(_mix1(words[:, 0]) ^ size, _mix2(words[:, 1]) ^ size)


def _words(data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]) -> tuple[Hashes, Hashes]:
    """The two little-endian words at each start, wherever it lies."""
    at = np.lib.stride_tricks.sliding_window_view(data, 16)[starts]
    words = np.ascontiguousarray(at).view("<u8")
    return words[:, 0].astype(np.uint64), words[:, 1].astype(np.uint64)


def _mask(count: npt.NDArray[np.int64]) -> Hashes:
    """Keep the first `count` bytes of a word: none below zero, all from eight."""
    masks = np.array([(1 << (8 * n)) - 1 for n in range(9)], np.uint64)
    return masks[np.clip(count, 0, 8)]


def _mix1(k: Hashes) -> Hashes:
    return _rotate(k * _C1, 31) * _C2


def _mix2(k: Hashes) -> Hashes:
    return _rotate(k * _C2, 33) * _C1


def _rotate(value: Hashes, by: int) -> Hashes:
    return (value << np.uint64(by)) | (value >> np.uint64(64 - by))


def _finish(h1: Hashes, h2: Hashes) -> Hashes:
    h1 = h1 + h2
    h2 = h2 + h1
    return _avalanche(h1) + _avalanche(h2)


def _avalanche(k: Hashes) -> Hashes:
    k = (k ^ (k >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    k = (k ^ (k >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return k ^ (k >> np.uint64(33))
