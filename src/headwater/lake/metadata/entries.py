"""The two small files that say that a table is there.
`{database}/{table}.table`, the *entry*, says where the folder of a table is: whoever creates it has made the table,
whoever deletes it has dropped it. A rename moves the entry and touches no data. `metadata` in the table's folder says
what the table is and how far it got; what it says about schema and snapshot is a hint that may be behind."""

import time
import uuid
from typing import TypeVar

import msgspec

from headwater.errors import NotFoundError
from headwater.files import Files
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.stored_json import check_format_version, decode_json
from headwater.lake.metadata.snapshot import NO_SNAPSHOT

FORMAT_VERSION = 1
T = TypeVar("T")


class TableEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The catalog's entry for a table."""

    folder: str
    table_uuid: str
    version: int = FORMAT_VERSION


class DatabaseEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The catalog's entry for a database."""

    created_millis: int
    comment: str | None = None
    version: int = FORMAT_VERSION


class TableMetadata(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A table's identity, and how far it got when this was written."""

    table_uuid: str
    created_millis: int
    modified_millis: int
    current_schema_id: int = 0
    snapshot_id: int = NO_SNAPSHOT
    version: int = FORMAT_VERSION


def new_metadata() -> TableMetadata:
    """The metadata of a table at its birth."""
    now = now_millis()
    return TableMetadata(table_uuid=uuid.uuid4().hex, created_millis=now, modified_millis=now)


def now_millis() -> int:
    return int(time.time() * 1000)


def read_table_entry(files: Files, path: str) -> TableEntry:
    """RAISES: NotFoundError, CorruptFileError."""
    return _decoded(files.get(path), TableEntry, path)


def read_database_entry(files: Files, path: str) -> DatabaseEntry:
    """RAISES: NotFoundError, CorruptFileError."""
    return _decoded(files.get(path), DatabaseEntry, path)


def read_metadata(files: Files, paths: PathFactory) -> TableMetadata | None:
    """The metadata of a table, None if the file is missing."""
    try:
        return _decoded(files.get(paths.metadata), TableMetadata, paths.metadata)
    except NotFoundError:
        return None


def _decoded(data: bytes, type: type[T], path: str) -> T:
    decoded = decode_json(data, type, path)
    version = getattr(decoded, "version", FORMAT_VERSION)
    check_format_version(path, version, FORMAT_VERSION)
    return decoded
