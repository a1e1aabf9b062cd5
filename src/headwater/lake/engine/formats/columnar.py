"""Data files in formats of others: Parquet, ORC, and JSON with one object to a line.
They hold every column of the table, the key columns included, and a column `_kind` (see `RowKind`). A Parquet file of
a table without a primary key has neither a key nor a kind: the key of a row is its position, and every row is a put.
(Those that were written before had both, and are read as well.)"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.errors import CorruptFileError
from headwater.files import Files
from headwater.files.protocol import Buffer
from headwater.lake.engine.arrays import Cell, cell_of
from headwater.lake.engine.batch import RowKind, SortedBatch, to_rows, without_columns
from headwater.lake.engine.file_stats import Statistic
from headwater.lake.engine.formats.facts import FileFacts
from headwater.lake.engine.formats.foreign import KIND_COLUMN, open_groups, write_whole
from headwater.lake.engine.formats.parquet import ParquetGroups, ParquetSink
from headwater.lake.engine.formats.positions import ROW_COLUMN, row_keys
from headwater.lake.engine.keys import KeyCodec, Keys, NativeKey, concat_keys
from headwater.lake.engine.sst.format import out_of_memory
from headwater.lake.engine.sst.meta import TableMeta
from headwater.lake.engine.types import arrow_schema
from headwater.model.schema import Schema

GROUP_ROWS = 16_384  # of a table with a key: a row that is looked up costs its group
SCANNED_ROWS = 524_288  # of a table without one: whole vectors of DuckDB, and long dictionaries


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
        return RowKind.PUT if self._batch.kinds is None else int(self._batch.kinds[index])

    def values(self, index: int) -> tuple[Any, ...]:
        return tuple([cell(index) for cell in self._cells])

    def select(self, names: Sequence[str]) -> pa.RecordBatch:
        return self._batch.columns.select(list(names))

    def live(self) -> npt.NDArray[np.bool_]:
        kinds = self._batch.kinds
        return np.ones(self.rows, np.bool_) if kinds is None else kinds != RowKind.DELETE

    @property
    def has_kinds(self) -> bool:
        return self._batch.kinds is not None

    def keys(self) -> Keys:
        return self._batch.keys

    def batch(self, names: Sequence[str] | None = None) -> SortedBatch:
        return self._batch if names is None else self._batch.select(names)


class ColumnarReader:
    """An open Parquet, ORC or JSON file.
    RAISES: CorruptFileError when it cannot be read, or has another size than it was written with."""

    def __init__(self, files: Files, path: str, size: int, schema: Schema) -> None:
        self.path = path
        self.size = size
        self._codec = KeyCodec(schema)
        self._key = list(schema.primary_keys)
        self.fields = self._codec.stored
        wanted = arrow_schema(schema.fields).append(pa.field(KIND_COLUMN, pa.int8()))
        self._types = {field.name: field.with_nullable(True) for field in wanted}
        with _reading(path):
            self._groups = open_groups(files, path, size, pa.schema(self._types.values()))
        self._is_numbered = self._key == [ROW_COLUMN] and ROW_COLUMN not in self._groups.columns
        if self._is_numbered and not self._groups.has_checks:
            raise CorruptFileError(f"{path} cannot be read: its footer is damaged")
        needed = {field.name for field in self.fields} | (set() if self._is_numbered else {*self._key, KIND_COLUMN})
        if not needed <= self._groups.columns:
            raise CorruptFileError(f"{path} cannot be read: columns are missing in it")
        self._starts = [0, *np.cumsum(self._groups.counts).tolist()]

    def might_contain(self, key: bytes) -> bool:
        return True

    def block_of(self, key: NativeKey) -> int:
        at = bisect_left(self._last, key)
        return at if at < len(self._last) else -1

    def blocks_between(self, lower: NativeKey | None, upper: NativeKey | None) -> range:
        count = len(self._groups.counts)
        start = 0 if lower is None else bisect_left(self._last, lower)
        stop = count if upper is None else bisect_left(self._first, upper, start)
        if upper is not None and stop < count and self._first[stop] == upper:
            stop += 1
        return range(start, stop)

    def boundaries(self) -> tuple[Keys, npt.NDArray[np.int64]]:
        return concat_keys([last for _, last in self._ends]), np.array(self._groups.counts, np.int64)

    def firsts(self) -> Keys:
        return concat_keys([first for first, _ in self._ends])

    def load(self, number: int) -> BatchBlock:
        return BatchBlock(GroupBlock(self, number).batch())

    def load_many(self, numbers: range) -> Iterator["GroupBlock"]:
        return (GroupBlock(self, number) for number in numbers)

    def check_for(self, names: Iterable[str], where: list[Statistic]) -> bool:
        """Check what another engine reads of the file: columns of the groups that predicates leave.
        False if the file has no checksums to check it by. RAISES: CorruptFileError with the place of the damage."""
        groups = self._groups
        if not isinstance(groups, ParquetGroups) or not groups.has_checks:
            return False
        groups.check(groups.matching(where), names)
        return True

    def rows_of(self, number: int) -> int:
        return self._groups.counts[number]

    def keys_of(self, number: int) -> Keys:
        """The keys of a group."""
        if self._is_numbered:
            return row_keys(self._starts[number], self._groups.counts[number])
        return self._codec.encode(self.columns_of(number, self._key))

    def kinds_of(self, number: int) -> npt.NDArray[np.uint8] | None:
        """The kind of each row of a group, None if all are puts."""
        if KIND_COLUMN not in self._groups.columns or self._groups.is_zero(number, KIND_COLUMN):
            return None
        kinds = self.columns_of(number, [KIND_COLUMN]).column(0).to_numpy().astype(np.uint8)
        return kinds if kinds.any() else None

    def columns_of(self, number: int, names: Sequence[str]) -> pa.RecordBatch:
        """Columns of a group in the types of the table."""
        if not names:
            return without_columns(self._groups.counts[number])
        with _reading(self.path):
            table = self._groups.read(number, names).combine_chunks()
            return table.cast(pa.schema([self._types[name] for name in names])).to_batches()[0]

    @cached_property
    def _ends(self) -> list[tuple[Keys, Keys]]:
        """The first and the last key of each group."""
        found = []
        for number, count in enumerate(self._groups.counts):
            keys = self.keys_of(number)
            found.append((keys.slice(0, 1), keys.slice(count - 1, count)))
        return found

    @cached_property
    def _first(self) -> list[NativeKey]:
        return [first.native(0) for first, _ in self._ends]

    @cached_property
    def _last(self) -> list[NativeKey]:
        return [last.native(0) for _, last in self._ends]


class GroupBlock:
    """A group of rows of an open file as a block; keys, kinds and columns are read when they are first asked for."""

    def __init__(self, file: ColumnarReader, number: int) -> None:
        self._file = file
        self._number = number
        self._columns: dict[str, pa.Array] = {}
        self.rows = file.rows_of(number)

    @property
    def nbytes(self) -> int:
        """The bytes of what was read so far."""
        return sum(column.nbytes for column in self._columns.values())

    @cached_property
    def _keys(self) -> Keys:
        return self._file.keys_of(self._number)

    @cached_property
    def _kinds(self) -> npt.NDArray[np.uint8] | None:
        return self._file.kinds_of(self._number)

    @cached_property
    def _whole(self) -> BatchBlock:
        return BatchBlock(self.batch())

    def find(self, key: NativeKey, /) -> int:
        return self._whole.find(key)

    def kind(self, index: int) -> int:
        return self._whole.kind(index)

    def values(self, index: int) -> tuple[Any, ...]:
        return self._whole.values(index)

    def select(self, names: Sequence[str]) -> pa.RecordBatch:
        missing = [name for name in names if name not in self._columns]
        if missing:
            self._columns |= zip(missing, self._file.columns_of(self._number, missing).columns)
        return pa.RecordBatch.from_arrays([self._columns[name] for name in names], names=list(names))

    def live(self) -> npt.NDArray[np.bool_]:
        return np.ones(self.rows, np.bool_) if self._kinds is None else self._kinds != RowKind.DELETE

    @property
    def has_kinds(self) -> bool:
        return self._kinds is not None

    def keys(self) -> Keys:
        return self._keys

    def batch(self, names: Sequence[str] | None = None) -> SortedBatch:
        wanted = [field.name for field in self._file.fields] if names is None else names
        columns = self.select(wanted) if wanted else without_columns(self.rows)
        return SortedBatch(self._keys, self._kinds, columns)


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Turn errors of Arrow into ours."""
    try:
        yield
    except MemoryError as err:
        raise out_of_memory(path) from err
    except (pa.ArrowException, OSError, ValueError, KeyError) as err:
        if "std::bad_alloc" in str(err):  # of ORC's own allocations
            raise out_of_memory(path) from err
        raise CorruptFileError(f"{path} cannot be read: {err}") from err


class ColumnarWriter:
    """An ORC or JSON file that is being written: as a whole, when all of its rows are known."""

    def __init__(self, file_format: str, schema: Schema, facts: FileFacts, compression: str) -> None:
        self._format = file_format
        self._rows = _StoredRows(schema, numbered=False)
        self._facts = facts
        self._compression = compression
        self._batches: list[pa.RecordBatch] = []
        self.size = 0

    def append(self, batch: SortedBatch) -> None:
        if not len(batch):
            return
        self._facts.add(batch)
        self._batches.append(self._rows.of(batch))
        self.size += self._batches[-1].nbytes // 2

    def drain(self) -> Sequence[Buffer]:
        return ()

    def finish(self) -> tuple[Sequence[Buffer], TableMeta]:
        data = write_whole(self._format, pa.Table.from_batches(self._batches), self._compression)
        return [data], self._facts.meta(compression=self._compression, blocks=1)


class ParquetWriter:
    """A Parquet file that is being written, one row group after the other."""

    def __init__(self, schema: Schema, facts: FileFacts, compression: str) -> None:
        numbered = schema.primary_keys == (ROW_COLUMN,)
        self._rows = _StoredRows(schema, numbered=numbered)
        self._facts = facts
        self._compression = compression
        group_rows = SCANNED_ROWS if numbered else GROUP_ROWS
        self._sink = ParquetSink(self._rows.schema, compression, group_rows)

    @property
    def size(self) -> int:
        return self._sink.size

    def append(self, batch: SortedBatch) -> None:
        if len(batch):
            self._facts.add(batch)
            self._sink.append(self._rows.of(batch))

    def drain(self) -> Sequence[Buffer]:
        return self._sink.drain()

    def finish(self) -> tuple[Sequence[Buffer], TableMeta]:
        last = self._sink.finish()
        return last, self._facts.meta(compression=self._compression, blocks=self._sink.groups)


class _StoredRows:
    """Rows as these files have them: all columns and the kind, or if they are `numbered` without key and kind."""

    def __init__(self, schema: Schema, *, numbered: bool) -> None:
        self._codec = KeyCodec(schema)
        self._numbered = numbered
        fields = self._codec.stored if numbered else schema.fields
        self._names = [field.name for field in fields]
        nullable = [field.with_nullable(True) for field in arrow_schema(fields)]  # a delete has no values
        self.schema = pa.schema(nullable if numbered else [*nullable, pa.field(KIND_COLUMN, pa.int8())])

    def of(self, batch: SortedBatch) -> pa.RecordBatch:
        columns = to_rows(batch, self._codec, self._names).columns
        if not self._numbered:
            kinds = np.zeros(len(batch), np.uint8) if batch.kinds is None else batch.kinds
            columns.append(pa.array(kinds.astype(np.int8)))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)
