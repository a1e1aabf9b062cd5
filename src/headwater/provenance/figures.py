"""Figures of tables, as they are and as they would be: a chain of recipes run again on another state of an input."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.errors import UsageError
from headwater.files import MemoryFiles
from headwater.lake.metadata.snapshot import InputVersion, Snapshot
from headwater.lake.tables import Table, Warehouse
from headwater.provenance.changed_rows import RowChange, undone
from headwater.provenance.commits import Commit, pinned_input
from headwater.provenance.matching import scratch
from headwater.provenance.replay import replay_rows
from headwater.query.names import Pinned


@dataclass(frozen=True, slots=True)
class Figure:
    """An expression over the rows of a table for which a condition holds."""

    expression: str
    where: str | None = None

    def of_rows(self, rows: pa.Table) -> Any:
        """The value over some rows. RAISES: UsageError when it is not one value over the columns of the table."""
        text = f"SELECT {self.expression} FROM t" + (f" WHERE {self.where}" if self.where else "")
        with scratch() as run:
            run.register("t", rows)
            try:
                found = run.sql(text).fetchall()
            except Exception as err:
                raise UsageError(f"`{text}` cannot be computed: {str(err).splitlines()[0]}") from err
        if len(found) != 1 or len(found[0]) != 1:
            raise UsageError(f"`{self.expression}` is not one value", hint="an aggregate, such as sum(revenue)")
        return found[0][0]

    def of_table(self, table: Table, id: int) -> Any:
        """The value over a table at a snapshot."""
        return self.of_rows(_by_names_of_now(table, table.to_arrow(at=id), table.snapshot(id)))


@dataclass(frozen=True, slots=True)
class Chain:
    """The recipes between a figure and a table below it: what the figure is when that table has other rows."""

    figure: Figure
    steps: tuple[tuple[Warehouse, Commit, str], ...] = ()  # from the figure's table down; the input to replace

    def through(self, warehouse: Warehouse, commit: Commit, dataset: str) -> "Chain":
        """The chain one recipe longer: down to an input of a commit."""
        return Chain(self.figure, (*self.steps, (warehouse, commit, dataset)))

    def at(self, id: int) -> Any:
        """The figure with the lowest table of the chain at one of its snapshots, 0 for none."""
        warehouse, commit, dataset = self.steps[-1]
        read = next(each for each in commit.origin.inputs if each.dataset == dataset)
        version = InputVersion(dataset=dataset, snapshot_id=id, table_uuid=read.table_uuid)
        return self.with_state(pinned_input(warehouse, version, commit.snapshot.timestamp))

    def with_state(self, state: Pinned) -> Any:
        """The figure with another state of the lowest table."""
        rows = None
        for warehouse, commit, dataset in reversed(self.steps):
            rows = replay_rows(warehouse, commit, {dataset: state})
            state = pinned_rows(commit.table, rows)
        assert rows is not None
        top = self.steps[0][1]
        return self.figure.of_rows(_by_names_of_now(top.table, rows, top.snapshot))

    def without_change(self, commit: Commit, change: RowChange) -> Any:
        """The figure if a commit had not changed one row."""
        rows = undone(commit, change)
        if self.steps:
            return self.with_state(pinned_rows(commit.table, rows))
        return self.figure.of_rows(_by_names_of_now(commit.table, rows, commit.snapshot))


def _by_names_of_now(table: Table, rows: pa.Table, snapshot: Snapshot | None) -> pa.Table:
    """Rows of a state of a table, their columns by the names that they have now, in which the figure is asked."""
    if snapshot is None:
        return rows
    current = {each.id: each.name for each in table.schema.fields}
    ids = {each.name: each.id for each in table.store.shape(snapshot.schema_id).schema.fields}
    taken = {current[id] for id in ids.values() if id in current}
    kept = [name for name in rows.column_names if ids[name] in current or name not in taken]
    return rows.select(kept).rename_columns([current.get(ids[name], name) for name in kept])


def pinned_rows(table: Table, rows: pa.Table) -> Pinned:
    """Rows as a state of a table, in memory."""
    home = Warehouse(MemoryFiles())
    home.create_database(table.name.database, if_not_exists=True)
    schema = next(each for each in reversed(table.schemas()) if set(rows.column_names) <= set(each.names))
    made = home.create_table(table.name, schema)
    made.write(rows)
    return Pinned(made, made.store.latest())


def is_same(one: Any, two: Any) -> bool:
    """Return whether two figures are the same, numbers up to the last digits."""
    if isinstance(one, int | float) and isinstance(two, int | float):
        return abs(one - two) <= 1e-9 * max(abs(one), abs(two), 1e-3)
    return bool(one == two)


def difference(before: Any, after: Any) -> Any:
    """The amount by which a figure moved; None for what is no number. Nothing counts as 0."""
    try:
        return (after or 0) - (before or 0)
    except TypeError:
        return None
