"""Numbers of a column chunk: differences to the smallest value, in whole bytes or in bits.
In whole bytes they compress where values repeat. In bits they take about the room that compressing random values
saves, and are read without a decompressor: the low bytes of each difference are one array, its high bits another, 1,
2, 4 or 8 of them for each row, packed from the lowest bit of a byte on."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

WIDTHS = (0, 1, 2, 4, 8)
_HIGH = (1, 2, 4, 8)
_NARROW = sorted(
    (8 * low + high, low, high) for low in (0, 1, 2, 4) for high in _HIGH if 8 * low + high not in (8, 16)
)
_WORDS = {
    high: np.ascontiguousarray(
        (np.arange(256)[:, None] >> np.arange(0, 8, high)).astype(np.uint8) & ((1 << high) - 1)
    )
    .view(f"<u{8 // high}")
    .ravel()
    for high in (1, 2, 4)
}
"""For each byte of packed bits, the values in it, one byte each, as one word."""


def as_numbers(array: pa.Array, values: memoryview) -> npt.NDArray[Any] | None:
    """Return the integers of an array whose fixed-width values these are; None if it has none of 64 bits or less."""
    type = array.type
    if pt.is_integer(type) or pt.is_temporal(type):
        return np.frombuffer(values, f"<i{type.bit_width // 8}")
    if pt.is_decimal128(type):
        words = np.frombuffer(values, "<i8").reshape(-1, 2)  # a decimal is two words, the low one first
        low, high = words[:, 0], words[:, 1]
        fits = high == (low >> 63)  # the high word is nothing but the sign of the low one
        if array.null_count:
            fits = fits | ~np.asarray(array.is_valid())
        return low if fits.all() else None
    return None


def holds_numbers(type: pa.DataType) -> bool:
    """Return whether columns of a type may be stored as numbers."""
    return bool(pt.is_integer(type) or pt.is_temporal(type) or pt.is_decimal128(type))


def differences(numbers: npt.NDArray[Any], valid: bytes | None, rows: int) -> tuple[int, int, bytes]:
    """The width, the base and the differences to it."""
    if valid is not None:  # what stands where a null is does not matter: it is made the smallest of the others
        present = np.unpackbits(np.frombuffer(valid, np.uint8), count=rows, bitorder="little").view(np.bool_)
        numbers = np.where(present, numbers, numbers[present].min())
    base, spread = int(numbers.min()), int(numbers.max()) - int(numbers.min())
    width = next(width for width in WIDTHS if spread < 1 << (8 * width))
    if not width:
        return 0, base, b""
    wide = numbers.astype(np.int64).view(np.uint64) - np.uint64(base & 0xFFFF_FFFF_FFFF_FFFF)
    return width, base, wide.astype(f"<u{width}").tobytes()


def in_bits(stored: memoryview, width: int) -> tuple[int, int, bytes] | None:
    """Differences in bits: the bytes and the high bits of each, and all of them; None where that saves nothing."""
    wide = np.frombuffer(stored, f"<u{width}")
    needed = int(wide.max()).bit_length()
    total, low, high = next((found for found in _NARROW if found[0] >= needed), (64, 8, 0))
    if total >= 8 * width or bits_size(len(wide), low, high) >= len(stored):
        return None
    lows = wide.astype(f"<u{low}").tobytes() if low else b""
    highs = (wide >> (8 * low)).astype(np.uint8)
    return low, high, b"".join((lows, bytes(-len(lows) % 8), _packed(highs, high)))


def bits_size(rows: int, low: int, high: int) -> int:
    """The bytes that differences in bits take."""
    return -(-rows * low // 8) * 8 + -(-rows * high // 8)


def from_bits(stored: memoryview, rows: int, low: int, high: int, target: Any) -> npt.NDArray[Any]:
    """The differences, as numbers of a type. REQUIRES: as many bytes as `bits_size` says."""
    packed = np.frombuffer(stored[-(-rows * low // 8) * 8 :], np.uint8)
    # each packed byte is looked up as one word that has its 8 / high values, one byte each
    highs = packed if high == 8 else np.take(_WORDS[high], packed).view(np.uint8)[:rows]
    numbers = highs.astype(target)
    if low:
        numbers *= target(1 << (8 * low))
        numbers += np.frombuffer(stored, f"<u{low}", rows).astype(target)  # mixed types would be added more slowly
    return numbers


def is_bits(low: int, high: int, bits: int) -> bool:
    """Return whether a writer makes numbers of this form for a type of so many bits."""
    return low in (0, 1, 2, 4) and high in _HIGH and 8 * low < bits


def as_column(type: pa.DataType, numbers: npt.NDArray[Any], base: int, valid: pa.Buffer | None) -> pa.Array:
    """The column of differences, which are changed in place."""
    target = numbers.dtype.type
    numbers += target(base & ((1 << (8 * numbers.itemsize)) - 1))
    rows = len(numbers)
    if pt.is_decimal128(type):
        low = numbers.view(np.int64)
        numbers = np.stack((low, low >> 63), axis=1)
    return pa.Array.from_buffers(type, rows, [valid, pa.py_buffer(numbers)])


def fits_precision(numbers: npt.NDArray[Any], precision: int) -> bool:
    """Return whether all digits of decimals of 64 bits are within a precision."""
    digits, bound = numbers.view(np.int64), 10**precision
    return bool(-bound < int(digits.min()) and int(digits.max()) < bound)


def target_of(type: pa.DataType) -> Any:
    """The unsigned integer of a column's numbers."""
    return np.uint64 if pt.is_decimal128(type) else np.dtype(f"<u{type.bit_width // 8}").type


def _packed(values: npt.NDArray[np.uint8], bits: int) -> bytes:
    if bits == 8:
        return values.tobytes()
    each = 8 // bits
    rows = np.zeros(-(-len(values) // each) * each, np.uint8)
    rows[: len(values)] = values
    # (bytes, values of a byte): each value moved to its bits, then all of a byte joined
    shifted = rows.reshape(-1, each) << np.arange(0, 8, bits, dtype=np.uint8)
    packed: bytes = np.bitwise_or.reduce(shifted, axis=1).tobytes()
    return packed
