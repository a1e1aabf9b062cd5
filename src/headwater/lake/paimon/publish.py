"""Publishing a lake table as a genuine Apache Paimon table, which Flink, Spark, Trino and pypaimon read.
The first time writes the whole table; after that, a table with a key sends what changed since, deletes included, as
one Paimon snapshot. Each published snapshot carries the id of the lake snapshot that it shows (`headwater.snapshot`
in its properties), which is also how the next publication knows where to go on."""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from headwater.errors import CommitConflictError, SchemaError, UsageError
from headwater.files import Files, open_files
from headwater.lake.metadata.entries import now_millis
from headwater.lake.metadata.snapshot import NO_SNAPSHOT, Snapshot
from headwater.lake.paimon import metadata
from headwater.lake.paimon.binary_row import decode_row, encode_row
from headwater.lake.paimon.data import (
    DELETE_KIND,
    INSERT_KIND,
    TOP_LEVEL,
    UNAWARE,
    VALUE_KIND,
    PaimonDataWriter,
    PaimonLayout,
)
from headwater.lake.tables.changelog import KIND
from headwater.lake.tables.table import Table
from headwater.lazy import arrow_compute as pc
from headwater.model.types import TIMESTAMP_LTZ

SHOWN = "headwater.snapshot"
OF_TABLE = "headwater.table"
_MERGED_AT = 30  # manifests in a list before they are put together


@dataclass(frozen=True, slots=True)
class Published:
    """The result of a publication."""

    path: str  # of the Paimon table, below the location
    snapshot_id: int  # Paimon's
    shows: int  # the lake snapshot it shows
    rows: int  # rows written: all of the table, or what changed
    files: int
    whole: bool  # whether everything was written anew


def publish(
    table: Table, location: str | Files, *, name: str | None = None, buckets: int | None = None, whole: bool = False
) -> Published:
    """Bring the Paimon table `{location}/{database}.db/{table}` to the latest snapshot of a lake table.

    `whole` writes everything anew, which also compacts what many publications left behind.
    RAISES: MissingDependencyError without fastavro; SchemaError for a table that Paimon cannot have;
    CommitConflictError when somebody else writes to the Paimon table.
    """
    metadata.need_fastavro()
    snapshot = table.snapshot()
    if snapshot is None:
        raise UsageError(f"{table.name} has no snapshot to publish yet")
    files = open_files(location) if isinstance(location, str) else location
    database, _, short = (name or str(table.name)).rpartition(".")
    store = metadata.PaimonFiles(files, f"{database}.db/{short}" if database else short)
    return _Publication(table, store, snapshot, buckets).run(whole=whole)


class _Publication:
    def __init__(self, table: Table, store: metadata.PaimonFiles, snapshot: Snapshot, buckets: int | None) -> None:
        self.table, self.store, self.snapshot = table, store, snapshot
        ids = store.snapshot_ids()
        self.latest = store.snapshot(ids[-1]) if ids else None
        self.live = metadata.live_files(store, self.latest) if self.latest else {}
        self.shown = self._shown()
        schema = table.store.schemas.get_schema(snapshot.schema_id)
        self.layout = PaimonLayout(schema, self._bucket_count(buckets))
        self._check()

    def _check(self) -> None:
        schema = self.layout.schema
        if schema.primary_keys and not self.layout.keys:
            raise SchemaError(
                f"{self.table.name} cannot be published: its primary key is its partition, which Paimon refuses"
            )
        for name in schema.partition_keys:
            if schema.field(name).type == TIMESTAMP_LTZ:
                raise SchemaError(
                    f"{self.table.name} cannot be published: partition `{name}` is a point in time, whose folder"
                    " Paimon names by the time zone of the reader"
                )

    def _shown(self) -> int:
        """The lake snapshot that the Paimon table shows now; NO_SNAPSHOT for one that is not there yet.
        RAISES: CommitConflictError when another writer changed it since."""
        if self.latest is None:
            return NO_SNAPSHOT
        at = self.latest
        while (at.properties or {}).get(SHOWN) is None:
            if at.commit_kind not in ("COMPACT", "ANALYZE") or at.id == 1:
                raise CommitConflictError(
                    f"snapshot {at.id} of the Paimon table {self.store.folder} was made by another writer",
                    hint="publish to another location: a published table has one source",
                )
            at = self.store.snapshot(at.id - 1)
        properties = at.properties or {}
        if properties.get(OF_TABLE) != self.table.metadata.table_uuid:
            raise CommitConflictError(
                f"the Paimon table {self.store.folder} was published from another table", hint="give it another name"
            )
        return int(properties[SHOWN])

    def _bucket_count(self, wanted: int | None) -> int:
        if not self.table.schema.primary_keys:
            return UNAWARE
        there = next((entry["_TOTAL_BUCKETS"] for entry in self.live.values()), None)
        if there is not None and wanted not in (None, there):
            raise UsageError(f"the published table has {there} buckets and keeps them")
        return there or wanted or max(1, self.table.store.shape().buckets)

    def run(self, *, whole: bool) -> Published:
        if self.shown == self.snapshot.snapshot_id and not whole:
            assert self.latest is not None
            return Published(self.store.folder, self.latest.id, self.shown, 0, 0, False)
        # every version that Paimon does not have: its files say which one they were written by. Options of
        # ours mean nothing there, and rows come merged, whatever our merge engine is.
        options = {"bucket": str(self.layout.buckets), "file.format": "parquet", "partition.legacy-name": "false"}
        there = set(self.store.schema_ids())
        for id in self.table.store.schemas.list_schemas():
            if id not in there and id <= self.layout.schema.id:
                self.store.put_schema(metadata.paimon_schema(self.table.store.schemas.get_schema(id), options))
        step = None if whole else self._step()
        with PaimonDataWriter(
            self.store,
            self.layout,
            level=0 if step is not None or not self.layout.keys else TOP_LEVEL,
            sequence=1 + max((entry["_FILE"]["_MAX_SEQUENCE_NUMBER"] for entry in self.live.values()), default=-1),
            source=0 if step is not None else 1,
        ) as writer:
            for batch in step if step is not None else self._all():
                writer.add(batch)
            entries = list(writer.finish())
        rows = sum(entry["_FILE"]["_ROW_COUNT"] for entry in entries)
        gone = list(self.live.values()) if step is None else []
        committed = self._commit(entries, gone)
        return Published(self.store.folder, committed.id, self.snapshot.snapshot_id, rows, len(entries), step is None)

    def _all(self) -> Iterator[pa.RecordBatch]:
        for batch in self.table.scan(at=self.snapshot.snapshot_id):
            yield batch.append_column(VALUE_KIND, pa.array(np.full(len(batch), INSERT_KIND, np.int8)))

    def _step(self) -> Iterable[pa.RecordBatch] | None:
        """Return the changes since the last publication; None when everything has to be written anew.
        Paimon shows null where a file was written before a column came; ours have its default."""
        if self.latest is not None and self._has_new_default(self.latest.schema_id):
            return None
        kept = {each.snapshot_id for each in self.table.snapshots()} | {
            each.snapshot_id for each in self.table.tags().values()
        }
        if self.shown not in kept:
            return None
        if self.layout.keys:
            return map(_as_upserts, self.table.changes(self.shown, self.snapshot.snapshot_id))
        changed = list(self.table.changes(self.shown, self.snapshot.snapshot_id))
        if any(pc.any(pc.not_equal(batch.column(KIND), "+I")).as_py() for batch in changed):
            return None  # rows went, and Paimon's append tables cannot say which
        return map(_as_upserts, changed)

    def _has_new_default(self, schema_id: int) -> bool:
        """Return whether a column with a default has come since a schema."""
        before = {field.id for field in self.table.store.schemas.get_schema(schema_id).fields}
        return any(field.default is not None and field.id not in before for field in self.layout.schema.fields)

    def _commit(self, added: list[dict[str, Any]], gone: list[dict[str, Any]]) -> metadata.PaimonSnapshot:
        before = self.latest
        base = self._merged(self.store.read_list(before.base_manifest_list) if before else [])
        base += self.store.read_list(before.delta_manifest_list) if before else []
        entries = [*({**entry, "_KIND": metadata.DELETE} for entry in gone), *added]
        lists = f"manifest-list-{uuid.uuid4()}"
        sizes = [
            self.store.write_avro(f"{lists}-0", metadata.MANIFEST_LIST, base),
            self.store.write_avro(f"{lists}-1", metadata.MANIFEST_LIST, [self._manifest(entries)] if entries else []),
        ]
        rows = sum(entry["_FILE"]["_ROW_COUNT"] for entry in added)
        lost = sum(entry["_FILE"]["_ROW_COUNT"] for entry in gone)
        total = sum(entry["_FILE"]["_ROW_COUNT"] for entry in self.live.values()) + rows - lost
        snapshot = metadata.PaimonSnapshot(
            id=before.id + 1 if before else 1,
            uuid=str(uuid.uuid4()),
            schema_id=self.layout.schema.id,
            base_manifest_list=f"{lists}-0",
            base_manifest_list_size=sizes[0],
            delta_manifest_list=f"{lists}-1",
            delta_manifest_list_size=sizes[1],
            commit_user="headwater",
            commit_identifier=metadata.BATCH_COMMIT,
            commit_kind="OVERWRITE" if gone else "APPEND",
            time_millis=now_millis(),
            total_record_count=total,
            delta_record_count=rows - lost,
            properties={SHOWN: str(self.snapshot.snapshot_id), OF_TABLE: self.table.metadata.table_uuid},
        )
        self.store.commit(snapshot)
        return snapshot

    def _merged(self, listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Many small manifests put together into one that has only what is live."""
        if len(listed) < _MERGED_AT:
            return listed
        live: dict[metadata.FileKey, dict[str, Any]] = {}
        for each in listed:
            for entry in self.store.read_manifest(each["_FILE_NAME"]):
                metadata.apply_entry(live, entry)
        return [self._manifest(list(live.values()))]

    def _manifest(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        name = f"manifest-{uuid.uuid4()}-0"
        size = self.store.write_avro(name, metadata.MANIFEST, entries)
        buckets = [entry["_BUCKET"] for entry in entries]
        levels = [entry["_FILE"]["_LEVEL"] for entry in entries]
        added = sum(entry["_KIND"] == metadata.ADD for entry in entries)
        return {
            "_VERSION": 2,
            "_FILE_NAME": name,
            "_FILE_SIZE": size,
            "_NUM_ADDED_FILES": added,
            "_NUM_DELETED_FILES": len(entries) - added,
            "_PARTITION_STATS": self._partition_stats(entries),
            "_SCHEMA_ID": self.layout.schema.id,
            "_MIN_BUCKET": min(buckets),
            "_MAX_BUCKET": max(buckets),
            "_MIN_LEVEL": min(levels),
            "_MAX_LEVEL": max(levels),
        }

    def _partition_stats(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        types = [self.layout.schema.field(name).type for name in self.layout.schema.partition_keys]
        columns = list(zip(*(decode_row(entry["_PARTITION"], types) for entry in entries)))
        there = [[value for value in column if value is not None] for column in columns]
        return {
            "_MIN_VALUES": encode_row([min(values, default=None) for values in there], types),
            "_MAX_VALUES": encode_row([max(values, default=None) for values in there], types),
            "_NULL_COUNTS": [len(column) - len(values) for column, values in zip(columns, there)],
        }


def _as_upserts(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A changelog as Paimon's row kinds; what a row was before a change is not needed."""
    batch = batch.filter(pc.not_equal(batch.column(KIND), "-U"))
    deleted = pc.equal(batch.column(KIND), "-D").to_numpy(zero_copy_only=False)
    kinds = np.where(deleted, np.int8(DELETE_KIND), np.int8(INSERT_KIND))
    return batch.drop_columns([KIND]).append_column(VALUE_KIND, pa.array(kinds, pa.int8()))
