"""Finds the files that predicates rule out by the statistics of their columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from headwater.lake.engine.predicates import Compare, In, IsNull, Predicate, StartsWith
from headwater.lake.engine.stats import ColumnStats, comparable
from headwater.lake.engine.version import DataFile
from headwater.model.schema import Field, Schema
from headwater.model.types import NUMBERS

Statistic = tuple[str, Predicate]
"""The name of a column in the statistics of some files, and a predicate on it whose values are as statistics are."""


def on_statistics(where: Sequence[Predicate], schema: Schema, old: Mapping[int, Field]) -> list[Statistic]:
    """The predicates that statistics of files can decide that were written with these fields, by id. A column that
    came later is decided by its default, and one of another type by its values: the filter will do it."""
    decidable: list[Statistic] = []
    for predicate in where:
        field = schema.field(predicate.column)
        before = old.get(field.id)
        if before is not None and (before.type == field.type or {before.type, field.type}.issubset(NUMBERS)):
            decidable.append((before.name, _plain(predicate, field)))
    return decidable


def file_matches(file: DataFile, where: list[Statistic]) -> bool:
    """Whether, by its statistics, a file can hold a row that satisfies every predicate."""
    return stats_match(file.stats, file.rows, where)


def stats_match(known: Mapping[str, ColumnStats], rows: int, where: list[Statistic]) -> bool:
    """Return whether, by the statistics of their columns, one of so many rows can satisfy every predicate."""
    for name, predicate in where:
        stats = known.get(name)
        if stats is not None and _ruled_out(stats, predicate, rows):
            return False
    return True


def _plain(predicate: Predicate, field: Field) -> Predicate:
    match predicate:
        case Compare(column, op, value):
            return Compare(column, op, comparable(value, field.type))
        case In(column, values):
            return In(column, tuple(comparable(value, field.type) for value in values))
    return predicate


def _ruled_out(stats: ColumnStats, predicate: Predicate, rows: int) -> bool:
    if isinstance(predicate, IsNull):
        return stats.nulls == rows if predicate.negated else stats.nulls == 0
    if stats.nulls == rows:
        return True  # and a comparison holds for no null
    low, high = stats.min, stats.max
    if low is None and high is None:
        return False
    try:
        match predicate:
            case Compare(_, op, value):
                return _compare_ruled_out(low, high, op, value)
            case In(_, values):
                return all(_compare_ruled_out(low, high, "=", value) for value in values)
            case StartsWith(_, prefix):
                after = low is not None and low[: len(prefix)] > prefix
                return after or (high is not None and high < prefix)
    except TypeError:
        return False  # bounds and value do not compare


def _compare_ruled_out(low: Any, high: Any, op: str, value: Any) -> bool:
    if value is None:
        return False
    below, above = low is not None and value < low, high is not None and value > high
    match op:
        case "=":
            return below or above
        case "<":
            return low is not None and value <= low
        case "<=":
            return below
        case ">":
            return high is not None and value >= high
        case ">=":
            return above
    return False
