"""Compression of the parts of a file, and unpacking that no file can abuse."""

import pyarrow as pa

from headwater.lake.engine.sst.format import Compression, corrupt, decoding

MOST_BYTES = 1 << 31
"""No part is larger: a writer closes a block at some megabytes, and one row fits into Arrow's 32-bit offsets."""
_MOST_FOLD = {Compression.LZ4: 256, Compression.ZSTD: 100_000, Compression.SNAPPY: 64}  # bytes made of one
_ALIGNED = 8  # a number in Arrow lies at a multiple of its size; other engines refuse arrays where it does not
CODECS = {
    Compression.LZ4: pa.Codec("lz4_raw"),
    Compression.ZSTD: pa.Codec("zstd", compression_level=1),
    Compression.SNAPPY: pa.Codec("snappy"),
}


def unpacked(payload: pa.Buffer, codec: int, raw_size: int, at: tuple[str, str, int]) -> pa.Buffer:
    """The bytes that were compressed.

    RAISES: CorruptFileError when they are not `raw_size` bytes, or claim to be more than a writer makes.
    """
    if codec == Compression.NONE:
        if payload.size != raw_size:
            raise corrupt(*at)
        return payload if payload.address % _ALIGNED == 0 else pa.py_buffer(payload.to_pybytes())
    if raw_size > min(MOST_BYTES, payload.size * _MOST_FOLD.get(codec, 0)):  # type: ignore[call-overload]
        raise corrupt(*at)
    with decoding(*at):
        return CODECS[Compression(codec)].decompress(payload, raw_size)
