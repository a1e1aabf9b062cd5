"""Which data files make up a tree: versions, and the one step from a version to the next.

A `Version` is immutable; a `VersionEdit` says what a flush or compaction changed; a `VersionLog` makes an edit the
next version, all of it or none. `FileVersionLog` keeps versions as files of their own; a table with snapshots is a
version log too: there, an edit becomes a snapshot.
"""

import uuid
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

import msgspec

from headwater.errors import AlreadyExistsError, CorruptFileError, StorageError
from headwater.files import Files
from headwater.lake.engine.format_version import check_format_version
from headwater.lake.engine.layout import PathFactory, version_number
from headwater.lake.engine.stats import ColumnStats
from headwater.lake.engine.stored_json import decode_json

FORMAT_VERSION = 1
_KEPT = 2  # versions kept: the newest, and the one before for those who look


@dataclass(frozen=True, slots=True)
class DataFile:
    """One live data file. Keys are encoded; `sequence` orders files of level 0, the larger is newer."""

    name: str
    level: int
    sequence: int
    rows: int
    deletes: int
    size: int
    min_key: bytes
    max_key: bytes
    schema_id: int = 0
    stats: dict[str, ColumnStats] = field(default_factory=dict)
    created_millis: int = 0

    @property
    def format(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class SortedRun:
    """Files that do not overlap, in key order: one file of level 0, or all files of a higher level."""

    level: int
    files: tuple[DataFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)


@dataclass(frozen=True, slots=True)
class Version:
    """The live files of a tree at one moment. Rows in logs before `wal_floor` are in the files."""

    number: int = 0
    files: tuple[DataFile, ...] = ()
    wal_floor: int = 0
    next_sequence: int = 1
    written_bytes: int = 0  # by flushes and compactions, ever: what write amplification is measured by
    flushed_bytes: int = 0
    commit: str = ""  # unique to the commit that made this version
    format_version: int = FORMAT_VERSION

    def runs(self) -> list[SortedRun]:
        """The sorted runs, newest first."""
        newest = sorted((f for f in self.files if f.level == 0), key=lambda f: f.sequence, reverse=True)
        runs = [SortedRun(0, (file,)) for file in newest]
        for level in sorted({file.level for file in self.files} - {0}):
            files = sorted((f for f in self.files if f.level == level), key=lambda f: f.min_key)
            runs.append(SortedRun(level, tuple(files)))
        return runs


@dataclass(frozen=True, slots=True)
class VersionEdit:
    """What a flush or a compaction changed."""

    added: tuple[DataFile, ...] = ()
    removed: tuple[str, ...] = ()  # names
    wal_floor: int | None = None  # set by a flush: logs before it are no longer needed
    next_sequence: int | None = None

    def apply(self, version: Version) -> Version:
        """The version after the edit.

        RAISES: StorageError when a file it removes is not there: somebody else has rewritten it.
        """
        gone = set(self.removed)
        missing = gone - {file.name for file in version.files}
        if missing:
            raise StorageError(f"{sorted(missing)[0]} was rewritten by another writer", hint="compact again")
        size = sum(file.size for file in self.added if file.name not in gone)
        return replace(
            version,
            number=version.number + 1,
            files=tuple(file for file in version.files if file.name not in gone) + self.added,
            wal_floor=max(version.wal_floor, self.wal_floor or 0),
            next_sequence=max(version.next_sequence, self.next_sequence or 0),
            written_bytes=version.written_bytes + size,
            flushed_bytes=version.flushed_bytes + (size if self.wal_floor is not None else 0),
        )


class VersionLog(Protocol):
    """The history of a tree's versions."""

    def latest(self) -> Version: ...

    def commit(self, edit: VersionEdit) -> Version:
        """Make the edit the next version, durably, and return that.

        RAISES: StorageError when another writer was there first.
        """
        ...


class FileVersionLog:
    """Versions as files `version-{number}`: JSON, a line break, and the CRC-32 of the JSON."""

    def __init__(self, files: Files, paths: PathFactory) -> None:
        self._files = files
        self._paths = paths
        self._latest: Version | None = None

    def latest(self) -> Version:
        if self._latest is None:
            numbers = self._numbers()
            self._latest = self._read(max(numbers)) if numbers else Version()
        return self._latest

    def commit(self, edit: VersionEdit) -> Version:
        version = replace(edit.apply(self.latest()), commit=uuid.uuid4().hex)
        body = msgspec.json.encode(version)
        data = body + b"\n%08x\n" % zlib.crc32(body)
        path = self._paths.version(version.number)
        try:
            self._files.put_if_absent(path, data)
        except StorageError as err:
            if not self._is_ours(path, data):
                self._latest = None
                raise _refused(self._paths, err) from err
        self._latest = version
        self._forget(number for number in self._numbers() if number <= version.number - _KEPT)
        return version

    def _is_ours(self, path: str, data: bytes) -> bool:
        """Whether a write that reported an error took effect after all; versions are unique by their `commit`."""
        try:
            return self._files.get(path) == data
        except StorageError:
            return False

    def _forget(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._files.delete(self._paths.version(number))

    def _numbers(self) -> list[int]:
        names = (entry.name for entry in self._files.list(self._paths.version_folder))
        return [number for number in map(version_number, names) if number is not None]

    def _read(self, number: int) -> Version:
        path = self._paths.version(number)
        body, _, checksum = self._files.get(path).rstrip(b"\n").rpartition(b"\n")
        if checksum != b"%08x" % zlib.crc32(body):
            raise CorruptFileError(
                f"{path} is damaged", hint="`headwater lake repair` rebuilds it from the data files"
            )
        version = decode_json(body, Version, path)
        check_format_version(path, version.format_version, FORMAT_VERSION)
        return version


def _refused(paths: PathFactory, err: StorageError) -> StorageError:
    if not isinstance(err, AlreadyExistsError):
        return err
    return StorageError(
        f"{paths.folder or 'the tree'} is being written to by another process",
        hint="one process writes a tree at a time; close the other one",
    )
