"""Hostile files with checksums that hold: damage that only structure can tell."""

import json
import random
import struct
import zlib
from typing import Any

from headwater.lake.engine.sst.format import CODECS, Compression
from tests.fuzz.mutate import mutate_bytes, mutate_json, mutate_value, to_json


def crc(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "little")


def mutate_sst(data: bytes, chance: random.Random) -> bytes:
    """An SSTable with one part changed, and sealed again so that every checksum holds."""
    if chance.random() < 0.05:
        return mutate_bytes(data, chance)
    m_at, _, i_at, _, b_at, b_size, rows = struct.unpack("<QIQIQIQ", data[-48:-4])
    header, meta, index, bloom = (
        data[:28],
        json.loads(data[m_at : i_at - 16]),
        data[i_at : b_at - 4],
        data[b_at : b_at + b_size],
    )
    (count,) = struct.unpack_from("<I", index)
    sizes = struct.unpack_from(f"<{count}I", index, 4 + 8 * count)
    blocks, at = [], 32
    for size in sizes:
        blocks.append(data[at : at + size])
        at += size
    part = chance.randrange(12)
    if part < 6:
        which = chance.randrange(len(blocks))
        blocks[which] = mutate_block(blocks[which], chance)
    elif part < 8:
        meta = mutate_value(meta, chance)
    elif part < 10:
        index = mutate_bytes(index, chance)
    elif part == 10:
        bloom = mutate_bytes(bloom, chance)
    else:
        header = mutate_bytes(header, chance)[:28].ljust(28, b"\0")
    if part < 6 and len(index) >= 4 + 12 * count and chance.random() < 0.9:  # where the blocks now are
        offsets, at = [], 32
        for block in blocks:
            offsets.append(at)
            at += len(block)
        sizes = tuple(len(block) for block in blocks)
        index = index[:4] + struct.pack(f"<{count}Q{count}I", *offsets, *sizes) + index[4 + 12 * count :]
    if isinstance(meta, dict) and isinstance(meta.get("rows"), int) and 0 <= meta["rows"] < 1 << 64:
        rows = meta["rows"]
    return seal_sst(header + crc(header), b"".join(blocks), to_json(meta), (index, bloom, rows))


def seal_sst(header: bytes, blocks: bytes, meta: bytes, rest: tuple[bytes, bytes, int]) -> bytes:
    index, bloom, rows = rest
    index += crc(index)
    m_at = len(header) + len(blocks)
    i_at = m_at + len(meta) + 16
    b_at = i_at + len(index)
    footer = struct.pack("<QIQIQIQ4s", m_at, len(meta) + 16, i_at, len(index), b_at, len(bloom), rows, b"HWST")
    sealed = meta + crc(header) + crc(footer) + crc(bloom)
    return header + blocks + sealed + crc(sealed) + index + bloom + footer


def mutate_block(block: bytes, chance: random.Random) -> bytes:
    """A stored block with a chunk, or a number of its directory, changed; every checksum holds."""
    (count,) = struct.unpack_from("<I", block, len(block) - 12)
    begin = len(block) - 16 - 13 * count
    sizes, raws = (list(struct.unpack_from(f"<{count}I", block, begin + 4 * count * part)) for part in (0, 1))
    codecs, trailer = bytearray(block[begin + 12 * count : -16]), bytearray(block[-16:-4])
    chunks, at = [], 0
    for size in sizes:
        chunks.append(block[at : at + size])
        at += -(-size // 8) * 8
    if chance.random() < 0.75:
        which = chance.randrange(count)
        if codecs[which]:
            chunks[which] = CODECS[Compression(codecs[which])].decompress(chunks[which], raws[which], asbytes=True)
        chunks[which], codecs[which] = mutate_bytes(chunks[which], chance), 0
        sizes[which] = raws[which] = len(chunks[which])
    elif chance.random() < 0.5:
        numbers = chance.choice((sizes, raws))
        numbers[chance.randrange(count)] = chance.choice((0, 1, 8, (1 << 32) - 1, chance.randrange(1 << 16)))
    else:
        at = chance.randrange(count + len(trailer))
        part, at = (codecs, at) if at < count else (trailer, at - count)
        part[at] = chance.choice((0, 1, 2, 3, 4, 255, chance.randrange(256)))
    padded = [chunk + bytes(-len(chunk) % 8) for chunk in chunks]
    sums = [zlib.crc32(chunk) for chunk in padded]
    body = b"".join(padded) + struct.pack(f"<{3 * count}I", *sizes, *raws, *sums) + codecs + trailer
    (claimed,) = struct.unpack_from("<I", trailer, 4)
    return body + crc(body[max(0, len(body) - 12 - 13 * claimed) :])  # of the directory, as a reader finds it


def mutate_wal(data: bytes, chance: random.Random) -> bytes:
    """A log with records changed inside, each with a checksum that holds."""
    if chance.random() < 0.3:
        return mutate_bytes(data, chance)
    out, at = bytearray(data[:8]), 8
    bodies = []
    while at + 8 <= len(data):
        (length,) = struct.unpack_from("<I", data, at)
        bodies.append(data[at + 4 : at + 4 + length])
        at += length + 8
    which = chance.randrange(len(bodies))
    bodies[which] = mutate_bytes(bodies[which], chance)
    for body in bodies:
        record = struct.pack("<I", len(body)) + body
        out += record + crc(record)
    return bytes(out)


def mutate_snapshot(value: Any, chance: random.Random, encode: Any) -> bytes:
    """A snapshot whose checksum is that of what it says, as far as it can be said."""
    changed = mutate_value(value, chance)
    if not isinstance(changed, dict):
        return mutate_json(value, chance)
    changed.pop("checksum", None)
    sealed = encode(to_json(changed))
    if sealed is None:
        return mutate_json(changed, chance)
    return to_json(changed | {"checksum": sealed})


def mutate_lines(body: Any, chance: random.Random) -> bytes:
    """JSON with its CRC-32 behind it, as manifest lists and versions have it."""
    data = mutate_json(body, chance)
    return data + b"\n%08x\n" % zlib.crc32(data)
