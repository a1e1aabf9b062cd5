"""Writing sorted batches to data files of any format."""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from headwater.files import Files
from headwater.files.protocol import Buffer
from headwater.lake.engine.batch import SortedBatch
from headwater.lake.engine.formats.columnar import ColumnarWriter, ParquetWriter
from headwater.lake.engine.formats.facts import FileFacts
from headwater.lake.engine.formats.positions import ROW_COLUMN
from headwater.lake.engine.formats.protocol import DataWriter
from headwater.lake.engine.layout import PathFactory, new_data_file
from headwater.lake.engine.options import FileFormat, StorageOptions
from headwater.lake.engine.sst.meta import TableMeta
from headwater.lake.engine.sst.writer import SSTableWriter
from headwater.lake.engine.version import DataFile
from headwater.model.schema import Schema


class FileWriter:
    """Writes the data files of one tree."""

    def __init__(
        self, files: Files, paths: PathFactory, schema: Schema, options: StorageOptions, *, folder: str = ""
    ) -> None:
        """`folder` is where the files go below the data folder; it is part of their names."""
        self._files = files
        self._paths = paths
        self._schema = schema
        self._options = options
        self._prefix = f"{folder}/" if folder else ""
        self._is_keyed = schema.primary_keys != (ROW_COLUMN,)

    def write(self, batches: Iterable[SortedBatch], *, level: int, sequence: int) -> list[DataFile]:
        """Write batches, given in key order, as files of about the target size.
        Level 0 of a table with a key is always one file: a sorted run.
        The files are on disk when this returns, and belong to nothing yet: a version edit makes them live."""
        written: list[DataFile] = []
        rest = iter(batches)
        try:
            for first in rest:
                written.append(self._write_file(chain((first,), rest), level, sequence))
        except BaseException:
            self.discard(written)
            raise
        return written

    def discard(self, files: Iterable[DataFile]) -> None:
        """Remove files that did not become live."""
        for file in files:
            self._files.delete(self._paths.data_file(file.name))

    def _new_writer(self, level: int) -> DataWriter:
        options, facts = self._options, FileFacts(self._schema)
        top = level >= options.levels - 1
        compression = options.top_compression if top else options.compression
        if options.file_format is FileFormat.SST:
            return SSTableWriter(
                facts, compression=compression, block_size=options.block_size, bits_per_key=options.bits_per_key
            )
        if options.file_format is FileFormat.PARQUET:
            return ParquetWriter(self._schema, facts, compression.name.lower())
        return ColumnarWriter(options.file_format.value, self._schema, facts, compression.name.lower())

    def _write_file(self, batches: Iterator[SortedBatch], level: int, sequence: int) -> DataFile:
        """Write one file, as it comes, out of as many batches as it holds."""
        name = self._prefix + new_data_file(level, sequence, self._options.file_format.value)
        writer, growing = self._new_writer(level), _Growing()
        self._files.put(self._paths.data_file(name), self._pieces(writer, batches, level, growing))
        meta = growing.meta
        assert meta is not None
        return DataFile(
            name=name,
            level=level,
            sequence=sequence,
            rows=meta.rows,
            deletes=meta.deletes,
            size=growing.size,
            min_key=meta.min_key,
            max_key=meta.max_key,
            schema_id=meta.schema_id,
            stats=meta.stats,
            created_millis=int(time.time() * 1000),
        )

    def _pieces(
        self, writer: DataWriter, batches: Iterator[SortedBatch], level: int, growing: "_Growing"
    ) -> Iterator[Buffer]:
        for batch in batches:
            writer.append(batch)
            yield from growing.counted(writer.drain())
            if (level or not self._is_keyed) and writer.size >= self._options.target_file_size:
                break
        last, growing.meta = writer.finish()
        yield from growing.counted(last)


class _Growing:
    """A file on its way to the store: its size so far, and at the end what it holds."""

    def __init__(self) -> None:
        self.size = 0
        self.meta: TableMeta | None = None

    def counted(self, pieces: Sequence[Buffer]) -> Iterator[Buffer]:
        for piece in pieces:
            self.size += len(piece)
            yield piece
