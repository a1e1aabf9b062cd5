"""Varints: seven bits to a byte, low bits first, the top bit set on all bytes but the last.

Lengths below 128 are one byte each, so an array of them is an array of bytes; only longer ones are walked.
"""

import numpy as np
import numpy.typing as npt


def encode_varints(values: npt.NDArray[np.int64]) -> bytes:
    """Numbers one after the other. REQUIRES: none is negative."""
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
    """The first `count` numbers and how many bytes they took.

    RAISES: IndexError when the data ends before.
    """
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
