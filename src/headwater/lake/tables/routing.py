"""The partition and bucket of rows: of all rows at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mmh3
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.lake.engine.batch import RowKind, SortedBatch
from headwater.lake.engine.formats.positions import row_keys
from headwater.lake.engine.keys import NativeKey, as_bytes
from headwater.lake.engine.merge import sort_batch
from headwater.lake.engine.stored import stored_batch
from headwater.lake.metadata.manifest import Partition
from headwater.lake.tables.partitions import stored_value, stored_values
from headwater.lake.tables.shape import Shape
from headwater.lazy import arrow_compute as pc
from headwater.model.schema import Field


@dataclass(frozen=True, slots=True)
class Routed:
    """Rows of one bucket, sorted by key, one row per key."""

    partition: Partition
    bucket: int
    rows: SortedBatch


def route(rows: pa.Table, shape: Shape, kind: RowKind | npt.NDArray[np.uint8] = RowKind.PUT) -> Iterator[Routed]:
    """Rows by partition and bucket, later rows of a key over earlier ones. REQUIRES: rows conform to the schema.
    RAISES: ValueOverflowError when rows of one key have a sum or product that does not fit its column."""
    if not rows.num_rows:
        return
    whole = rows.combine_chunks()
    batch = stored_batch(shape.codec, whole, kind) if shape.is_keyed else _append_batch(whole, shape)
    partitions, codes = _partition_codes(whole, shape.partition_fields)
    buckets = shape.buckets
    places = codes * buckets
    if buckets > 1:
        places += (batch.keys.hashes() % np.uint64(buckets)).astype(np.int64)
    for place, positions in _by_place(places):
        if shape.is_keyed:
            sorted_rows = sort_batch(batch, shape.rule.as_strict(shape.codec), positions)
        else:
            sorted_rows = _renumbered(_at(batch, positions))
        yield Routed(partitions[place // buckets], place % buckets, sorted_rows)


def route_batch(batch: SortedBatch, rows: pa.RecordBatch, shape: Shape) -> Iterator[Routed]:
    """A sorted batch with deletes in it, by partition and bucket. REQUIRES: `rows` has its partition columns."""
    partitions, codes = _partition_codes(pa.Table.from_batches([rows]), shape.partition_fields)
    places = codes * shape.buckets + (batch.keys.hashes() % np.uint64(shape.buckets)).astype(np.int64)
    for place, positions in _by_place(places):
        yield Routed(partitions[place // shape.buckets], place % shape.buckets, _at(batch, positions))


def place_of(key: NativeKey, shape: Shape) -> tuple[Partition, int]:
    """Return the partition and bucket of one key of a table with a primary key."""
    if not shape.partition_fields:
        return (), bucket_of(key, shape.buckets)
    known = dict(zip(shape.schema.primary_keys, shape.codec.values(key)))
    partition = tuple(stored_value(known[field.name]) for field in shape.partition_fields)
    return partition, bucket_of(key, shape.buckets)


def bucket_of(key: NativeKey, buckets: int) -> int:
    """The bucket of one key: its hash modulo the number of buckets."""
    return int(mmh3.hash64(as_bytes(key), signed=False)[0] % buckets) if buckets > 1 else 0


def _append_batch(rows: pa.Table, shape: Shape) -> SortedBatch:
    columns = rows.select([field.name for field in shape.codec.stored]).to_batches()[0]
    return SortedBatch(row_keys(0, len(columns)), None, columns)


def _renumbered(batch: SortedBatch) -> SortedBatch:
    return SortedBatch(row_keys(0, len(batch)), None, batch.columns)


def _by_place(places: npt.NDArray[np.int64]) -> Iterator[tuple[int, npt.NDArray[np.int64] | None]]:
    """The positions of the rows of each place, in their order; None for all there are."""
    if (places == places[0]).all():
        yield int(places[0]), None
        return
    few = int(places.max()) < 1 << 16
    order = np.argsort(places.astype(np.uint16) if few else places, kind="stable")  # 16 bits: without comparing
    ordered = places[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    for start, stop in zip(starts, np.append(starts[1:], len(order))):
        yield int(ordered[start]), order[start:stop]


def _at(batch: SortedBatch, positions: npt.NDArray[np.int64] | None) -> SortedBatch:
    return batch if positions is None else batch.take(positions)


def _partition_codes(rows: pa.Table, fields: tuple[Field, ...]) -> tuple[list[Partition], npt.NDArray[np.int64]]:
    """The partitions that occur, and for each row the number of its own."""
    if not fields:
        return [()], np.zeros(rows.num_rows, np.int64)
    values: list[list[Any]] = []
    codes = np.zeros(rows.num_rows, np.int64)
    for field in fields:
        encoded = rows.column(field.name).combine_chunks().dictionary_encode()
        known = [*stored_values(encoded.dictionary), None]  # the last one stands for null
        own = pc.fill_null(encoded.indices, len(known) - 1).to_numpy(zero_copy_only=False).astype(np.int64)
        codes = codes * len(known) + own
        values.append(known)
    present, numbers = np.unique(codes, return_inverse=True)
    return [_decode(int(code), values) for code in present], numbers.astype(np.int64)


def _decode(code: int, values: list[list[Any]]) -> Partition:
    parts: list[Any] = []
    for known in reversed(values):
        code, at = divmod(code, len(known))
        parts.append(known[at])
    return tuple(reversed(parts))
