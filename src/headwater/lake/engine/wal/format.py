"""The write-ahead log as bytes (`docs/spec/wal.md`).

magic "HWAL" (4) · version (4) · records
record   length of the body (4) · body · CRC-32 of length and body (4)
body     type (1) · key length (4) · encoded key · row (MessagePack array; empty for a delete)
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from headwater.errors import CorruptFileError
from headwater.lake.engine.stored_json import check_format_version

MAGIC = b"HWAL"
VERSION = 1
HEADER = MAGIC + VERSION.to_bytes(4, "little")
_HEAD = struct.Struct("<IBI")
_BODY_HEAD = 5  # type and key length
_CRC = 4


class RecordType(IntEnum):
    """The effect of a record."""

    PUT = 1
    DELETE = 2


@dataclass(frozen=True, slots=True)
class Record:
    """One logged write."""

    type: RecordType
    key: bytes
    row: bytes
    offset: int


@dataclass(frozen=True, slots=True)
class LogContent:
    """The content of a log: its records, and where a tail that was being written when the process died begins."""

    records: list[Record]
    torn_at: int | None = None


def encode_record(type: RecordType, key: bytes, row: bytes) -> bytes:
    """One record."""
    head = _HEAD.pack(_BODY_HEAD + len(key) + len(row), type, len(key))
    checksum = zlib.crc32(row, zlib.crc32(key, zlib.crc32(head)))
    return b"".join((head, key, row, checksum.to_bytes(4, "little")))


def read_log(data: bytes, path: str) -> LogContent:
    """All records of a log. A record that is cut off or wrong at the very end is what a crash leaves: it was never
    acknowledged, and is reported as the torn tail. RAISES: CorruptFileError with the offset when a record is wrong
    and whole records follow it."""
    if len(data) < len(HEADER) or data[: len(HEADER)] != HEADER:
        if len(data) < len(HEADER) and HEADER.startswith(data):
            return LogContent([], 0)
        if data[:4] == MAGIC and len(data) >= len(HEADER):
            check_format_version(path, int.from_bytes(data[4:8], "little"), VERSION)
        raise CorruptFileError(f"{path} is not a write-ahead log of version {VERSION}", hint=_HINT)
    records = list(_whole_records(data, len(HEADER)))
    end = records[-1][1] if records else len(HEADER)
    if end < len(data):
        following = next_record(data, end + 1)
        if following is not None:
            raise CorruptFileError(
                f"{path}: the record at byte {end} is damaged, and whole records follow at byte {following}",
                hint=_HINT,
            )
    return LogContent([record for record, _ in records], end if end < len(data) else None)


def salvage(data: bytes) -> list[bytes]:
    """The bytes of every whole record of a damaged log, in order."""
    records, at = [], next_record(data, 0)
    while at is not None:
        found = _record_at(data, at)
        assert found is not None
        records.append(data[at : found[1]])
        at = next_record(data, found[1])
    return records


def next_record(data: bytes, start: int) -> int | None:
    """Return where the first whole record at or after `start` begins."""
    return next((at for at in range(start, len(data)) if _record_at(data, at) is not None), None)


def _whole_records(data: bytes, at: int) -> Iterator[tuple[Record, int]]:
    while (found := _record_at(data, at)) is not None:
        yield found
        at = found[1]


def _record_at(data: bytes, at: int) -> tuple[Record, int] | None:
    """The record at an offset and the offset after it, None if there is no whole one."""
    if at + _HEAD.size + _CRC > len(data):
        return None
    length, type, key_length = _HEAD.unpack_from(data, at)
    body_end = at + 4 + length
    if type not in (1, 2) or key_length > length - _BODY_HEAD or body_end + _CRC > len(data):
        return None
    if zlib.crc32(memoryview(data)[at:body_end]) != int.from_bytes(data[body_end : body_end + _CRC], "little"):
        return None
    key_at = at + _HEAD.size
    key, row = data[key_at : key_at + key_length], data[key_at + key_length : body_end]
    return Record(RecordType(type), key, row, at), body_end + _CRC


_HINT = "`headwater lake repair` keeps the whole records and sets the damaged file aside"
