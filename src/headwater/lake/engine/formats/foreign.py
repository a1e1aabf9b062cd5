"""Data files of others as groups of rows: row groups of Parquet, stripes of ORC, all lines of JSON."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import pyarrow as pa

from headwater.errors import CorruptFileError
from headwater.files import Files
from headwater.lake.engine.formats.jsonlines import read_json_lines, write_json_lines
from headwater.lake.engine.formats.parquet import ParquetGroups
from headwater.lake.engine.temporal import is_beyond_nanoseconds, with_numbers
from headwater.lazy import arrow_orc as orc

KIND_COLUMN = "_kind"
_STRIPE = 1 << 20


class RowGroups(Protocol):
    """An open file, in groups of rows."""

    columns: frozenset[str]
    counts: list[int]  # rows of each group

    @property
    def has_checks(self) -> bool:
        """Return whether a checksum covers every byte of the file."""
        ...

    def read(self, number: int, names: Sequence[str]) -> pa.Table: ...

    def check(self, numbers: Iterable[int], names: Iterable[str]) -> None: ...

    def is_zero(self, number: int, name: str) -> bool: ...


class HeldGroups:
    """Groups of a file that was read whole."""

    has_checks = False

    def __init__(self, tables: list[pa.Table], columns: Iterable[str]) -> None:
        self._tables = [table for table in tables if table.num_rows]
        self.columns = frozenset(columns)
        self.counts = [table.num_rows for table in self._tables]

    def read(self, number: int, names: Sequence[str]) -> pa.Table:
        return self._tables[number].select(list(names))

    def check(self, numbers: Iterable[int], names: Iterable[str]) -> None:
        """Nothing is left to check: all of it was read."""

    def is_zero(self, number: int, name: str) -> bool:
        return False


def open_groups(files: Files, path: str, size: int, wanted: pa.Schema) -> RowGroups:
    """Open a file: Parquet by its footer, the others whole. `wanted` has the columns that JSON lines are read as.
    RAISES: CorruptFileError when it has another size than it was written with, errors of Arrow and ValueError when it
    cannot be read."""
    file_format = path.rpartition(".")[2]
    if file_format == "parquet":
        return ParquetGroups(files, path, size)
    data = files.get(path)
    if len(data) != size:  # a JSON file that is cut off at the end of a line reads like a shorter one
        raise CorruptFileError(f"{path} has {len(data)} bytes instead of {size}")
    if file_format == "json":
        return HeldGroups([read_json_lines(data, wanted)], wanted.names)
    file = orc.ORCFile(pa.BufferReader(data))
    stripes = [pa.Table.from_batches([file.read_stripe(number)]) for number in range(file.nstripes)]
    return HeldGroups(stripes, file.schema.names)


def write_whole(file_format: str, table: pa.Table, compression: str) -> bytes | memoryview:
    """A whole file. REQUIRES: the format is orc or json."""
    if file_format == "json":
        return write_json_lines(table)
    sink = pa.BufferOutputStream()
    # the table with numbers in columns whose timestamps Arrow could write to ORC, and not read back
    for at, column in enumerate(table.columns):
        if is_beyond_nanoseconds(column):
            table = table.set_column(at, table.schema.names[at], column.cast(with_numbers(column.type)))
    codec = "uncompressed" if compression == "none" else compression
    orc.write_table(table, sink, compression=codec, stripe_size=_STRIPE)
    return memoryview(sink.getvalue()).cast("B")
