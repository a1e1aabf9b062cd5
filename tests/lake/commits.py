"""Small commits of pretend files, for tests of what commits are, not of what is in them."""

import uuid
from dataclasses import replace

import msgspec

from headwater.lake.engine.version import DataFile
from headwater.lake.metadata.commit import PlacedFile, TableChange
from headwater.lake.metadata.snapshot import Operation


def placed(name=None, *, rows=1, level=0, bucket=0, partition=()):
    file = DataFile(name or f"0-00001-{uuid.uuid4().hex[:16]}.sst", level, 0, rows, 0, 100 * rows, b"a", b"z")
    return PlacedFile(file, bucket, partition)


def insert(*added, user="u", id=None, **more):
    return TableChange(Operation.INSERT, user, id or uuid.uuid4().hex, 0, added=added, **more)


def compact(removed, added, base, **more):
    return TableChange(
        Operation.COMPACT,
        "compactor",
        uuid.uuid4().hex,
        0,
        added=tuple(added),
        removed=tuple(removed),
        base=base,
        **more,
    )


def at_level(each, level):
    return replace(each, file=msgspec.structs.replace(each.file, level=level))


def live(committer, snapshot):
    return {entry.file.name for entry in committer.manifests.live(snapshot.manifest_list)}
