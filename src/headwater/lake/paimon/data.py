"""Writing the data files of a Paimon table: rows go to their partition and bucket, are sorted there, become Parquet.
Files of one bucket on a level above 0 must not overlap in keys, so all rows of a bucket are sorted together. Until
then they wait on disk, in one Arrow stream a bucket: memory holds one bucket at a time."""

import datetime
import decimal
import io
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from headwater.lake.engine.row import python_value
from headwater.lake.metadata.entries import now_millis
from headwater.lake.paimon.binary_row import encode_row
from headwater.lake.paimon.buckets import buckets_of
from headwater.lake.paimon.metadata import ADD, EMPTY_ROW, PaimonFiles
from headwater.lazy import arrow_compute as pc
from headwater.lazy import arrow_parquet as pq
from headwater.model.schema import Schema

NULL_NAME = "__DEFAULT_PARTITION__"
_ESCAPED = set("\"#%'*/:=?\\{}[]^") | {chr(code) for code in (*range(32), 127)}


def partition_folder(names: Sequence[str], values: Sequence[Any]) -> str:
    """The folder of a partition below the table's, escaped as Paimon does; "" for a table without partitions.

    Published tables say `partition.legacy-name = false`: values are named as a cast to text writes them. (Paimon's
    default names a date by the number of its day.)

    >>> partition_folder(["day", "shop"], [datetime.date(2026, 1, 2), "a/b"])
    'day=2026-01-02/shop=a%2Fb/'
    """
    return "".join(f"{_escape(name)}={_escape(_text(value))}/" for name, value in zip(names, values, strict=True))


def _text(value: Any) -> str:
    match value:
        case None:
            return NULL_NAME
        case bool():
            return "true" if value else "false"
        case datetime.datetime():
            return f"{value:%Y-%m-%d %H:%M:%S.%f}"
        case datetime.date():
            return value.isoformat()
        case decimal.Decimal():
            return f"{value:f}"
    text = str(value)
    return text if text.strip() else NULL_NAME


def _escape(text: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in text)


SEQUENCE, VALUE_KIND = "_SEQUENCE_NUMBER", "_VALUE_KIND"
KEY_PREFIX = "_KEY_"
INSERT_KIND, DELETE_KIND = 0, 3
FILE_ROWS = 2_000_000
TOP_LEVEL = 5  # where a full compaction of Paimon's default six levels puts its result
UNAWARE = -1  # the number of buckets of a table without a key, all of whose files are in `bucket-0`


@dataclass(frozen=True, slots=True)
class PaimonLayout:
    """The layout of a table's rows in Paimon."""

    schema: Schema
    buckets: int  # UNAWARE for a table without a key

    @property
    def keys(self) -> tuple[str, ...]:
        """The primary key without the partition's columns: what files are sorted by and buckets are chosen by."""
        return tuple(name for name in self.schema.primary_keys if name not in self.schema.partition_keys)


@dataclass(slots=True)
class _Waiting:
    """Rows of one bucket on their way into files."""

    partition: tuple[Any, ...]
    bucket: int
    path: Path
    writer: pa.ipc.RecordBatchStreamWriter
    rows: int = 0


@dataclass(slots=True)
class PaimonDataWriter:
    """Takes batches with a column `_VALUE_KIND` at the end, gives manifest entries."""

    store: PaimonFiles
    layout: PaimonLayout
    level: int
    sequence: int  # the first number that is free
    source: int  # 0: appended, 1: compacted
    _spill: tempfile.TemporaryDirectory[str] = field(default_factory=tempfile.TemporaryDirectory)
    _waiting: dict[tuple[tuple[Any, ...], int], _Waiting] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for waiting in self._waiting.values():
            waiting.writer.close()
        self._spill.cleanup()

    def add(self, batch: pa.RecordBatch) -> None:
        """Route the rows of a batch."""
        for partition, bucket, rows in self._routed(batch):
            waiting = self._waiting.get((partition, bucket))
            if waiting is None:
                path = Path(self._spill.name) / f"{len(self._waiting)}.arrows"
                options = pa.ipc.IpcWriteOptions(compression="lz4")
                writer = pa.ipc.new_stream(path, batch.schema, options=options)
                waiting = self._waiting[partition, bucket] = _Waiting(partition, bucket, path, writer)
            waiting.writer.write_batch(rows)
            waiting.rows += len(rows)

    def _routed(self, batch: pa.RecordBatch) -> Iterator[tuple[tuple[Any, ...], int, pa.RecordBatch]]:
        names = self.layout.schema.partition_keys
        codes = np.zeros(len(batch), np.int64)
        for name in names:
            encoded = batch.column(name).dictionary_encode(null_encoding="encode")
            codes = codes * len(encoded.dictionary) + encoded.indices.to_numpy(zero_copy_only=False)
            codes = np.unique(codes, return_inverse=True)[1]
        buckets = self._buckets(batch)
        both = codes * (int(buckets.max(initial=0)) + 1) + buckets
        for code in np.unique(both):
            at = np.flatnonzero(both == code)
            rows = batch.take(pa.array(at)) if len(at) < len(batch) else batch
            partition = tuple(python_value(rows.column(name)[0]) for name in names)
            yield partition, int(buckets[at[0]]), rows

    def _buckets(self, batch: pa.RecordBatch) -> Any:
        if self.layout.buckets == UNAWARE:
            return np.zeros(len(batch), np.int32)
        keys = self.layout.keys
        types = [self.layout.schema.field(name).type for name in keys]
        return buckets_of([batch.column(name) for name in keys], types, self.layout.buckets)

    def finish(self) -> Iterator[dict[str, Any]]:
        """Write the files; one manifest entry for each."""
        for waiting in self._waiting.values():
            waiting.writer.close()
            with pa.OSFile(str(waiting.path)) as source, pa.ipc.open_stream(source) as reader:
                rows = reader.read_all()
            for part in self._sorted(rows):
                yield self._write(part, waiting)
            waiting.path.unlink()

    def _sorted(self, rows: pa.Table) -> Iterable[pa.Table]:
        if self.layout.keys:
            rows = rows.sort_by([(name, "ascending") for name in self.layout.keys])
        return (rows.slice(start, FILE_ROWS) for start in range(0, rows.num_rows, FILE_ROWS))

    def _write(self, rows: pa.Table, waiting: _Waiting) -> dict[str, Any]:
        first, last = self.sequence, self.sequence + rows.num_rows - 1
        self.sequence = last + 1
        keys = self.layout.keys
        stored = self._with_hidden_columns(rows, first) if keys else rows.drop_columns([VALUE_KIND])
        buffer = io.BytesIO()
        pq.write_table(stored, buffer, compression="zstd", store_schema=False)
        name = f"data-{uuid.uuid4()}-0.parquet"
        folder = partition_folder(self.layout.schema.partition_keys, waiting.partition)
        self.store.files.put(self.store.path(f"{folder}bucket-{waiting.bucket}/{name}"), buffer.getvalue())
        types = [self.layout.schema.field(key).type for key in keys]
        ends = [
            encode_row([python_value(rows.column(key)[at]) for key in keys], types) for at in (0, rows.num_rows - 1)
        ]
        partition_types = [self.layout.schema.field(key).type for key in self.layout.schema.partition_keys]
        deleted = int(np.count_nonzero(rows.column(VALUE_KIND).to_numpy() == DELETE_KIND))
        return {
            "_VERSION": 2,
            "_KIND": ADD,
            "_PARTITION": encode_row(waiting.partition, partition_types),
            "_BUCKET": waiting.bucket,
            "_TOTAL_BUCKETS": self.layout.buckets,
            "_FILE": {
                "_FILE_NAME": name,
                "_FILE_SIZE": buffer.tell(),
                "_ROW_COUNT": rows.num_rows,
                "_MIN_KEY": ends[0],
                "_MAX_KEY": ends[1],
                "_KEY_STATS": _key_stats(rows, keys, types, ends),
                "_VALUE_STATS": {"_MIN_VALUES": EMPTY_ROW, "_MAX_VALUES": EMPTY_ROW, "_NULL_COUNTS": []},
                "_MIN_SEQUENCE_NUMBER": first,
                "_MAX_SEQUENCE_NUMBER": last,
                "_SCHEMA_ID": self.layout.schema.id,
                "_LEVEL": self.level,
                "_EXTRA_FILES": [],
                "_CREATION_TIME": now_millis(),
                "_DELETE_ROW_COUNT": deleted,
                "_FILE_SOURCE": self.source,
                "_VALUE_STATS_COLS": [],
            },
        }

    def _with_hidden_columns(self, rows: pa.Table, first: int) -> pa.Table:
        keys = self.layout.keys
        sequence = pa.array(np.arange(first, first + rows.num_rows, dtype=np.int64))
        columns = [*(rows.column(name) for name in keys), sequence, rows.column(VALUE_KIND)]
        columns += [rows.column(name) for name in self.layout.schema.names]
        fields = [rows.schema.field(name).with_name(KEY_PREFIX + name).with_nullable(False) for name in keys]
        fields += [pa.field(SEQUENCE, pa.int64(), nullable=False), pa.field(VALUE_KIND, pa.int8(), nullable=False)]
        fields += [rows.schema.field(name) for name in self.layout.schema.names]
        return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _key_stats(rows: pa.Table, keys: tuple[str, ...], types: list[Any], ends: list[bytes]) -> dict[str, Any]:
    """Smallest and largest of each key column; of one column, rows are in its order."""
    if len(keys) > 1:
        spans = [pc.min_max(rows.column(key)) for key in keys]
        ends = [encode_row([python_value(span[end]) for span in spans], types) for end in ("min", "max")]
    return {"_MIN_VALUES": ends[0], "_MAX_VALUES": ends[1], "_NULL_COUNTS": [0] * len(keys)}
