"""Data files in formats of others: Parquet, ORC, and JSON with one object to a line.

They hold every column of the table, the key columns included, and a column `_kind` (see `Kind`). The keys of the
whole file are read when it is opened; they are what blocks and rows are found by.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.errors import CorruptFileError
from headwater.files import Files
from headwater.files.protocol import Buffer
from headwater.lake.engine.batch import Kind, SortedBatch, to_rows
from headwater.lake.engine.cells import Cell, cell_of
from headwater.lake.engine.formats.facts import FileFacts
from headwater.lake.engine.formats.foreign import GROUP_ROWS, KIND_COLUMN, read_groups, write_groups
from headwater.lake.engine.keys import KeyCodec, Keys, NativeKey, concat_keys
from headwater.lake.engine.sst.format import out_of_memory
from headwater.lake.engine.sst.meta import TableMeta
from headwater.model.schema import Schema


class BatchBlock:
    """A sorted batch as a block."""

    def __init__(self, batch: SortedBatch) -> None:
        self._batch = batch
        self.rows = len(batch)
        self.nbytes = batch.nbytes

    @cached_property
    def _cells(self) -> list[Cell]:
        return [cell_of(column) for column in self._batch.columns.columns]

    def find(self, key: NativeKey, /) -> int:
        at = self._batch.keys.search(key)
        return at if at < len(self._batch) and self._batch.keys.native(at) == key else -1

    def kind(self, index: int) -> int:
        return Kind.PUT if self._batch.kinds is None else int(self._batch.kinds[index])

    def values(self, index: int) -> tuple[Any, ...]:
        return tuple([cell(index) for cell in self._cells])

    def select(self, names: Sequence[str]) -> pa.RecordBatch:
        return self._batch.columns.select(list(names))

    def live(self) -> npt.NDArray[np.bool_]:
        kinds = self._batch.kinds
        return np.ones(self.rows, np.bool_) if kinds is None else kinds != Kind.DELETE

    @property
    def has_kinds(self) -> bool:
        return self._batch.kinds is not None

    def keys(self) -> Keys:
        return self._batch.keys

    def batch(self, names: Sequence[str] | None = None) -> SortedBatch:
        return self._batch if names is None else self._batch.select(names)


class ColumnarReader:
    """An open Parquet, ORC or JSON file.

    RAISES: CorruptFileError when it cannot be read, or has another size than it was written with.
    """

    def __init__(self, files: Files, path: str, size: int, schema: Schema) -> None:
        self.path = path
        self._codec = KeyCodec(schema)
        self._schema = schema
        self.fields = self._codec.stored
        data = files.get(path)
        self.size = size
        if len(data) != size:  # a JSON file that is cut off at the end of a line reads like a shorter one
            raise CorruptFileError(f"{path} has {len(data)} bytes instead of {size}")
        try:
            groups = read_groups(path.rpartition(".")[2], data, schema)
            self._blocks = [self._block(table) for table in groups if table.num_rows]
        except MemoryError as err:
            raise out_of_memory(path) from err
        except (pa.ArrowException, OSError, ValueError) as err:
            if "std::bad_alloc" in str(err):  # of ORC's own allocations
                raise out_of_memory(path) from err
            raise CorruptFileError(f"{path} cannot be read: {err}") from err
        self._last = [block.batch().keys.native(-1) for block in self._blocks]
        self._first = [block.batch().keys.native(0) for block in self._blocks]

    def might_contain(self, key: bytes) -> bool:
        return True

    def block_of(self, key: NativeKey) -> int:
        at = bisect_left(self._last, key)
        return at if at < len(self._last) else -1

    def blocks_between(self, lower: NativeKey | None, upper: NativeKey | None) -> range:
        start = 0 if lower is None else bisect_left(self._last, lower)
        stop = len(self._first) if upper is None else bisect_left(self._first, upper, start)
        if upper is not None and stop < len(self._first) and self._first[stop] == upper:
            stop += 1
        return range(start, stop)

    def boundaries(self) -> tuple[Keys, npt.NDArray[np.int64]]:
        last = [block.batch().keys.slice(len(block.batch()) - 1, len(block.batch())) for block in self._blocks]
        return concat_keys(last), np.array([len(block.batch()) for block in self._blocks], np.int64)

    def firsts(self) -> Keys:
        return concat_keys([block.batch().keys.slice(0, 1) for block in self._blocks])

    def load(self, number: int) -> BatchBlock:
        return self._blocks[number]

    def load_many(self, numbers: range) -> Iterator[BatchBlock]:
        return (self._blocks[number] for number in numbers)

    def _block(self, table: pa.Table) -> BatchBlock:
        whole = table.combine_chunks()
        kinds = whole.column(KIND_COLUMN).to_numpy().astype(np.uint8)
        rows = whole.drop_columns([KIND_COLUMN]).to_batches()[0]
        keys = self._codec.encode(rows)
        columns = rows.select([field.name for field in self.fields])
        return BatchBlock(SortedBatch(keys, kinds if kinds.any() else None, columns))


class ColumnarWriter:
    """A Parquet, ORC or JSON file that is being written."""

    def __init__(self, file_format: str, schema: Schema, facts: FileFacts, compression: str) -> None:
        self._format = file_format
        self._schema = schema
        self._codec = KeyCodec(schema)
        self._facts = facts
        self._compression = compression
        self._batches: list[pa.RecordBatch] = []
        self.size = 0

    def append(self, batch: SortedBatch) -> None:
        if not len(batch):
            return
        self._facts.add(batch)
        rows = to_rows(batch, self._codec, self._schema.names)
        kinds = np.zeros(len(batch), np.uint8) if batch.kinds is None else batch.kinds
        arrays = [*rows.columns, pa.array(kinds.astype(np.int8))]
        whole = pa.RecordBatch.from_arrays(arrays, names=[*self._schema.names, KIND_COLUMN])
        self._batches.append(whole)
        self.size += whole.nbytes // 2

    def drain(self) -> Sequence[Buffer]:
        return ()  # these formats are written as a whole

    def finish(self) -> tuple[Sequence[Buffer], TableMeta]:
        table = pa.Table.from_batches(self._batches)
        data = write_groups(self._format, table, self._compression)
        blocks = -(-table.num_rows // GROUP_ROWS)
        return [data], self._facts.meta(compression=self._compression, blocks=blocks)
