"""Parquet files: row groups written as the rows come, and read one by one, only the columns that are asked for."""

from collections.abc import Iterable, Sequence
from io import RawIOBase
from threading import Lock
from typing import Any

import pyarrow as pa

from headwater.errors import CorruptFileError
from headwater.files import Files, RangeReader, open_reader
from headwater.lake.engine.file_stats import Statistic, stats_match
from headwater.lake.engine.formats.block_checks import BlockChecks, CheckedFile, read_checks
from headwater.lake.engine.stats import ColumnStats, plain_value
from headwater.lazy import arrow_compute as pc
from headwater.lazy import arrow_parquet as pq

GROUP_BYTES = 64 << 20  # in memory: a group of wide rows has fewer of them
_MAGIC_BYTES = 4  # at the beginning of a file
_SAMPLE = 32_768  # rows that decide which columns repeat their values
_DISTINCT = 8  # a value must occur about so often


class ParquetGroups:
    """The row groups of an open file; the footer is read at once, columns when they are asked for. Any thread.
    RAISES: CorruptFileError when a footer or a column that is read is damaged."""

    def __init__(self, files: Files, path: str, size: int) -> None:
        self._path = path
        self._reader = open_reader(files, path, size)
        if self._reader.size != size:
            raise CorruptFileError(f"{path} has {self._reader.size} bytes instead of {size}")
        self._checks: CheckedFile | None = read_checks(self._reader)
        in_place = self._reader.in_place
        source = pa.BufferReader(pa.py_buffer(self._reader.read(0, size))) if in_place else _RangeFile(self._reader)
        self._file = pq.ParquetFile(source, page_checksum_verification=not in_place, pre_buffer=not in_place)
        self._lock = Lock()
        metadata = self._file.metadata
        self.columns = frozenset(self._file.schema_arrow.names)
        self.counts = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
        self._leaves: dict[str, list[int]] = {}
        for at, column in enumerate(self._file.reader.column_paths):
            self._leaves.setdefault(column[0], []).append(at)

    @property
    def has_checks(self) -> bool:
        """Return whether the file has checksums of ours, and they and the footer are sound."""
        return self._checks is not None

    def read(self, number: int, names: Sequence[str]) -> pa.Table:
        """Columns of one group."""
        if self._reader.in_place:
            self.check([number], names)
        with self._lock:
            return self._file.read_row_group(number, columns=list(names)).select(list(names))

    def check(self, numbers: Iterable[int], names: Iterable[str]) -> None:
        """Compare the stored bytes of columns with their checksums, if the file has any.
        RAISES: CorruptFileError with the place."""
        if self._checks is None:
            return
        leaves = [at for name in names for at in self._leaves[name]]
        ranges = (self._range(number, at) for number in numbers for at in leaves)
        at = self._checks.damaged([(0, _MAGIC_BYTES), *ranges])
        if at is not None:
            raise CorruptFileError(f"{self._path} is damaged: the block at byte {at} does not match its checksum")

    def matching(self, where: list[Statistic]) -> list[int]:
        """The groups that, by their statistics, can hold a row that satisfies every predicate."""
        every = range(len(self.counts))
        return [at for at in every if stats_match(self._stats(at, where), self.counts[at], where)]

    def is_zero(self, number: int, name: str) -> bool:
        """Whether, by statistics, every value of a column in a group is 0."""
        known = self._stats_of(number, name)
        return known is not None and (known.min, known.max, known.nulls) == (0, 0, 0)

    def _range(self, number: int, leaf: int) -> tuple[int, int]:
        chunk = self._file.metadata.row_group(number).column(leaf)
        start = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
        return start, start + chunk.total_compressed_size

    def _stats(self, number: int, where: list[Statistic]) -> dict[str, ColumnStats]:
        found = ((name, self._stats_of(number, name)) for name, _ in where if name in self._leaves)
        return {name: stats for name, stats in found if stats is not None}

    def _stats_of(self, number: int, name: str) -> ColumnStats | None:
        """Return the statistics of a column in a group, None if there are none."""
        (leaf, *more) = self._leaves[name]
        known = None if more else self._file.metadata.row_group(number).column(leaf).statistics
        if known is None or not known.has_null_count:
            return None
        try:
            low, high = (known.min, known.max) if known.has_min_max else (None, None)
        except (OverflowError, ValueError, pa.ArrowNotImplementedError):
            low = high = None  # a time that Python does not have, a decimal that older Arrows cannot tell
        return ColumnStats(plain_value(low), plain_value(high), known.null_count)


class ParquetSink:
    """A file that is being written, in groups of so many rows."""

    def __init__(self, schema: pa.Schema, compression: str, group_rows: int) -> None:
        self._pieces = _Pieces()
        self._checks = BlockChecks()
        self._most = group_rows
        self._pending: list[pa.RecordBatch] = []
        self._rows = 0
        self._bytes = 0
        self._written = 0
        self.groups = 0
        self._schema = schema
        self._compression = compression
        self._writer: Any = None

    @property
    def size(self) -> int:
        """About how many bytes the file has so far."""
        return self._written + self._bytes // 2

    def append(self, batch: pa.RecordBatch) -> None:
        of_a_row = batch.nbytes // len(batch) + 1
        start = 0
        while start < len(batch):
            room = max(1, min(self._most - self._rows, (GROUP_BYTES - self._bytes) // of_a_row))
            part = batch.slice(start, room)
            self._pending.append(part)
            self._rows += len(part)
            self._bytes += len(part) * of_a_row
            start += len(part)
            if self._rows >= self._most or self._bytes + of_a_row > GROUP_BYTES:
                self._flush()

    def drain(self) -> list[bytes]:
        """The pieces of the file that are done, beyond those given before."""
        done = self._pieces.take()
        for piece in done:
            self._checks.add(piece)
            self._written += len(piece)
        return done

    def finish(self) -> list[bytes]:
        """The last pieces of the file."""
        self._flush()
        rows = self.drain()
        assert self._writer is not None  # a file has rows
        self._writer.close()
        footer = b"".join(self._pieces.take())
        return [*rows, self._checks.encode(footer), footer]

    def _flush(self) -> None:
        if self._rows:
            table = pa.Table.from_batches(self._pending)
            if self._writer is None:
                self._writer = self._open(table.slice(0, _SAMPLE))
            self._writer.write_table(table, row_group_size=self._rows)
            self.groups += 1
        self._pending, self._rows, self._bytes = [], 0, 0

    def _open(self, sample: pa.Table) -> Any:
        return pq.ParquetWriter(
            pa.PythonFile(self._pieces, mode="w"),
            self._schema,
            compression=_codecs(sample, self._compression),
            write_page_checksum=True,
            store_decimal_as_integer=True,
        )


def _codecs(sample: pa.Table, compression: str) -> str | dict[str, str]:
    """The codec of each leaf: ZSTD pays for text; numbers and dictionaries get little smaller, and slow to read."""
    if compression != "zstd":
        return compression
    slow = {name for name in sample.column_names if _is_text(sample.column(name))}
    empty = pa.BufferOutputStream()
    pq.write_table(sample.schema.empty_table(), empty)
    leaves = pq.ParquetFile(pa.BufferReader(empty.getvalue())).reader.column_paths
    return {".".join(leaf): "zstd" if leaf[0] in slow else "snappy" for leaf in leaves}


def _is_text(column: pa.ChunkedArray) -> bool:
    """Return whether a column has text that does not repeat, or may have."""
    if pa.types.is_nested(column.type):
        return True
    if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        return False
    return bool(pc.count_distinct(column, mode="all").as_py() * _DISTINCT > len(column))


class _Pieces(RawIOBase):
    """The bytes that a writer of Arrow has written, until they are taken."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._held.append(bytes(data))
        return len(self._held[-1])

    def take(self) -> list[bytes]:
        taken, self._held = self._held, []
        return taken


class _RangeFile(RawIOBase):
    """A file of a store, as Arrow reads it."""

    def __init__(self, reader: RangeReader) -> None:
        self._reader = reader
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._reader.size)[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._reader.size - self._at)
        data = bytes(self._reader.read(self._at, left if size is None or size < 0 else min(size, left)))
        self._at += len(data)
        return data
