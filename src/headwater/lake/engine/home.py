"""The home of a tree: its files and logs, who says which files are live, and how rows find their bucket."""

from collections.abc import Callable, Iterator
from typing import Protocol

from headwater.files import Files
from headwater.lake.engine.batch import SortedBatch
from headwater.lake.engine.cache import BlockCache
from headwater.lake.engine.data_files import Shelf
from headwater.lake.engine.keys import KeyCodec, NativeKey
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.options import StorageOptions
from headwater.lake.engine.version import ONLY, FileVersionLog, Place, VersionLog
from headwater.lake.engine.write import FileWriter
from headwater.model.schema import Schema


class TreeHome(Protocol):
    """The facts about the place of a tree: in a folder of its own, or in a table with partitions and buckets."""

    files: Files
    logs: PathFactory  # of the write-ahead logs
    shelf: Shelf

    @property
    def log(self) -> VersionLog: ...

    def place_of(self, key: NativeKey) -> Place:
        """The bucket of a key."""
        ...

    def route(self, rows: SortedBatch) -> Iterator[tuple[Place, SortedBatch]]:
        """Sorted rows by their bucket."""
        ...

    def writer(self, place: Place) -> FileWriter:
        """A writer of data files of one bucket."""
        ...

    def next_sequence(self, least: int) -> int:
        """The sequence of a new memtable: not below `least`, and above those of all rows that were written before."""
        ...

    def has_landed(self, sequence: int) -> bool:
        """Return whether the rows of the log with that sequence are in data files."""
        ...

    def forget(self, name: str) -> None:
        """A data file is live in no version any more, and nobody reads it."""
        ...


class FolderHome:
    """A folder that holds one tree of one bucket, and nothing else."""

    def __init__(
        self,
        files: Files,
        folder: str,
        schema: Schema,
        *,
        options: StorageOptions,
        cache: BlockCache,
        schema_of: Callable[[int], Schema],
    ) -> None:
        self.files = files
        self.logs = PathFactory(folder)
        self.log = FileVersionLog(files, self.logs)
        self.shelf = Shelf(files, self.logs.data_file, KeyCodec(schema), cache, schema_of)
        self._writer = FileWriter(files, self.logs, schema, options)

    def place_of(self, key: NativeKey) -> Place:
        return ONLY

    def route(self, rows: SortedBatch) -> Iterator[tuple[Place, SortedBatch]]:
        yield ONLY, rows

    def writer(self, place: Place) -> FileWriter:
        return self._writer

    def next_sequence(self, least: int) -> int:
        return max(self.log.latest().next_sequence, least)

    def has_landed(self, sequence: int) -> bool:
        return sequence < self.log.latest().wal_floor

    def forget(self, name: str) -> None:
        self.shelf.cache.drop(name)
        self.files.delete(self.logs.data_file(name))
