"""Making bad inputs out of good ones: bytes, JSON values and text, by a seeded chance."""

import json
import random
import string
import struct
from typing import Any

NUMBERS = (0, 1, -1, 7, 127, 128, 255, 256, 65535, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40)
NUMBERS += ((1 << 63) - 1, 1 << 63, (1 << 64) - 1, -(1 << 31), -(1 << 63), 10**30)
TEXTS = (
    "",
    " ",
    "\x00",
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    "a/../../b",
    "a\\b",
    "\udcff",
    "é" * 50,
    "x" * 5000,
)
TEXTS += (
    "null",
    "NaN",
    "-1",
    "1e999",
    "s3://other/place",
    "%2e%2e%2f",
    "{{ 7 * 7 }}",
    "'; DROP TABLE t; --",
    "\u202e",
)
TEXTS += (
    "STRUCT<" * 40,
    "ARRAY<" * 500 + "INT",
    "DECIMAL(999999999, -5)",
    "DECIMAL(38,38)",
    "DECIMAL(0, 0)",
    "2+",
    "+" * 60,
)


def any_value(chance: random.Random) -> Any:
    """A value that few expect."""
    kind = chance.randrange(8)
    if kind < 3:
        return chance.choice(NUMBERS)
    if kind < 5:
        return chance.choice(TEXTS)
    if kind == 5:
        return chance.choice((None, True, False, 1.5, 1e308, -0.0))
    if kind == 6:
        return [any_value(chance) for _ in range(chance.randrange(3))]
    return {chance.choice(TEXTS).replace("\udcff", "?"): any_value(chance)}


def mutate_value(value: Any, chance: random.Random) -> Any:
    """A JSON value with one thing in it changed; the old one is not touched."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        changed = dict(value)
        key = chance.choice(list(changed))
        what = chance.random()
        if what < 0.1:
            del changed[key]
        elif what < 0.15:
            changed[chance.choice(TEXTS).replace("\udcff", "?")] = changed.pop(key)
        elif what < 0.2:
            changed[key] = changed[chance.choice(list(changed))]
        else:
            changed[key] = mutate_value(changed[key], chance)
        return changed
    if isinstance(value, list) and value and chance.random() < 0.9:
        items = list(value)
        at, what = chance.randrange(len(items)), chance.random()
        if what < 0.12:
            del items[at]
        elif what < 0.25:
            items.insert(at, items[chance.randrange(len(items))])
        elif what < 0.3:
            items *= chance.randrange(2, 20)
        else:
            items[at] = mutate_value(items[at], chance)
        return items
    if isinstance(value, str) and value and chance.random() < 0.5:
        return mutate_text(value, chance)
    if isinstance(value, int) and not isinstance(value, bool) and chance.random() < 0.4:
        return value + chance.choice((1, -1, 2, 100, -100, 1 << 20))
    return any_value(chance)


def to_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(errors="surrogatepass")


def mutate_json(value: Any, chance: random.Random) -> bytes:
    """The bytes of a JSON value, changed here and there; now and then as text, so that it is JSON no more."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        value = mutate_value(value, chance)
    data = to_json(value)
    what = chance.random()
    if what < 0.1:
        return mutate_bytes(data, chance)
    if what < 0.11:
        depth = chance.choice((50, 1_000, 20_000))
        return data[:-1] + b',"deep":' + b"[" * depth + b"]" * depth + b"}"
    return data


def mutate_bytes(data: bytes, chance: random.Random) -> bytes:
    """Bytes with some of them changed, moved, lost or doubled."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(out) + 1)
        what = chance.randrange(7)
        if what == 0 and at < len(out):
            out[at] ^= 1 << chance.randrange(8)
        elif what == 1 and at < len(out):
            out[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        elif what == 2:
            del out[at : at + chance.choice((1, 2, 4, 8, 64))]
        elif what == 3:
            piece = out[at : at + chance.choice((1, 4, 16, 64))]
            out[at:at] = piece
        elif what == 4:
            width = chance.choice(("<H", "<I", "<Q", ">I"))
            number = chance.choice(NUMBERS) % (1 << 8 * struct.calcsize(width))
            out[at : at + struct.calcsize(width)] = struct.pack(width, number)
        elif what == 5:
            del out[at:]
        else:
            out[at:at] = chance.randbytes(chance.choice((1, 3, 8)))
    return bytes(out)


_PIECES = (
    "(",
    ")",
    ",",
    ".",
    "'",
    '"',
    "`",
    ";",
    "--",
    "/*",
    "*/",
    "*",
    "%",
    "$$",
    "\\",
    "\n",
    "\0",
    "{{",
    "}}",
    "{%",
    "%}",
    "@",
    "::",
)
_PIECES += (
    "SELECT",
    "FROM",
    "WITH RECURSIVE",
    "JOIN",
    "LATERAL",
    "UNNEST",
    "PIVOT",
    "OVER",
    "AS",
    "CASE WHEN",
    "END",
    "IN",
)
_PIECES += (
    "MERGE INTO",
    "CREATE TABLE",
    "INSERT INTO",
    "BEGIN",
    "DECLARE",
    "EXISTS",
    "UNION ALL",
    "ARRAY[1]",
    "STRUCT(1)",
    "NULL",
)


def mutate_text(text: str, chance: random.Random, pieces: tuple[str, ...] = _PIECES) -> str:
    """Text with words lost, doubled, moved or put in."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        at = chance.randrange(len(text) + 1)
        what = chance.randrange(6)
        if what == 0:
            text = text[:at] + chance.choice(pieces) + text[at:]
        elif what == 1:
            text = text[:at] + text[at + chance.choice((1, 1, 5, 20)) :]
        elif what == 2:
            start = chance.randrange(len(text) + 1)
            text = text[:at] + text[start : start + chance.choice((1, 8, 40))] + text[at:]
        elif what == 3:
            text = text[:at] + chance.choice(TEXTS) + text[at:]
        elif what == 4:
            text = text[:at] + chance.choice(string.printable) + text[at + 1 :]
        else:
            words = text.split(" ")
            a, b = chance.randrange(len(words)), chance.randrange(len(words))
            words[a], words[b] = words[b], words[a]
            text = " ".join(words)
    return text[:20_000]
