"""Simple conditions on columns: which files they rule out by their statistics, and which rows they keep.

A comparison with null is never true, as in SQL.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import SchemaError
from headwater.lake.stats import ColumnStats, comparable
from headwater.lake.types import arrow_type
from headwater.lake.version import DataFile
from headwater.model.schema import Field, Schema

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "is null", "is not null"]

_COMPARE = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


@dataclass(frozen=True, slots=True)
class Predicate:
    """`column operator value`; the value of `in` is a sequence."""

    column: str
    operator: Operator
    value: Any = None


def check_predicates(predicates: Sequence[Predicate], schema: Schema) -> None:
    """RAISES: SchemaError for a column that is not there or a value its type cannot have."""
    for predicate in predicates:
        _arrow_value(predicate, schema.field(predicate.column))


def rules_out(predicates: Sequence[Predicate], file: DataFile, schema: Schema) -> bool:
    """Whether the statistics of a file show that none of its rows meets all predicates."""
    return any(
        predicate.column in file.stats
        and _excludes(predicate, file.stats[predicate.column], schema.field(predicate.column), file.rows)
        for predicate in predicates
    )


def keep_rows(batch: pa.RecordBatch, predicates: Sequence[Predicate], schema: Schema) -> pa.RecordBatch:
    """The rows that meet all predicates."""
    for predicate in predicates:
        batch = batch.filter(_mask(batch.column(predicate.column), predicate, schema.field(predicate.column)))
    return batch


def key_bounds(predicates: Sequence[Predicate], column: str) -> tuple[list[Any], list[Any]]:
    """Lower and upper bounds, both included, that the predicates set on a column."""
    lower = [p.value for p in predicates if p.column == column and p.operator in ("=", ">", ">=")]
    upper = [p.value for p in predicates if p.column == column and p.operator in ("=", "<", "<=")]
    return lower, upper


def _mask(column: pa.Array, predicate: Predicate, field: Field) -> pa.Array:
    value = _arrow_value(predicate, field)
    match predicate.operator:
        case "is null":
            return column.is_null()
        case "is not null":
            return column.is_valid()
        case "in":
            return pc.and_(pc.is_in(column, value_set=value), column.is_valid())
        case operator:
            return _COMPARE[operator](column, value)


def _arrow_value(predicate: Predicate, field: Field) -> Any:
    wanted = arrow_type(field.type)
    try:
        if predicate.operator == "in":
            return pa.array(list(predicate.value), wanted)
        return pa.scalar(predicate.value, wanted)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as err:
        raise SchemaError(f"column `{field.name}` is {field.type}, not {predicate.value!r}: {err}") from err


def _excludes(predicate: Predicate, stats: ColumnStats, field: Field, rows: int) -> bool:
    if predicate.operator == "is null":
        return stats.nulls == 0
    if stats.nulls == rows:
        return True
    low, high = stats.min, stats.max
    if predicate.operator in ("is not null", "!=") or low is None or high is None:
        return False
    given = _arrow_value(predicate, field)
    values = given.to_pylist() if predicate.operator == "in" else [given.as_py()]
    wanted = [comparable(value, field.type) for value in values if value is not None]
    if any(value is None for value in wanted):
        return False  # of a type whose statistics are not compared
    return all(_outside(predicate.operator, value, low, high) for value in wanted)


def _outside(operator: str, value: Any, low: Any, high: Any) -> bool:
    match operator:
        case "<":
            return bool(low >= value)
        case "<=":
            return bool(low > value)
        case ">":
            return bool(high <= value)
        case ">=":
            return bool(high < value)
        case _:
            return bool(value < low or value > high)
