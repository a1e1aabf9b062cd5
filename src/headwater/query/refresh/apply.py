"""A refreshed table is committed: rows that are gone are removed, rows that came are added, in one snapshot."""

from dataclasses import replace
from typing import Any

import pyarrow as pa

from headwater.errors import SchemaError
from headwater.lake.metadata.snapshot import Operation, Origin, Snapshot
from headwater.lazy import arrow_compute as pc
from headwater.query.dataset import LakeTable
from headwater.query.names import Pinned, TableRef
from headwater.query.parse import quoted
from headwater.query.select import StatementExecution
from headwater.query.target import open_target, put_back, row_column
from headwater.query.types import duckdb_type
from headwater.text import Span


def typed(run: StatementExecution, pinned: Pinned, rows: pa.Table) -> pa.Table:
    """Rows of a query in the columns and types of a table, by position.
    RAISES: SchemaError when the query gives another number of columns, by a `*` over a table that was altered."""
    fields = pinned.schema.fields
    if len(rows.column_names) != len(fields):
        raise SchemaError(
            f"the query of {pinned.name} gives {len(rows.column_names)} columns, the table has {len(fields)}",
            hint="a table that it reads has other columns now: CREATE OR REPLACE MATERIALIZED VIEW",
        )
    names = [f"c{at}" for at in range(len(fields))]
    casts = [
        f"CAST({name} AS {duckdb_type(field.type)}) AS {quoted(field.name)}" for name, field in zip(names, fields)
    ]
    return run.generated(f"SELECT {', '.join(casts)} FROM rows", {"rows": rows.rename_columns(names)})


def net(run: StatementExecution, gone: Any, came: Any) -> tuple[pa.Table, pa.Table]:
    """Two multisets of rows without what is in both."""
    tables = {"gone": gone, "came": came}
    return (
        run.generated("SELECT * FROM gone EXCEPT ALL SELECT * FROM came", tables),
        run.generated("SELECT * FROM came EXCEPT ALL SELECT * FROM gone", tables),
    )


def lake_rows(run: StatementExecution, pinned: Pinned) -> LakeTable:
    """All rows of a table, for DuckDB."""
    return LakeTable(pinned, (), run.cache, run.engine.readers)


def commit_change(
    run: StatementExecution, pinned: Pinned, gone: pa.Table, came: pa.Table, origin: Origin
) -> Snapshot:
    """Remove rows of a table and add others, if nobody has changed it since. REQUIRES: `gone` are rows of it.
    RAISES: CommitConflictError when somebody has, SchemaError when two rows would have one key."""
    ref = TableRef(run.statement.tree.this, Span(0, 0, 1, 1), pinned)
    keys = list(pinned.schema.primary_keys)
    if keys:
        refuse_repeated(pinned, came)
        listed = ", ".join(map(quoted, keys))
        text = f"SELECT {listed} FROM gone EXCEPT SELECT {listed} FROM came"
        target = open_target(run, ref)
        deletes = run.generated(text, {"gone": gone, "came": came})
        deletes = deletes.rename_columns([target.old + name for name in keys])
        stays = pa.repeat(False, came.num_rows)
        return put_back(target, came, deletes, Operation.MERGE, origin, fresh=stays, alone=True)
    if not gone.num_rows:
        nothing = pinned.table.arrow_schema.empty_table()
        target = open_target(run, ref)
        none = pa.table({row_column(pinned): pa.array([], pa.int64())})
        return put_back(_appending(target), came, none, Operation.MERGE, origin, fresh=nothing, alone=True)
    target = open_target(run, ref)
    row = row_column(pinned)
    names = list(pinned.schema.names)
    listed = ", ".join(map(quoted, names))
    count = f"row_number() OVER (PARTITION BY {listed}) AS copy"
    text = (
        f"SELECT r.{quoted(row)} FROM (SELECT *, {count} FROM rows) AS r JOIN (SELECT *, {count} FROM gone) AS g ON "
        + " AND ".join(f"r.{quoted(name)} IS NOT DISTINCT FROM g.{quoted(name)}" for name in (*names, "copy"))
    )
    found = run.generated(text, {"rows": target.rows, "gone": gone})
    if found.num_rows != gone.num_rows:
        raise SchemaError(f"{gone.num_rows - found.num_rows} rows that should be in {pinned.name} are not there")
    return put_back(target, came, found, Operation.MERGE, origin, fresh=pa.array([], pa.bool_()), alone=True)


def _appending(target: Any) -> Any:
    """A target of which no file is written anew."""
    assert target.plan is not None
    assert target.rows is not None
    return replace(target, rows=target.rows.slice(0, 0), plan=replace(target.plan, splits=()))


def refuse_repeated(pinned: Pinned, rows: pa.Table) -> None:
    """RAISES: SchemaError when two rows have one primary key."""
    keys = list(pinned.schema.primary_keys)
    if not keys or not rows.num_rows:
        return
    counted = rows.select(keys).group_by(keys).aggregate([([], "count_all")])
    repeated = counted.filter(pc.greater(counted.column("count_all"), 1))
    if repeated.num_rows:
        first = repeated.sort_by([(name, "ascending") for name in keys]).slice(0, 1).to_pylist()[0]
        shown = ", ".join(f"{name} = {first[name]}" for name in keys)
        raise SchemaError(
            f"the query of {pinned.name} gives two rows with the key {shown}",
            hint="declare the key by which its rows differ, or none",
        )
