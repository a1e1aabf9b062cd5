"""The names of the files of a table: the only place that knows them.

schema/schema-{id}          snapshot/snapshot-{id}, LATEST, EARLIEST      metadata
manifest/manifest-list-{uuid}, manifest-{uuid}
version/version-{number}                                 live files of a tree that has no snapshots
wal/wal-{sequence}.log
data/[{partition}=…/]bucket-{n}/{level}-{sequence}-{uuid}.{format}
"""

import re
import uuid

_DATA_FILE = re.compile(r"(\d+)-(\d+)-([0-9a-f]+)\.(sst|parquet|orc|json)")
_WAL = re.compile(r"wal-(\d+)\.log")
_VERSION = re.compile(r"version-(\d+)")


class PathFactory:
    """The paths below one table's, or one tree's, folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def _under(self, *parts: str) -> str:
        return "/".join(part for part in (self.folder, *parts) if part)

    @property
    def data_folder(self) -> str:
        return self._under("data")

    @property
    def wal_folder(self) -> str:
        return self._under("wal")

    @property
    def version_folder(self) -> str:
        return self._under("version")

    @property
    def lock(self) -> str:
        return self._under("LOCK")

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


def is_data_file(name: str) -> bool:
    return _DATA_FILE.fullmatch(name) is not None


def wal_sequence(name: str) -> int | None:
    """The sequence in the name of a log, None if it is not one."""
    match = _WAL.fullmatch(name)
    return int(match[1]) if match else None


def version_number(name: str) -> int | None:
    """The number in the name of a version file, None if it is not one."""
    match = _VERSION.fullmatch(name)
    return int(match[1]) if match else None
