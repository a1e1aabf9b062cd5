"""A table at one snapshot: its files by partition and bucket, and readers of them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property

from headwater.lake.engine.data_files import Shelf, open_runs
from headwater.lake.engine.memtable import MemTable
from headwater.lake.engine.reads import Reads
from headwater.lake.engine.state import Pins, TreeState
from headwater.lake.engine.version import DataFile, Version
from headwater.lake.metadata.manifest import ManifestEntry, Partition, without_collection
from headwater.lake.metadata.snapshot import NO_SNAPSHOT, Snapshot
from headwater.lake.tables.shape import Shape

Place = tuple[Partition, int]
"""A partition and a bucket in it."""


class Still:
    """One bucket at one snapshot, perhaps with rows in memory over it: a state that never changes."""

    def __init__(self, shelf: Shelf, files: tuple[DataFile, ...], memtables: tuple[MemTable, ...] = ()) -> None:
        version = Version(files=files)
        self.state = TreeState(memtables, tuple(open_runs(shelf, version.runs(), {})), version)
        self.pins = Pins(lambda name: None)

    def hold(self) -> TreeState:
        """The state; its files are the snapshot's, and not ours to keep or remove."""
        return self.state

    def reading(self) -> AbstractContextManager[TreeState]:
        return nullcontext(self.state)


class TableState:
    """The content of a table at one snapshot, read by one schema. Immutable; readers are opened when first asked
    for."""

    def __init__(
        self, snapshot: Snapshot | None, shape: Shape, shelf: Shelf, load: Callable[[], list[ManifestEntry]]
    ) -> None:
        self.snapshot = snapshot
        self.shape = shape
        self.shelf = shelf
        self._load = load
        self._readers: dict[Place, Reads] = {}

    @property
    def snapshot_id(self) -> int:
        return self.snapshot.snapshot_id if self.snapshot is not None else NO_SNAPSHOT

    @cached_property
    def entries(self) -> list[ManifestEntry]:
        """The live files."""
        return self._load()

    @cached_property
    def places(self) -> dict[Place, tuple[DataFile, ...]]:
        """The live files of each bucket, oldest first."""
        with without_collection():
            found: dict[Place, list[DataFile]] = {}
            for entry in self.entries:
                found.setdefault((entry.partition, entry.bucket), []).append(entry.file)
            return {place: tuple(sorted(files, key=lambda file: file.sequence)) for place, files in found.items()}

    def reads(self, place: Place) -> Reads | None:
        """Point reads and scans of one bucket, None if it has no files."""
        reader = self._readers.get(place)
        if reader is None:
            files = self.places.get(place)
            if files is None:
                return None
            reader = self._readers.setdefault(place, reads_of(files, self.shape, self.shelf))
        return reader


def reads_of(files: tuple[DataFile, ...], shape: Shape, shelf: Shelf) -> Reads:
    """Point reads and scans of some files of one bucket."""
    return Reads(Still(shelf, files), shape.codec, shape.stored, shape.rule)
