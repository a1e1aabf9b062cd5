"""Manifests: which data files make up a snapshot.

A *manifest* lists files that a commit added or removed. A *manifest list* names the manifests of one snapshot in
order; applying their entries one after the other gives its live files. Each commit writes one manifest, its delta;
when there are many small ones they are rewritten as one, in which a file that came and went leaves no trace.

Both are JSON, never changed once written; a list carries the size and CRC-32 of its manifests, a snapshot the name of
its list.
"""

import gc
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import lru_cache
from typing import Any

import msgspec

from headwater.errors import CorruptFileError
from headwater.files import Files
from headwater.lake.engine.layout import PathFactory, new_manifest, new_manifest_list
from headwater.lake.engine.stored_json import check_format_version, decode_json
from headwater.lake.engine.version import DataFile, file_of_version_1

FORMAT_VERSION = 2  # version 1 of manifests has other names for the facts of a file
_SMALL = 1 << 20  # bytes: a manifest below this can be merged; thirty of them take a commit less than half a second
_ENTRIES = 5000  # in a manifest that is written anew
_MANY = 30  # small manifests that make a merge worthwhile

Partition = tuple[Any, ...]
"""The values of the partition keys, in their order; () for a table without partitions."""


class EntryKind(Enum):
    """The kind of a manifest entry: a file is added or removed."""

    ADD = "ADD"
    DELETE = "DELETE"


class ManifestEntry(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One file added or removed; a removed one is described in full, so that a delta can be read on its own."""

    kind: EntryKind
    file: DataFile
    bucket: int = 0
    partition: Partition = ()


class _Manifest(msgspec.Struct, rename="camel"):
    entries: list[ManifestEntry]
    version: int = FORMAT_VERSION


class _OldEntry(msgspec.Struct, rename="camel"):
    kind: EntryKind
    file: dict[str, Any]
    bucket: int = 0
    partition: Partition = ()


class _OldManifest(msgspec.Struct, rename="camel"):
    entries: list[_OldEntry]


class _Form(msgspec.Struct):
    version: int = 1


class ManifestFile(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A manifest as its list describes it."""

    name: str
    size: int
    checksum: int
    added: int
    removed: int
    partitions: tuple[Partition, ...] | None = None  # those its entries are in; None: too many to list
    buckets: tuple[int, ...] | None = None


class _ManifestList(msgspec.Struct, rename="camel"):
    manifests: list[ManifestFile]
    version: int = FORMAT_VERSION


_MOST_LISTED = 16


class Manifests:
    """The manifests of one table."""

    def __init__(self, files: Files, paths: PathFactory) -> None:
        self._files = files
        self._paths = paths
        self._read_cached = lru_cache(maxsize=64)(self._read)

    def write(self, entries: Sequence[ManifestEntry]) -> ManifestFile:
        """Write a manifest and return its description."""
        name = new_manifest()
        body = msgspec.json.encode(_Manifest(list(entries)))
        self._files.put(self._paths.manifest(name), body)
        added = sum(entry.kind is EntryKind.ADD for entry in entries)
        return ManifestFile(
            name=name,
            size=len(body),
            checksum=zlib.crc32(body),
            added=added,
            removed=len(entries) - added,
            partitions=_few({entry.partition for entry in entries}),
            buckets=_few({entry.bucket for entry in entries}),
        )

    def write_list(self, manifests: Sequence[ManifestFile]) -> str:
        """Write a manifest list and return its name."""
        name = new_manifest_list()
        body = msgspec.json.encode(_ManifestList(list(manifests)))
        self._files.put(self._paths.manifest(name), body + b"\n%08x\n" % zlib.crc32(body))
        return name

    def read(self, manifest: ManifestFile) -> tuple[ManifestEntry, ...]:
        """The entries of a manifest, in order. RAISES: CorruptFileError when it is not what its list says."""
        return self._read_cached(manifest.name, manifest.checksum)

    def read_named(self, name: str, manifest_list: str) -> tuple[ManifestEntry, ...]:
        """The entries of one manifest of a list."""
        for manifest in self.read_list(manifest_list):
            if manifest.name == name:
                return self.read(manifest)
        raise CorruptFileError(f"{self._paths.manifest(manifest_list)} does not name {name}")

    def _read(self, name: str, checksum: int) -> tuple[ManifestEntry, ...]:
        path = self._paths.manifest(name)
        body = self._files.get(path)
        if zlib.crc32(body) != checksum:
            raise CorruptFileError(f"{path} is damaged: its checksum does not hold")
        form = decode_json(body, _Form, path)
        check_format_version(path, form.version, FORMAT_VERSION)
        with without_collection():
            if form.version > 1:
                return tuple(decode_json(body, _Manifest, path).entries)
            old = decode_json(body, _OldManifest, path).entries
            return tuple(
                ManifestEntry(each.kind, file_of_version_1(each.file, path), each.bucket, each.partition)
                for each in old
            )

    def read_list(self, name: str) -> list[ManifestFile]:
        """The manifests of a list, in order. RAISES: CorruptFileError when it is damaged."""
        path = self._paths.manifest(name)
        body, _, checksum = self._files.get(path).rstrip(b"\n").rpartition(b"\n")
        if checksum != b"%08x" % zlib.crc32(body):
            raise CorruptFileError(f"{path} is damaged: its checksum does not hold")
        decoded = decode_json(body, _ManifestList, path)
        check_format_version(path, decoded.version, FORMAT_VERSION)
        return decoded.manifests

    def live(
        self,
        manifest_list: str,
        *,
        partition: Partition | None = None,
        bucket: int | None = None,
        recent: bool = False,
    ) -> list[ManifestEntry]:
        """The files of a snapshot, optionally of one partition or bucket only, or `recent`: in small manifests."""
        found: dict[str, ManifestEntry] = {}
        for manifest in self.read_list(manifest_list):
            if recent and manifest.size >= _SMALL:
                continue
            if _excludes(manifest.partitions, partition) or _excludes(manifest.buckets, bucket):
                continue
            apply_entries(found, self.read(manifest))
        return [
            entry
            for entry in found.values()
            if partition in (None, entry.partition) and bucket in (None, entry.bucket)
        ]

    def compact(self, manifests: Sequence[ManifestFile], *, live: int | None = None) -> list[ManifestFile]:
        """The same list with the small manifests at its end merged into one, if there are enough of them.
        Only those at the end: a large manifest may remove what a small one before it has added. Who has time says how
        many files are live: then all manifests are written anew when they tell of more that went."""
        if live is not None and _tell_of_the_dead(manifests, live):
            # manifests of the files that are there, and of nothing else
            found: dict[str, ManifestEntry] = {}
            for manifest in manifests:
                apply_entries(found, self.read(manifest))
            entries = list(found.values())
            return [self.write(entries[at : at + _ENTRIES]) for at in range(0, len(entries), _ENTRIES)]
        start = len(manifests)
        while start and manifests[start - 1].size < _SMALL:
            start -= 1
        if len(manifests) - start < _MANY:
            return list(manifests)
        return [*manifests[:start], *self._merged(manifests[start:])]

    def _merged(self, manifests: Sequence[ManifestFile]) -> list[ManifestFile]:
        """One manifest that does what several did; what it removes may have been added before them."""
        kept: dict[str, ManifestEntry] = {}
        born: set[str] = set()  # files that came with these manifests, and leave no trace when they went
        for manifest in manifests:
            for entry in self.read(manifest):
                name = entry.file.name
                before = kept.pop(name, None)
                if before is None and entry.kind is EntryKind.ADD:
                    born.add(name)
                if entry.kind is EntryKind.ADD or name not in born:
                    kept[name] = entry
        return [self.write(list(kept.values()))] if kept else []


@contextmanager
def without_collection() -> Iterator[None]:
    """Let the garbage collector rest: looking for cycles among facts that are just coming to be doubles the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def apply_entries(found: dict[str, ManifestEntry], entries: Iterable[ManifestEntry]) -> None:
    """Add and remove files by their names, as the entries say."""
    for entry in entries:
        if entry.kind is EntryKind.ADD:
            found[entry.file.name] = entry
        else:
            found.pop(entry.file.name, None)


def _tell_of_the_dead(manifests: Sequence[ManifestFile], live: int) -> bool:
    """Return whether more is said of files that went than of those that are there, and it takes room."""
    size, gone = sum(each.size for each in manifests), sum(each.removed for each in manifests)
    return size >= _SMALL and gone > live


def _few(values: set[Any]) -> tuple[Any, ...] | None:
    return tuple(sorted(values, key=repr)) if len(values) <= _MOST_LISTED else None


def _excludes(listed: tuple[Any, ...] | None, wanted: Any) -> bool:
    return wanted is not None and listed is not None and wanted not in listed
