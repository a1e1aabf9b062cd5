"""Aggregates that a task computes over what it reads: it hands Spark one row, which Spark puts together with others.

The catalog sends them as JSON: `[["count", ""], ["sum", "n"], ["min", "day"]]`; "" is the row itself.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa

from headwater.lazy import arrow_compute as pc

_FUNCTIONS: dict[str, Callable[[pa.Array], Any]] = {
    "count": lambda column: len(column) - column.null_count,
    "sum": lambda column: pc.sum(column).as_py(),
    "min": lambda column: pc.min(column).as_py(),
    "max": lambda column: pc.max(column).as_py(),
}
_TOGETHER: dict[str, Callable[[Any, Any], Any]] = {
    "count": lambda a, b: a + b,
    "sum": lambda a, b: a + b,
    "min": min,
    "max": max,
}


@dataclass(frozen=True, slots=True)
class PushedAggregate:
    """A function over a column, or over rows."""

    function: str
    column: str


def decode_aggregates(text: str | None) -> tuple[PushedAggregate, ...]:
    """The aggregates that the catalog asks for."""
    if text is None:
        return ()
    return tuple(PushedAggregate(*each) for each in msgspec.json.decode(text, type=list[tuple[str, str]]))


def columns_of(aggregates: Iterable[PushedAggregate]) -> list[str]:
    """The columns that aggregates look at, each once."""
    return list(dict.fromkeys(each.column for each in aggregates if each.column))


def aggregated(
    batches: Iterable[pa.RecordBatch], aggregates: tuple[PushedAggregate, ...], schema: pa.Schema
) -> pa.RecordBatch:
    """One row with the aggregates of all batches, null where there was no value."""
    totals: list[Any] = [0 if each.function == "count" else None for each in aggregates]
    for batch in batches:
        for at, each in enumerate(aggregates):
            value = len(batch) if not each.column else _FUNCTIONS[each.function](batch.column(each.column))
            if value is not None:
                totals[at] = value if totals[at] is None else _TOGETHER[each.function](totals[at], value)
    arrays = [pa.array([total], field.type) for total, field in zip(totals, schema)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
