"""Rows of one table that are rows of another: by a key or by all columns; floating numbers up to the last digits."""

import datetime
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from headwater.query.parse import quoted

_FEW = 50  # rows whose values stand in the text, where DuckDB can use them to read less


def scratch() -> Any:
    """A DuckDB for small work of ours, with no tables in it; close it, or use it with `with`."""
    return _shared().cursor()


@cache
def _shared() -> Any:
    return duckdb.connect()


def condition_of(wanted: pa.Table, names: tuple[str, ...]) -> str:
    """A condition that the rows `o` of a query meet which are among the rows of `#wanted`."""
    on = _same(wanted, names, "w", "o")
    exact = f'EXISTS (SELECT 1 FROM "#wanted" AS w WHERE {on})'
    if not 0 < wanted.num_rows <= _FEW:
        return exact
    parts = [part for name in names if (part := _one_of(wanted, name)) is not None]
    return " AND ".join([*parts, exact])


def _one_of(wanted: pa.Table, name: str) -> str | None:
    """The values of a column as a condition; None for a type whose texts may not give the value back."""
    values = list(dict.fromkeys(map(_literal, wanted.column(name).to_pylist())))
    if None in values:
        return None
    if len(values) == 1:
        return f"o.{quoted(name)} = {values[0]}"
    return f"o.{quoted(name)} IN ({', '.join(map(str, values))})"


def _literal(value: Any) -> str | None:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return f"DATE '{value}'"
    return None


def without(rows: pa.Table, others: pa.Table, names: tuple[str, ...]) -> pa.Table:
    """The rows that are not among others, by some columns."""
    return _joined(rows, others, names, "ANTI")


def matched_by(rows: pa.Table, others: pa.Table, names: tuple[str, ...]) -> pa.Table:
    """The rows that are among others, by some columns."""
    return _joined(rows, others, names, "SEMI")


def _joined(rows: pa.Table, others: pa.Table, names: tuple[str, ...], kind: str) -> pa.Table:
    if not rows.num_rows or not names:
        return rows if kind == "ANTI" else rows.slice(0, 0)
    with scratch() as run:
        run.register("a", rows)
        run.register("b", others.select(list(names)))
        text = f"SELECT a.* FROM a {kind} JOIN b ON {_same(rows, names, 'a', 'b')}"
        return run.sql(text).to_arrow_table().cast(rows.schema)


def _same(table: pa.Table, names: tuple[str, ...], one: str, two: str) -> str:
    parts = []
    for name in names:
        left, right = f"{one}.{quoted(name)}", f"{two}.{quoted(name)}"
        same = f"{left} IS NOT DISTINCT FROM {right}"
        if pa.types.is_floating(table.schema.field(name).type):
            same = f"({same} OR abs({left} - {right}) <= 1e-9 * greatest(abs({left}), abs({right})))"
        parts.append(same)
    return " AND ".join(parts)
