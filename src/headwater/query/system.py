"""System tables: what a table knows about itself, as rows (`SELECT * FROM orders$snapshots`)."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pyarrow as pa

from headwater.errors import CannotTellError
from headwater.lake.metadata.snapshot import Snapshot
from headwater.query.names import Pinned, TableRef
from headwater.query.parse import SqlStatement
from headwater.query.refresh.definition import find_definition_of
from headwater.text import suggest

_TIME = pa.timestamp("ms", tz="UTC")
_TEXTS = pa.list_(pa.string())


def _table(columns: dict[str, pa.DataType], rows: Iterable[tuple[Any, ...]]) -> pa.Table:
    whole = list(rows)
    return pa.table(
        {name: pa.array([row[at] for row in whole], type) for at, (name, type) in enumerate(columns.items())}
    )


def snapshots(pinned: Pinned) -> pa.Table:
    """Every snapshot that is kept, with what it did and where it came from."""
    columns = {
        "snapshot_id": pa.int64(),
        "schema_id": pa.int64(),
        "commit_user": pa.string(),
        "commit_id": pa.string(),
        "commit_time": _TIME,
        "operation": pa.string(),
        "manifest_list": pa.string(),
        "total_records": pa.int64(),
        "total_files": pa.int64(),
        "total_size": pa.int64(),
        "added_records": pa.int64(),
        "added_files": pa.int64(),
        "removed_files": pa.int64(),
        "job": pa.string(),
        "sql": pa.string(),
        "inputs": _TEXTS,
    }
    return _table(columns, map(_snapshot_row, _up_to(pinned)))


def _snapshot_row(snapshot: Snapshot) -> tuple[Any, ...]:
    summary, origin = snapshot.summary, snapshot.origin
    inputs = [f"{each.dataset}@{each.snapshot_id}" for each in origin.inputs] if origin else []
    return (
        *(snapshot.snapshot_id, snapshot.schema_id, snapshot.commit_user, snapshot.commit_id),
        *(snapshot.timestamp, snapshot.operation.value, snapshot.manifest_list),
        *(summary.total_records, summary.total_files, summary.total_size),
        *(summary.added_records, summary.added_files, summary.removed_files),
        *(origin.job if origin else None, origin.sql if origin else None, inputs),
    )


def schemas(pinned: Pinned) -> pa.Table:
    """Every version of the schema."""
    columns = {
        "schema_id": pa.int64(),
        "fields": pa.string(),
        "primary_keys": _TEXTS,
        "partition_keys": _TEXTS,
        "options": pa.string(),
        "comment": pa.string(),
        "update_time": _TIME,
    }
    rows = []
    for schema in pinned.table.schemas():
        fields = [
            {"id": field.id, "name": field.name, "type": str(field.type), "nullable": field.nullable}
            for field in schema.fields
        ]
        options = msgspec.json.encode(schema.options).decode()
        rows.append(
            (
                *(schema.id, msgspec.json.encode(fields).decode(), list(schema.primary_keys)),
                *(list(schema.partition_keys), options, schema.comment, schema.time_millis),
            )
        )
    return _table(columns, rows)


def manifests(pinned: Pinned) -> pa.Table:
    """The manifests of the snapshot."""
    columns = {"file_name": pa.string(), "added_files": pa.int64(), "removed_files": pa.int64()}
    if pinned.snapshot is None:
        return _table(columns, ())
    store = pinned.table.store.committer.manifests
    listed = store.read_list(pinned.snapshot.manifest_list)
    return _table(columns, ((each.name, each.added, each.removed) for each in listed))


def files(pinned: Pinned) -> pa.Table:
    """The live data files of the snapshot."""
    columns = {
        "partition": _TEXTS,
        "bucket": pa.int64(),
        "file_name": pa.string(),
        "level": pa.int64(),
        "record_count": pa.int64(),
        "file_size": pa.int64(),
        "schema_id": pa.int64(),
        "sequence": pa.int64(),
    }
    return _table(
        columns,
        (
            (
                *([str(value) for value in entry.partition], entry.bucket, entry.file.name, entry.file.level),
                *(entry.file.rows, entry.file.size, entry.file.schema_id, entry.file.sequence),
            )
            for entry in pinned.state.entries
        ),
    )


def tags(pinned: Pinned) -> pa.Table:
    """The tags and the snapshots they name."""
    columns = {"tag_name": pa.string(), "snapshot_id": pa.int64(), "schema_id": pa.int64(), "commit_time": _TIME}
    found = pinned.table.tags().items()
    return _table(columns, ((name, each.snapshot_id, each.schema_id, each.timestamp) for name, each in found))


def options(pinned: Pinned) -> pa.Table:
    """The options of the table."""
    return _table({"key": pa.string(), "value": pa.string()}, sorted(pinned.schema.options.items()))


def audit_log(pinned: Pinned) -> pa.Table:
    """Every change of a row that the kept snapshots show, with the snapshot that made it."""
    kept = [snapshot.snapshot_id for snapshot in _up_to(pinned)]
    parts = []
    for before, after in zip([0, *kept], kept):
        batch = pinned.table.changes(before, after).read_all()
        kind = batch.column("_kind").cast(pa.string())
        made = pa.array([after] * batch.num_rows, pa.int64())
        plain = batch.drop_columns(["_kind"])
        parts.append(plain.add_column(0, "_kind", kind).add_column(0, "_snapshot", made))
    if parts:
        return pa.concat_tables(parts, promote_options="permissive")
    return _table({"_snapshot": pa.int64(), "_kind": pa.string()}, ())


def lineage(pinned: Pinned) -> pa.Table:
    """Return where the columns of each snapshot came from: the dataset, its snapshot, the column, and how."""
    columns = {
        "snapshot_id": pa.int64(),
        "commit_time": _TIME,
        "operation": pa.string(),
        "target_column": pa.string(),
        "source_dataset": pa.string(),
        "source_snapshot_id": pa.int64(),
        "source_column": pa.string(),
        "kind": pa.string(),
        "expression": pa.string(),
        "job": pa.string(),
        "run_id": pa.string(),
    }
    rows = []
    for snapshot in _up_to(pinned):
        origin = snapshot.origin
        if origin is None:
            continue
        versions: dict[str, list[int | None]] = {}
        for each in origin.inputs:
            versions.setdefault(each.dataset, []).append(each.snapshot_id)
        for column in origin.columns:
            for version in versions.get(column.dataset, [None]):
                rows.append(
                    (
                        *(snapshot.snapshot_id, snapshot.timestamp, snapshot.operation.value, column.column),
                        *(column.dataset, version, column.source, column.kind, column.expression),
                        *(origin.job, origin.run_id),
                    )
                )
    return _table(columns, rows)


def recipes(pinned: Pinned) -> pa.Table:
    """Return how each snapshot can be made again: the text, its engine, the states it read, or why it cannot."""
    columns = {
        "snapshot_id": pa.int64(),
        "commit_time": _TIME,
        "operation": pa.string(),
        "base": pa.int64(),
        "engine": pa.string(),
        "sql": pa.string(),
        "database": pa.string(),
        "settings": pa.string(),
        "parameters": pa.string(),
        "inputs": _TEXTS,
        "files": _TEXTS,
        "reason": pa.string(),
        "job": pa.string(),
        "run_id": pa.string(),
    }
    return _table(columns, (_recipe_row(each) for each in _up_to(pinned) if each.origin is not None))


def _recipe_row(snapshot: Snapshot) -> tuple[Any, ...]:
    origin = snapshot.origin
    assert origin is not None
    recipe, told = origin.recipe, "its program kept no recipe"
    settings = msgspec.json.encode(recipe.settings).decode() if recipe and recipe.settings else None
    given = recipe.parameters if recipe else None
    return (
        *(snapshot.snapshot_id, snapshot.timestamp, snapshot.operation.value, snapshot.snapshot_id - 1 or None),
        *(recipe.engine if recipe else None, recipe.sql if recipe and recipe.sql else origin.sql),
        *(recipe.database if recipe else None, settings),
        None if given is None else msgspec.json.encode(given).decode(),
        [f"{each.dataset}@{each.snapshot_id}" for each in origin.inputs],
        [each.path for each in recipe.files] if recipe else [],
        *(recipe.reason if recipe else told, origin.job, origin.run_id),
    )


def definition(pinned: Pinned) -> pa.Table:
    """Return the query that defines the table, whether it is declared, and the states that it was last made from."""
    columns = {
        "query": pa.string(),
        "declared": pa.bool_(),
        "snapshot_id": pa.int64(),
        "inputs": _TEXTS,
        "why_not": pa.string(),
    }
    try:
        found = find_definition_of(pinned.table)
    except CannotTellError:
        return _table(columns, ())
    inputs = [f"{name}@{each.snapshot_id}" for name, each in found.inputs.items()]
    made = found.made.snapshot_id if found.made is not None else None
    return _table(columns, [(found.query, found.is_declared, made, inputs, found.why_not)])


def _up_to(pinned: Pinned) -> list[Snapshot]:
    """The snapshots that are kept, up to the one that is looked at."""
    if pinned.snapshot is None:
        return []
    last = pinned.snapshot.snapshot_id
    return [snapshot for snapshot in pinned.table.snapshots() if snapshot.snapshot_id <= last]


SYSTEM_TABLES: dict[str, Callable[[Pinned], pa.Table]] = {
    "snapshots": snapshots,
    "schemas": schemas,
    "manifests": manifests,
    "files": files,
    "tags": tags,
    "options": options,
    "audit_log": audit_log,
    "lineage": lineage,
    "recipes": recipes,
    "definition": definition,
}


def system_table(ref: TableRef, statement: SqlStatement) -> pa.Table:
    """The rows of a system table. RAISES: SqlError with the nearest name."""
    make = SYSTEM_TABLES.get(ref.system or "")
    if make is None:
        known = f"system tables: {', '.join(SYSTEM_TABLES)}"
        raise statement.error(
            f"there is no system table `{ref.node.name}`",
            ref.span,
            hint=suggest(ref.system or "", SYSTEM_TABLES, known, f"`{ref.pinned.name.table}${{}}`"),
        )
    return make(ref.pinned)
