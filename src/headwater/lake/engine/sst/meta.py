"""The meta block: what a file holds, and the checksums of the parts that have no room for their own.
JSON · CRC-32 of the header (4) · of the footer (4) · of the Bloom block (4) · of all before (4)"""

import struct
import zlib
from dataclasses import dataclass, field

from headwater.lake.engine.sst.format import corrupt
from headwater.lake.engine.stats import ColumnStats
from headwater.lake.engine.stored_json import decode_json
from headwater.model.schema import Field, Schema
from headwater.model.types import parse_type

_CHECKSUMS = struct.Struct("<IIII")
META_TRAILER = _CHECKSUMS.size


@dataclass(frozen=True, slots=True)
class ColumnMeta:
    """One column of the table."""

    id: int
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class TableMeta:
    """The metadata of a data file, in any format. `min_key` and `max_key` are encoded (`RowKey`)."""

    schema_id: int
    columns: tuple[ColumnMeta, ...]  # in the order of the schema
    key: tuple[str, ...]
    number_keys: bool  # then the key column is not among the stored columns
    rows: int
    deletes: int
    min_key: bytes
    max_key: bytes
    stats: dict[str, ColumnStats] = field(default_factory=dict)
    compression: str = "none"
    blocks: int = 0

    @property
    def schema(self) -> Schema:
        """The schema the file was written under, without what a file does not need."""
        columns = self.columns
        fields = tuple(Field(c.id, c.name, parse_type(c.type), nullable=c.name not in self.key) for c in columns)
        return Schema(fields, self.key, id=self.schema_id)

    @property
    def stored(self) -> tuple[Field, ...]:
        """The columns blocks hold, all of them nullable: a delete has no values."""
        gone = self.key if self.number_keys else ()
        return tuple(Field(c.id, c.name, parse_type(c.type)) for c in self.columns if c.name not in gone)


@dataclass(frozen=True, slots=True)
class Checksums:
    """CRC-32 of other parts of the file."""

    header: int
    footer: int
    bloom: int


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
    what = "a data file whose meta block this program knows"
    return decode_json(bytes(body), TableMeta, path, what=what), Checksums(header, footer, bloom)
