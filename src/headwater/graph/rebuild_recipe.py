"""Tables that a statement of Spark made whole, made anew on Spark: the statement runs on the states of now.

DuckDB does not run such a statement, because rounding, dates and averages may come out in another way there. So it
runs in full, unless no row of its inputs has changed.
"""

import time
import uuid
from collections.abc import Callable, Mapping

import msgspec
import pyarrow as pa

from headwater.errors import CannotTellError, NotFoundError
from headwater.graph.versions import has_table
from headwater.lake.metadata.snapshot import Origin, RefreshRecord
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.names import parse_name
from headwater.model.schema import Schema
from headwater.provenance.commits import Commit, pinned_input
from headwater.query.names import Pinned
from headwater.query.refresh.changes import is_upkeep_only
from headwater.query.refresh.definition import TableDefinition
from headwater.query.refresh.refresh import Refresh, Way
from headwater.text import counted

RowsNow = Callable[[Warehouse, Commit, Mapping[str, int]], pa.Table]
"""Runs the recipe of a commit on other states of its inputs. RAISES: CannotTellError when that cannot be."""
ON_SPARK = "Spark made it, and only Spark is sure to give the same rows: its statement runs there, in full"


def plan_recipe(warehouse: Warehouse, definition: TableDefinition, *, full: bool = False) -> Refresh:
    """The way in which a table that Spark made is brought up to date: nothing, or in full."""
    reasons = ["a full run was asked for"] if full else _changed(warehouse, definition)
    if not reasons:
        return Refresh(str(definition.table.name), Way.NOTHING)
    return Refresh(str(definition.table.name), Way.FULL, [*reasons, ON_SPARK])


def _changed(warehouse: Warehouse, definition: TableDefinition) -> list[str]:
    """Why the rows of a table may differ from what its statement gives now, by the first input that has changed."""
    made, tables = definition.made, tables_read(warehouse, definition)
    recipe = made.origin.recipe if made is not None and made.origin is not None else None
    if made is None or recipe is None or recipe.files:
        return ["it reads files, and changes of files are not kept"]
    for name, read in definition.inputs.items():
        table = tables.get(name)
        if table is None:
            return [f"{name} is not a table of this warehouse, and changes of it are not kept"]
        if read.table_uuid not in (None, table.store.table_uuid):
            return [f"{name} was replaced by another table"]
        try:
            reason = _input_changed(table, pinned_input(warehouse, read, made.timestamp))
        except CannotTellError as err:
            reason = err.message
        if reason is not None:
            return [reason]
    return []


def _input_changed(table: Table, before: Pinned) -> str | None:
    """The difference of an input from the state that was read, in words; None when there is none."""
    if _columns(before.schema) != _columns(table.schema):
        return f"the columns of {table.name} have changed"
    start, latest = max(0, before.state.snapshot_id), table.snapshot()
    end = latest.snapshot_id if latest is not None else 0
    if end < start:
        return f"{table.name} was rolled back behind {table.name}@{start}"
    try:
        if is_upkeep_only(table, start, end):
            return None
        found = table.count_changes(start, end, columns=table.schema.names)
    except NotFoundError:
        return f"{table.name}@{start}, which it was made from, has expired"
    return f"{table.name} {start}→{end}: {counted(found.rows, 'row')} changed" if found.rows else None


def _columns(schema: Schema) -> list[tuple[object, ...]]:
    return [(field.id, field.name, field.type) for field in schema.fields]


def tables_read(warehouse: Warehouse, definition: TableDefinition) -> dict[str, Table]:
    """The inputs of a table that are tables of the warehouse now."""
    return {name: warehouse.table(parse_name(name)) for name in definition.inputs if has_table(warehouse, name)}


def run_recipe(
    warehouse: Warehouse, definition: TableDefinition, rows_now: RowsNow | None, *, full: bool = False
) -> Refresh:
    """Bring a table that Spark made up to date, in one commit that keeps the statement and names the states read.
    RAISES: CannotTellError without a Spark, or when the statement does not run there on the states of now."""
    begun = time.perf_counter()
    plan = plan_recipe(warehouse, definition, full=full)
    if plan.way is Way.NOTHING:
        return plan
    if rows_now is None:
        raise CannotTellError(ON_SPARK, hint="headwater rebuild … --master 'local[*]'")
    table, made = definition.table, definition.made
    assert made is not None
    assert made.origin is not None
    tables = tables_read(warehouse, definition)
    states = {name: _latest(each) for name, each in tables.items()}
    rows = rows_now(warehouse, Commit(table, made), states)
    plan.gone, plan.came = table.count(), rows.num_rows
    seconds = round(time.perf_counter() - begun, 3)
    plan.snapshot_id = table.overwrite(rows, origin=_origin(made.origin, tables, states, seconds)).snapshot_id
    return plan


def _latest(table: Table) -> int:
    snapshot = table.snapshot()
    return snapshot.snapshot_id if snapshot is not None else -1


def _origin(made: Origin, tables: Mapping[str, Table], states: Mapping[str, int], seconds: float) -> Origin:
    """The origin of the commit that made a table, with the states that are read now."""
    inputs = tuple(
        msgspec.structs.replace(
            each, snapshot_id=states[each.dataset], table_uuid=tables[each.dataset].store.table_uuid
        )
        if each.moment is None and each.dataset in states
        else each
        for each in made.inputs
    )
    record = RefreshRecord(way=Way.FULL.value, seconds=seconds)
    return msgspec.structs.replace(made, run_id=str(uuid.uuid4()), inputs=inputs, refresh=record)
