"""Importing an Apache Paimon table: its newest row of each key, as one commit of a lake table.
Data files are Parquet or ORC. Files of older schemas are read by field id. Rows of one key are merged as the table's
merge engine says where that is the last or the first row; of engines that compute rows, the table must be
compacted."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.orc

from headwater.errors import InputError, NotFoundError, SchemaError, UsageError
from headwater.files import Files, open_files
from headwater.lake.engine.sst.format import out_of_memory
from headwater.lake.engine.types import arrow_type
from headwater.lake.metadata.snapshot import InputVersion, Origin, Snapshot
from headwater.lake.paimon.data import SEQUENCE, VALUE_KIND
from headwater.lake.paimon.metadata import Entry, PaimonFiles, PaimonSchema, PaimonSnapshot, live_files, model_schema
from headwater.lake.tables.names import parse_name
from headwater.lake.tables.table import Table
from headwater.lake.tables.warehouse import Warehouse
from headwater.lazy import arrow_compute as pc
from headwater.lazy import arrow_parquet as pq
from headwater.model.schema import Schema

_BEFORE, _DELETED = 1, 3  # row kinds -U and -D


@dataclass(frozen=True, slots=True)
class PaimonTable:
    """A Paimon table at one of its snapshots."""

    store: PaimonFiles
    snapshot: PaimonSnapshot
    schema: PaimonSchema
    model: Schema

    @property
    def keys(self) -> tuple[str, ...]:
        return self.schema.primary_keys


def open_paimon(location: str | Files, *, snapshot: int | None = None, tag: str | None = None) -> PaimonTable:
    """A Paimon table by its folder, now or as of a snapshot or tag, with the columns it has or had then.
    RAISES: NotFoundError when there is no Paimon table or no such moment, SchemaError for columns the lake cannot
    store, InputError for what can be read by Paimon only."""
    files = open_files(location) if isinstance(location, str) else location
    store = PaimonFiles(files, "")
    schemas = store.schema_ids()
    if not schemas:
        raise NotFoundError(
            f"there is no Paimon table at {files.url}",
            hint="give the table's own folder: WAREHOUSE/DATABASE.db/TABLE",
        )
    ids = store.snapshot_ids()
    if tag is not None:
        chosen = store.tag(tag)
    elif not ids:
        raise UsageError(f"the Paimon table at {files.url} has no snapshot to import yet")
    elif snapshot is not None and snapshot not in ids:
        raise NotFoundError(f"the Paimon table has no snapshot {snapshot}", hint=f"it has {ids[0]} to {ids[-1]}")
    else:
        chosen = store.snapshot(snapshot if snapshot is not None else ids[-1])
    is_now = tag is None and snapshot is None
    schema = store.schema(schemas[-1] if is_now else chosen.schema_id)
    return PaimonTable(store, chosen, schema, model_schema(schema))


def import_paimon(
    warehouse: Warehouse,
    location: str | Files,
    name: str,
    *,
    snapshot: int | None = None,
    tag: str | None = None,
    overwrite: bool = False,
) -> Snapshot:
    """Make a lake table from a Paimon table, or with `overwrite` replace what it holds, in one commit.

    The commit's origin names the Paimon table and its snapshot.
    """
    source = open_paimon(location, snapshot=snapshot, tag=tag)
    table = _target(warehouse, name, source, overwrite)
    url = source.store.files.url
    origin = Origin(inputs=(InputVersion(dataset=url, snapshot_id=source.snapshot.id, columns=source.model.names),))
    return table.overwrite(read_paimon(source), origin=origin)


def _target(warehouse: Warehouse, name: str, source: PaimonTable, overwrite: bool) -> Table:
    if warehouse.has_table(name):
        table = warehouse.table(name)
        if not overwrite:
            raise UsageError(f"there is a table {name} already", hint="overwrite replaces what it holds")
        return table
    warehouse.create_database(parse_name(name).database, if_not_exists=True)
    buckets = int(source.schema.options.get("bucket", "-1"))
    options = {"bucket": str(buckets)} if buckets > 0 and source.keys else {}
    model = source.model
    return warehouse.create_table(
        name,
        model,
        primary_key=model.primary_keys,
        partition_by=model.partition_keys,
        options=options,
        comment=model.comment,
    )


def read_paimon(table: PaimonTable) -> Iterator[pa.RecordBatch]:
    """The rows of a Paimon table, bucket by bucket."""
    name = table.snapshot.index_manifest
    for entry in table.store.read_manifest(name) if name else ():
        if str(entry.get("_INDEX_TYPE")) == "DELETION_VECTORS":
            raise InputError(
                "this Paimon table has deletion vectors, which are not read here",
                hint="compact it fully in Paimon, or switch `deletion-vectors.enabled` off",
            )
    paths = {entry.name: entry.path for entry in table.store.files.list("", deep=True)}
    places: dict[tuple[bytes, int], list[Entry]] = defaultdict(list)
    for entry in live_files(table.store, table.snapshot).values():
        places[entry["_PARTITION"], entry["_BUCKET"]].append(entry)
    for entries in places.values():
        parts = (_read_file(table, entry["_FILE"], paths) for entry in entries)
        if not table.keys:
            for part in parts:
                yield from part.to_batches()
        else:
            with _damage_named(entries[0]["_FILE"]["_FILE_NAME"]):
                rows = _merged(table, pa.concat_tables(parts)).select(table.model.names)
            yield from rows.to_batches()


@contextmanager
def _damage_named(name: str) -> Iterator[None]:
    """Say of a data file that it cannot be read, whatever its reader stumbled over."""
    try:
        yield
    except MemoryError as error:
        raise out_of_memory(name) from error
    except (KeyError, TypeError, OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"data file {name} of the Paimon table cannot be read: {error}") from error


def _read_file(table: PaimonTable, file: dict[str, Any], paths: dict[str, str]) -> pa.Table:
    """The rows of a data file under the table's columns, with sequence number and row kind if the table has a key."""
    name = file["_FILE_NAME"]
    if name not in paths:
        raise NotFoundError(f"data file {name} of the Paimon table is missing below its folder")
    with _damage_named(name):
        return _read_columns(table, file, table.store.files.get(paths[name]))


def _read_columns(table: PaimonTable, file: dict[str, Any], content: bytes) -> pa.Table:
    written = table.schema if file["_SCHEMA_ID"] == table.schema.id else table.store.schema(file["_SCHEMA_ID"])
    old_names = {field.id: field.name for field in written.fields}
    data = _open(file["_FILE_NAME"], content)
    columns, fields = [], []
    for field, ours in zip(table.schema.fields, table.model.fields, strict=True):
        type = arrow_type(ours.type)
        source = old_names.get(field.id)
        there = source in data.column_names
        columns.append(_cast(data.column(source), type, field.name) if there else pa.nulls(data.num_rows, type))
        fields.append(pa.field(field.name, type))
    if table.keys:
        columns += [data.column(SEQUENCE).cast(pa.int64()), data.column(VALUE_KIND).cast(pa.int8())]
        fields += [pa.field(SEQUENCE, pa.int64()), pa.field(VALUE_KIND, pa.int8())]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _open(name: str, content: bytes) -> pa.Table:
    kind = name.rpartition(".")[2]
    if kind == "parquet":
        return pq.read_table(pa.BufferReader(content), partitioning=None)
    if kind == "orc":
        return pyarrow.orc.read_table(pa.BufferReader(content))
    raise InputError(f"data file {name} of the Paimon table is neither Parquet nor ORC")


def _cast(column: pa.ChunkedArray, type: pa.DataType, name: str) -> pa.ChunkedArray:
    try:
        return column.cast(type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise SchemaError(f"column `{name}` does not fit {type} without loss: {error}") from error


def _merged(table: PaimonTable, rows: pa.Table) -> pa.Table:
    """One row for each key, deleted ones left out."""
    options = table.schema.options
    engine = options.get("merge-engine", "deduplicate")
    order = [each for each in options.get("sequence.field", "").split(",") if each]
    if options.get("sequence.field.sort-order", "ascending") != "ascending":
        raise InputError("a Paimon table with a descending `sequence.field.sort-order` is not read here")
    rows = rows.sort_by([(name, "ascending") for name in (*table.keys, *order, SEQUENCE)]).combine_chunks()
    differs = np.zeros(max(rows.num_rows - 1, 0), np.bool_)
    for name in table.keys:
        column = rows.column(name)
        other = pc.not_equal(column.slice(1), column.slice(0, len(column) - 1))
        differs |= other.to_numpy()
    if engine not in ("deduplicate", "first-row") and not differs.all():
        raise InputError(
            f"this Paimon table merges rows by `{engine}` and has rows that are not merged yet",
            hint="run a full compaction in Paimon first",
        )
    one = np.ones(min(rows.num_rows, 1), np.bool_)
    chosen = np.concatenate([one, differs]) if engine == "first-row" else np.concatenate([differs, one])
    kinds = rows.column(VALUE_KIND).to_numpy()
    chosen &= (kinds != _DELETED) & (kinds != _BEFORE)
    return rows.filter(pa.array(chosen))
