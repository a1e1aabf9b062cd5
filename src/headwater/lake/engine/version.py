"""The data files of a tree: versions, and the one step from a version to the next.
A `Version` is immutable; a `VersionEdit` says what a flush or compaction changed in one bucket; a `VersionLog` makes
edits the next version, all of them or none. `FileVersionLog` keeps the versions of a tree with one bucket as files of
their own. The snapshots of a table are a version log too: in `lake/tables/row_writer.py`, edits become a snapshot."""

import uuid
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import msgspec

from headwater.errors import AlreadyExistsError, CorruptFileError, StorageError
from headwater.files import Files
from headwater.lake.engine.layout import PathFactory, version_number
from headwater.lake.engine.stats import ColumnStats
from headwater.lake.engine.stored_json import check_format_version, decode_json

Place: TypeAlias = tuple[tuple[Any, ...], int]
"""A bucket of a tree: the values of its partition, and its number there."""
ONLY: Place = ((), 0)
"""The bucket of a tree that has one."""
FORMAT_VERSION = 2  # version 1 has other names for the facts of a file
_RENAMED = {
    "rows": "rowCount",
    "min_key": "minKey",
    "max_key": "maxKey",
    "schema_id": "schemaId",
    "created_millis": "createdMillis",
}
_KEPT = 2  # versions kept: the newest, and the one before for those who look


class DataFile(msgspec.Struct, frozen=True, rename="camel"):
    """One live data file. Keys are encoded; `sequence` orders files of level 0, the larger is newer."""

    name: str
    level: int
    sequence: int
    rows: int = msgspec.field(name="rowCount")
    deletes: int
    size: int
    min_key: bytes
    max_key: bytes
    schema_id: int = 0
    stats: dict[str, ColumnStats] = msgspec.field(default_factory=dict)
    created_millis: int = 0

    @property
    def format(self) -> str:
        return self.name.rpartition(".")[2]


def file_of_version_1(facts: dict[str, Any], path: str) -> DataFile:
    """A data file as the first version of version files and manifests, read from `path`, describes it.
    RAISES: CorruptFileError when that is not a data file."""
    try:
        return msgspec.convert({_RENAMED.get(name, name): value for name, value in facts.items()}, DataFile)
    except msgspec.ValidationError as err:
        raise CorruptFileError(f"{path} is not of the expected form: {err}") from err


@dataclass(frozen=True, slots=True)
class SortedRun:
    """Files that do not overlap, in key order: one file of level 0, or all files of a higher level."""

    level: int
    files: tuple[DataFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


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

    def of(self, place: Place) -> "Version":
        """Return the version of one bucket: a tree of this kind has no other."""
        return self

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
    """The change of a flush or a compaction in one bucket."""

    added: tuple[DataFile, ...] = ()
    removed: tuple[DataFile, ...] = ()

    def apply(self, version: Version, flushed: int | None = None) -> Version:
        """The version after the edit. `flushed` is the sequence of the memtable whose rows it adds, if it does.
        RAISES: StorageError when a file it removes is not there: somebody else has rewritten it."""
        gone = {file.name for file in self.removed}
        missing = gone - {file.name for file in version.files}
        if missing:
            raise StorageError(f"{sorted(missing)[0]} was rewritten by another writer", hint="compact again")
        size = sum(file.size for file in self.added if file.name not in gone)
        after = 0 if flushed is None else flushed + 1
        return replace(
            version,
            number=version.number + 1,
            files=tuple(file for file in version.files if file.name not in gone) + self.added,
            wal_floor=max(version.wal_floor, after),
            next_sequence=max([version.next_sequence, after, *(file.sequence + 1 for file in self.added)]),
            written_bytes=version.written_bytes + size,
            flushed_bytes=version.flushed_bytes + (size if flushed is not None else 0),
        )


class _Form(msgspec.Struct):
    """The members that a version file of any form has."""

    files: list[dict[str, Any]] = []
    format_version: int = 1


class LiveFiles(Protocol):
    """The live data files of every bucket of a tree, at one moment."""

    @property
    def number(self) -> int:
        """Larger for a later moment."""
        ...

    def of(self, place: Place) -> Version:
        """The files of one bucket."""
        ...


class VersionLog(Protocol):
    """The history of a tree's versions."""

    def latest(self) -> LiveFiles: ...

    def commit(self, edits: Mapping[Place, VersionEdit], *, base: int, flushed: int | None = None) -> LiveFiles:
        """Make the edits the next version, durably, and return that.
        `base` is the number of the version that the edits were made from, `flushed` the sequence of the memtable
        whose rows they add. RAISES: StorageError when another writer was there first."""
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

    def commit(self, edits: Mapping[Place, VersionEdit], *, base: int = 0, flushed: int | None = None) -> Version:
        edit = edits.get(ONLY, VersionEdit())
        version = replace(edit.apply(self.latest(), flushed), commit=uuid.uuid4().hex)
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
        """Return whether a write that reported an error took effect after all; versions are unique by their
        `commit`."""
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
        form = decode_json(body, _Form, path)
        check_format_version(path, form.format_version, FORMAT_VERSION)
        if form.format_version > 1:
            return decode_json(body, Version, path)
        files = tuple(file_of_version_1(facts, path) for facts in form.files)
        emptied = msgspec.json.encode(decode_json(body, dict[str, Any], path) | {"files": []})
        return replace(decode_json(emptied, Version, path), files=files, format_version=FORMAT_VERSION)


def _refused(paths: PathFactory, err: StorageError) -> StorageError:
    if not isinstance(err, AlreadyExistsError):
        return err
    return StorageError(
        f"{paths.folder or 'the tree'} is being written to by another process",
        hint="one process writes a tree at a time; close the other one",
    )
