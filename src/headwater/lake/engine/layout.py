"""The names of the files of a table: the only place that knows them.

schema/schema-{id}          snapshot/snapshot-{id}, LATEST, EARLIEST, EXPIRED      metadata
manifest/manifest-list-{uuid}, manifest-{uuid}           tag/tag-{name}, lease/lease-{uuid}
version/version-{number}                                 live files of a tree that has no snapshots
wal/wal-{sequence}.log, rows/schema-{id}/wal/wal-{sequence}.log
data/[{partition}=…/]bucket-{n}/{level}-{sequence}-{uuid}.{format}
"""

import re
import uuid

_DATA_FILE = re.compile(r"(\d+)-(\d+)-([0-9a-f]+)\.(sst|parquet|orc|json)")
_SCHEMA = re.compile(r"schema-(\d+)")
_SNAPSHOT = re.compile(r"snapshot-(\d+)")
_WAL = re.compile(r"wal-(\d+)\.log")
_VERSION = re.compile(r"version-(\d+)")
_PARTS = {"schema", "snapshot", "manifest", "tag", "lease", "rows", "wal", "version", "data", "metadata", "LOCK"}


class PathFactory:
    """The paths below one table's, or one tree's, folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.data_folder = self._under("data")
        self.wal_folder = self._under("wal")
        self.version_folder = self._under("version")
        self.schema_folder = self._under("schema")
        self.latest_schema = self._under("schema", "latest-schema")
        self.snapshot_folder = self._under("snapshot")
        self.latest_snapshot = self._under("snapshot", "LATEST")
        self.earliest_snapshot = self._under("snapshot", "EARLIEST")
        self.expired_snapshots = self._under("snapshot", "EXPIRED")
        self.expiry_lock = self._under("snapshot", "LOCK")
        self.manifest_folder = self._under("manifest")
        self.tag_folder = self._under("tag")
        self.removed_tag = self._under("tag", "REMOVED")
        self.rows_folder = self._under("rows")
        self.lease_folder = self._under("lease")
        self.metadata = self._under("metadata")
        self.lock = self._under("LOCK")

    def _under(self, *parts: str) -> str:
        return "/".join(part for part in (self.folder, *parts) if part)

    def damaged_tag(self, name: str) -> str:
        return self._under("tag", f"damaged-{name}")

    def rows(self, schema_id: int) -> "PathFactory":
        """Return where rows wait that were put one by one under a schema and are in no snapshot yet."""
        return PathFactory(self._under("rows", f"schema-{schema_id}"))

    def schema(self, id: int) -> str:
        return self._under("schema", f"schema-{id}")

    def snapshot(self, id: int) -> str:
        return self._under("snapshot", f"snapshot-{id}")

    def manifest(self, name: str) -> str:
        return self._under("manifest", name)

    def tag(self, name: str) -> str:
        return self._under("tag", f"tag-{name}")

    def lease(self, id: str) -> str:
        return self._under("lease", f"lease-{id}")

    def data_file(self, name: str) -> str:
        return self._under("data", name)

    def wal(self, sequence: int) -> str:
        return self._under("wal", f"wal-{sequence:08d}.log")

    def version(self, number: int) -> str:
        return self._under("version", f"version-{number:08d}")


def new_data_file(level: int, sequence: int, file_format: str) -> str:
    """A name nobody else has.

    >>> new_data_file(0, 1, "sst").startswith("0-00001-")
    True
    """
    return f"{level}-{sequence:05d}-{uuid.uuid4().hex[:16]}.{file_format}"


def is_table_file(path: str) -> bool:
    """Return whether a path below a folder is one that a table has.

    >>> is_table_file("schema/schema-0"), is_table_file("README.md")
    (True, False)
    """
    return path.partition("/")[0] in _PARTS


def is_data_file(name: str) -> bool:
    return _DATA_FILE.fullmatch(name) is not None


def new_manifest() -> str:
    """The name of a manifest that nobody else has."""
    return f"manifest-{uuid.uuid4().hex}"


def new_manifest_list() -> str:
    """The name of a manifest list that nobody else has."""
    return f"manifest-list-{uuid.uuid4().hex}"


def schema_id(name: str) -> int | None:
    """The id in the name of a schema file, None if it is not one."""
    return _number(_SCHEMA, name)


def snapshot_id(name: str) -> int | None:
    """The id in the name of a snapshot, None if it is not one."""
    return _number(_SNAPSHOT, name)


def data_file_facts(name: str) -> tuple[int, int]:
    """The level a data file was written to, and its sequence. REQUIRES: `is_data_file(name)`."""
    level, sequence, _ = name.split("-", 2)
    return int(level), int(sequence)


def wal_sequence(name: str) -> int | None:
    """The sequence in the name of a log, None if it is not one."""
    return _number(_WAL, name)


def version_number(name: str) -> int | None:
    """The number in the name of a version file, None if it is not one."""
    return _number(_VERSION, name)


def _number(pattern: re.Pattern[str], name: str) -> int | None:
    match = pattern.fullmatch(name)
    return int(match[1]) if match else None
