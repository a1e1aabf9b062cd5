"""Open data files and sorted runs: the reading side of a version."""

import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.files import Files
from headwater.lake.engine.batch import SortedBatch, without_columns
from headwater.lake.engine.cache import BlockCache
from headwater.lake.engine.file_stats import file_matches, on_statistics
from headwater.lake.engine.formats.columnar import ColumnarReader
from headwater.lake.engine.formats.protocol import DataBlock, DataReader
from headwater.lake.engine.keys import KeyCodec, Keys, NativeKey, as_bytes
from headwater.lake.engine.predicates import Predicate
from headwater.lake.engine.row_adapter import Adapter, adapter
from headwater.lake.engine.sst.reader import SSTableReader
from headwater.lake.engine.version import DataFile, SortedRun
from headwater.model.schema import Schema

ReadTrace: TypeAlias = list[dict[str, Any]]
"""The steps of a read, for `explain`."""


class Readers:
    """Data files that stay open from one read to the next; the least recently used is closed first.
    For processes that serve short reads of the same files one after the other. Names of files are never used again,
    so what is open under a name is what was written under it. A file that is removed meanwhile takes room on the disk
    until it is closed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: OrderedDict[str, DataReader] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str, make: Callable[[], DataReader]) -> DataReader:
        """The reader of a file, made if there is none."""
        with self._lock:
            reader = self._open.get(name)
        if reader is None:
            reader = make()
        with self._lock:
            self._open[name] = reader
            self._open.move_to_end(name)
            while len(self._open) > self._most:
                self._open.popitem(last=False)
        return reader


@dataclass(frozen=True, slots=True)
class Shelf:
    """The files of a tree, and the way their rows are read."""

    files: Files
    path_of: Callable[[str], str]
    codec: KeyCodec
    cache: BlockCache
    schema_of: Callable[[int], Schema]
    readers: Readers | None = None


class OpenFile:
    """One data file, opened when it is first read."""

    def __init__(self, shelf: Shelf, file: DataFile) -> None:
        self.file = file
        self.name = file.name
        self._shelf = shelf
        self._cache = shelf.cache
        self.codec = shelf.codec
        self.min_key = self._native(file.min_key)
        self.max_key = self._native(file.max_key)
        self._reader: DataReader | None = None
        self._adapter: Adapter | None = None
        self._lock = threading.Lock()

    @property
    def reader(self) -> DataReader:
        return self._reader if self._reader is not None else self._open()

    def find(self, key: NativeKey, trace: ReadTrace | None = None) -> tuple[int, tuple[Any, ...]] | None:
        """The kind and the stored values of a key's row.
        A block in the cache answers faster than the Bloom filter, so the filter is asked only to save a read."""
        reader = self._reader if self._reader is not None else self._open()
        number = reader.block_of(key)
        if number < 0:
            return None
        block: DataBlock | None = self._cache.get((self.name, number))  # type: ignore[assignment]
        if block is None:
            block = self._load(reader, number, key, trace)
            if block is None:
                return None
        elif trace is not None:
            trace.append({"file": self.name, "level": self.file.level, "block": number, "cached": True})
        at = block.find(key)
        if at < 0:
            return None
        values = block.values(at)
        return block.kind(at), values if self._adapter is None else self._adapter.values(values)

    def find_many(self, wanted: Keys, names: Sequence[str] | None = None) -> list[SortedBatch]:
        """The rows of the wanted keys, in key order, with some stored columns or all. REQUIRES: sorted keys."""
        reader, found = self.reader, []
        inside = wanted.slice(wanted.search(self.min_key), wanted.search(self.max_key, right=True))
        start, last, batch = 0, -1, None
        while start < len(inside):
            number, stop = reader.block_of(inside.native(start)), start
            if number >= 0:
                batch = batch if batch is not None and number == last else self._batch_of(number, names)
                last, stop = number, inside.search(batch.keys.native(len(batch) - 1), right=True)
            if batch is not None and stop > start:
                places = batch.keys.find(inside.slice(start, stop))
                places = places[places >= 0]
                if len(places):
                    found.append(batch.take(places))
            start = max(stop, start + 1)
        return found

    def _batch_of(self, number: int, names: Sequence[str] | None) -> SortedBatch:
        """The rows of a block; of some columns alone past the cache, so that no others are decoded."""
        if names is None:
            return self._adapted(self._block(number).batch())
        block: DataBlock = next(iter(self.reader.load_many(range(number, number + 1))))
        return SortedBatch(block.keys(), block.batch(()).kinds, self._stored(block, names))

    def batches(
        self, lower: NativeKey | None, upper: NativeKey | None, names: Sequence[str] | None = None
    ) -> Iterator[SortedBatch]:
        """Whole blocks that can hold keys with `lower` ≤ key ≤ `upper`, in order, past the cache.
        `names` are the stored columns to read, all of them by default."""
        reader = self.reader
        for block in reader.load_many(reader.blocks_between(lower, upper)):
            if names is None:
                yield self._adapted(block.batch())
            else:
                kinds = block.batch(()).kinds
                yield SortedBatch(block.keys(), kinds, self._stored(block, names))

    def select(self, block: DataBlock, names: Sequence[str]) -> pa.RecordBatch:
        """Columns of a block of this file as the table has them, a key that is not stored among them."""
        key = self.codec.fields[0].name if self.codec.is_number else None
        if key not in names:
            return self._stored(block, names)
        rest = self._stored(block, [name for name in names if name != key])
        columns = [self.codec.decode(block.keys()) if name == key else rest.column(name) for name in names]
        return pa.RecordBatch.from_arrays(columns, names=list(names))

    def _stored(self, block: DataBlock, names: Sequence[str]) -> pa.RecordBatch:
        if not names:
            return without_columns(block.rows)
        return block.select(names) if self._adapter is None else self._adapter.select(block, names)

    def is_ruled_out(self, where: Sequence[Predicate], schema: Schema) -> bool:
        """Whether, by its statistics, no stored row of the file satisfies every predicate."""
        written_by = {field.id: field for field in self._shelf.schema_of(self.file.schema_id).fields}
        return not file_matches(self.file, on_statistics(where, schema, written_by))

    def boundaries(self) -> tuple[Keys, npt.NDArray[np.int64]]:
        return self.reader.boundaries()

    def _load(self, reader: DataReader, number: int, key: NativeKey, trace: ReadTrace | None) -> DataBlock | None:
        """A block from the file, into the cache; None if the Bloom filter says that the key is not there."""
        worth_it = reader.might_contain(as_bytes(key))
        block = reader.load(number) if worth_it else None
        if block is not None:
            self._cache.put((self.name, number), block)
        if trace is not None:
            step = {"file": self.name, "level": self.file.level, "block": number}
            found = {"bloom": "no"} if block is None else {"bloom": "maybe", "bytes": block.nbytes, "cached": False}
            trace.append(step | found)
        return block

    def _block(self, number: int) -> DataBlock:
        block: DataBlock | None = self._cache.get((self.name, number))  # type: ignore[assignment]
        if block is None:
            block = self.reader.load(number)
            self._cache.put((self.name, number), block)
        return block

    def _adapted(self, batch: SortedBatch) -> SortedBatch:
        return batch if self._adapter is None else self._adapter.batch(batch)

    def _open(self) -> DataReader:
        with self._lock:
            if self._reader is None:
                kept, make = self._shelf.readers, partial(open_data, self._shelf, self.file)
                reader = make() if kept is None else kept.get(self.name, make)
                self._adapter = adapter(reader.fields, self._shelf.codec.stored)
                self._reader = reader
            return self._reader

    def _native(self, key: bytes) -> NativeKey:
        return int.from_bytes(key, "big") if self.codec.is_number else key


class OpenRun:
    """One sorted run."""

    def __init__(self, level: int, files: list[OpenFile]) -> None:
        self.level = level
        self.files = files
        self._only = files[0] if len(files) == 1 else None
        self._ends = [file.max_key for file in files]

    def file_of(self, key: NativeKey) -> OpenFile | None:
        """The only file that can hold a key."""
        only = self._only
        if only is not None:
            return only if only.min_key <= key <= only.max_key else None  # type: ignore[operator]
        at = bisect_left(self._ends, key)
        if at == len(self._ends):
            return None
        file = self.files[at]
        return file if file.min_key <= key else None  # type: ignore[operator]

    def files_between(self, lower: NativeKey | None, upper: NativeKey | None) -> list[OpenFile]:
        """The files that can hold keys with `lower` ≤ key ≤ `upper`."""
        return [
            file
            for file in self.files
            if (lower is None or file.max_key >= lower) and (upper is None or file.min_key <= upper)  # type: ignore[operator]
        ]


def open_data(shelf: Shelf, file: DataFile) -> DataReader:
    """Open a data file of any format."""
    path = shelf.path_of(file.name)
    if file.format == "sst":
        return SSTableReader(shelf.files, path, file.size)
    return ColumnarReader(shelf.files, path, file.size, shelf.schema_of(file.schema_id))


def open_runs(shelf: Shelf, runs: list[SortedRun], known: dict[str, OpenFile]) -> list[OpenRun]:
    """The runs of a version, newest first; files that are open already stay open."""
    opened = []
    for run in runs:
        files = [known.get(file.name) or OpenFile(shelf, file) for file in run.files]
        opened.append(OpenRun(run.level, files))
    return opened
