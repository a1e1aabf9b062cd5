"""Commits and the states that they read, found again; each that cannot be is named, with what would have kept it."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from headwater.errors import CannotTellError, NotFoundError, UsageError
from headwater.events.titles import job_owner
from headwater.lake.metadata.snapshot import InputVersion, Operation, Origin, Recipe, Snapshot
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.names import TableIdentifier, parse_name
from headwater.lake.tables.time_travel import At
from headwater.model.schema import Schema
from headwater.query.names import Pinned

Versions = Mapping[str, int | Pinned]
"""Datasets to snapshots, or states, that are read in place of those that a recipe is pinned to."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a table."""

    table: Table
    snapshot: Snapshot

    def __str__(self) -> str:
        return f"{self.table.name}@{self.snapshot.snapshot_id}"

    @property
    def origin(self) -> Origin:
        return self.snapshot.origin or Origin()

    @property
    def base(self) -> int | None:
        """The snapshot that this commit changed, None for the first of a table."""
        return self.snapshot.snapshot_id - 1 or None

    @property
    def recipe(self) -> Recipe:
        """The recipe. RAISES: CannotTellError when there is none that can be run again."""
        recipe, origin = self.origin.recipe, self.origin
        if recipe is None:
            by = f"by {job_owner(origin.job)}, which" if origin.job else f"by {self.snapshot.commit_user}, who"
            raise CannotTellError(f"{self} was written {by} kept no recipe")
        if recipe.reason is not None:
            raise CannotTellError(f"{self} cannot be made again: {recipe.reason}")
        return recipe

    @property
    def schema(self) -> Schema:
        """The schema that the table had when it was written."""
        return self.table.store.shape(self.snapshot.schema_id).schema

    @property
    def text(self) -> str:
        """The statement of the recipe."""
        return self.recipe.sql or self.origin.sql or ""


def find_commit(warehouse: Warehouse, name: str | TableIdentifier, at: At | None = None) -> Commit:
    """The commit that made the rows of a table what they are at a moment; those that only moved files are passed.
    RAISES: NotFoundError for a table or a moment that is not there, CannotTellError for an expired commit."""
    table = warehouse.table(name)
    snapshot = table.snapshot(at)
    if snapshot is None:
        raise NotFoundError(f"{name} has no snapshot yet")
    while snapshot.operation is Operation.COMPACT:
        before = snapshot.snapshot_id - 1
        try:
            snapshot = table.store.committer.log.get(before)
        except NotFoundError as err:
            raise CannotTellError(f"{table.name}@{before}, which was compacted since, has expired") from err
    return Commit(table, snapshot)


def rows_before(commit: Commit) -> pa.Table:
    """The rows that a commit changed, by the names that it has for their columns.
    RAISES: NotFoundError when they have expired."""
    table, shape = commit.table, commit.table.store.shape
    before = table.snapshot(commit.base)
    assert before is not None
    latest = {field.id: field.name for field in commit.schema.fields}
    names = {each.name: latest[each.id] for each in shape(before.schema_id).schema.fields if each.id in latest}
    rows = table.to_arrow(at=before.snapshot_id)
    return rows.select(list(names)).rename_columns(list(names.values()))


def pinned_input(warehouse: Warehouse, read: InputVersion, seen: int, versions: Versions | None = None) -> Pinned:
    """The state of a table that a commit read, by the schema that it had `seen` milliseconds after 1970.
    RAISES: CannotTellError naming the state that is gone, and why."""
    dataset = read.dataset.partition("$")[0]
    id = (versions or {}).get(dataset, read.snapshot_id)
    if isinstance(id, Pinned):
        return id
    table = table_read(warehouse, read)
    if id is None:
        raise CannotTellError(f"the state of {dataset} that was read is not known")
    if id < 1:  # it was empty
        return Pinned(table, table.store.state(None, table.store.shape(_schema_at(table, seen, 0))), is_past=True)
    try:
        snapshot = table.snapshot(id)
    except NotFoundError as err:
        hint = f"a tag would have kept it: `headwater lake tag {dataset} NAME --as-of {id}`"
        raise CannotTellError(f"{dataset}@{id} was read, and has expired", hint=hint) from err
    assert snapshot is not None
    shape = table.store.shape(_schema_at(table, seen, snapshot.schema_id))
    return Pinned(table, table.store.state(snapshot, shape), is_past=True)


def table_read(warehouse: Warehouse, read: InputVersion) -> Table:
    """The table that a commit read, whatever its name is by now. RAISES: CannotTellError when it is gone."""
    dataset = read.dataset.partition("$")[0]
    try:
        table = warehouse.table(parse_name(dataset))
    except UsageError as err:
        raise CannotTellError(f"{dataset} was read, and is not a table of this warehouse") from err
    except NotFoundError as err:
        renamed = _with_uuid(warehouse, read.table_uuid) if read.table_uuid else None
        if renamed is None:
            raise CannotTellError(f"{dataset} was read, and has been dropped since") from err
        return renamed
    if read.table_uuid not in (None, table.store.table_uuid):
        renamed = _with_uuid(warehouse, read.table_uuid)
        if renamed is None:
            raise CannotTellError(f"{dataset} was read, and another table has its name since")
        return renamed
    return table


def _with_uuid(warehouse: Warehouse, uuid: str | None) -> Table | None:
    """A table that has another name than it had, None when it is gone."""
    names = (
        f"{database}.{name}" for database in warehouse.list_databases() for name in warehouse.list_tables(database)
    )
    return next((table for name in names if (table := warehouse.table(name)).store.table_uuid == uuid), None)


def _schema_at(table: Table, seen: int, least: int) -> int:
    """The schema that the reader of a commit saw: the newest before its time, not older than that of the rows.
    A schema of the same millisecond came after the commit: reading and writing rows takes longer than that."""
    known = [schema.id for schema in table.schemas() if schema.time_millis < seen]
    return max([*known, least])
