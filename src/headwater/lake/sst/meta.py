"""The meta block: what a file holds, and the checksums of the parts that have no room for their own.

JSON · CRC-32 of the header (4) · of the footer (4) · of the Bloom block (4) · of all before (4)
"""

import struct
import zlib
from dataclasses import dataclass, field

import msgspec

from headwater.errors import CorruptFileError
from headwater.lake.sst.format import corrupt
from headwater.lake.stats import ColumnStats
from headwater.model.schema import Field
from headwater.model.types import parse_type

_CHECKSUMS = struct.Struct("<IIII")
META_TRAILER = _CHECKSUMS.size


@dataclass(frozen=True, slots=True)
class ColumnMeta:
    """One stored column."""

    id: int
    name: str
    type: str

    def field(self) -> Field:
        return Field(self.id, self.name, parse_type(self.type))


@dataclass(frozen=True, slots=True)
class TableMeta:
    """What a data file holds, whichever format it has. Keys are encoded (`RowKey`)."""

    schema_id: int
    number_keys: bool
    columns: tuple[ColumnMeta, ...]
    rows: int
    deletes: int
    min_key: bytes
    max_key: bytes
    stats: dict[str, ColumnStats] = field(default_factory=dict)
    compression: str = "none"
    blocks: int = 0

    @property
    def fields(self) -> tuple[Field, ...]:
        return tuple(column.field() for column in self.columns)


@dataclass(frozen=True, slots=True)
class Checksums:
    """CRC-32 of other parts of the file."""

    header: int
    footer: int
    bloom: int


def encode_meta(meta: TableMeta) -> bytes:
    """The meta block without its checksums, which depend on its size."""
    return msgspec.json.encode(meta)


def seal_meta(body: bytes, sums: Checksums) -> bytes:
    """The whole meta block."""
    before = body + _CHECKSUMS.pack(sums.header, sums.footer, sums.bloom, 0)[:-4]
    return before + zlib.crc32(before).to_bytes(4, "little")


def decode_meta(data: memoryview, path: str, at: int) -> tuple[TableMeta, Checksums]:
    """RAISES: CorruptFileError when the checksum does not hold."""
    body = data[: max(0, len(data) - META_TRAILER)]
    if len(data) < META_TRAILER or int.from_bytes(data[-4:], "little") != zlib.crc32(data[:-4]):
        raise corrupt(path, "meta block", at)
    header, footer, bloom, _ = _CHECKSUMS.unpack(data[-META_TRAILER:])
    try:
        return msgspec.json.decode(body, type=TableMeta), Checksums(header, footer, bloom)
    except msgspec.MsgspecError as err:
        raise CorruptFileError(f"{path}: the meta block is of a kind this program does not know: {err}") from err
