"""From the values of one column in groups of rows to one value per group, all groups at once."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headwater.lake.engine.types import from_unscaled

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows in groups: group i is the rows from `starts[i]` up to the next start."""

    starts: Positions
    rows: int

    @property
    def ids(self) -> pa.Array:
        lengths = np.diff(np.append(self.starts, self.rows))
        return pa.array(np.repeat(np.arange(len(self.starts)), lengths))


def aggregate(function: str, column: pa.Array, groups: Groups) -> pa.Array:
    """One value per group. REQUIRES: `function` is one of AGGREGATES."""
    if len(groups.starts) == groups.rows:
        return column  # one row per group: nothing to do
    chosen = _CHOSEN.get(function)
    if chosen is not None:
        return column.take(chosen(column, groups))
    return _COMPUTED[function](column, groups)


def _first(column: pa.Array, groups: Groups) -> pa.Array:
    return pa.array(groups.starts)


def _last(column: pa.Array, groups: Groups) -> pa.Array:
    return pa.array(np.append(groups.starts[1:], groups.rows) - 1)


def _first_non_null(column: pa.Array, groups: Groups) -> pa.Array:
    at = np.where(_valid(column), np.arange(groups.rows), groups.rows)
    found = np.minimum.reduceat(at, groups.starts)
    return pa.array(found, mask=found == groups.rows)


def _last_non_null(column: pa.Array, groups: Groups) -> pa.Array:
    at = np.where(_valid(column), np.arange(groups.rows), -1)
    found = np.maximum.reduceat(at, groups.starts)
    return pa.array(found, mask=found < 0)


def _valid(column: pa.Array) -> npt.NDArray[np.bool_]:
    return column.is_valid().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _grouped(column: pa.Array, groups: Groups, function: str, options: pc.FunctionOptions | None = None) -> pa.Array:
    table = pa.table({"group": groups.ids, "value": column})
    result = table.group_by("group", use_threads=False).aggregate([("value", function, options)])
    return result.column(f"value_{function}").combine_chunks()


def _reduced(function: str) -> Callable[[pa.Array, Groups], pa.Array]:
    def compute(column: pa.Array, groups: Groups) -> pa.Array:
        skip = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)
        wide = column.cast(pa.decimal128(38, column.type.scale)) if pa.types.is_decimal(column.type) else column
        return _narrowed(_grouped(wide, groups, function, skip), column.type)

    return compute


def _narrowed(values: pa.Array, type: pa.DataType) -> pa.Array:
    """Back to the column's type. Integers wrap as machine integers do; a decimal out of range becomes null."""
    if values.type == type:
        return values
    if pa.types.is_decimal(type):
        largest = from_unscaled(10**type.precision - 1, type.scale)
        fits = pc.less_equal(pc.abs(values), pa.scalar(largest, values.type))
        values = pc.if_else(fits, values, pa.scalar(None, values.type))
    return values.cast(type, safe=False)


def _listagg(column: pa.Array, groups: Groups) -> pa.Array:
    texts = column.cast(pa.string())
    lists = _grouped(texts, groups, "list")
    kept = [[text for text in texts if text is not None] for texts in lists.to_pylist()]
    return pa.array([",".join(texts) if texts else None for texts in kept], pa.string())


def _collect(column: pa.Array, groups: Groups) -> pa.Array:
    """Arrays of a group joined into one."""
    lists = _grouped_lists(column, groups)
    return pa.array(lists, column.type)


def _grouped_lists(column: pa.Array, groups: Groups) -> list[list[object] | None]:
    stops = np.append(groups.starts[1:], groups.rows)
    values = column.to_pylist()
    result: list[list[object] | None] = []
    for start, stop in zip(groups.starts, stops):
        present = [value for value in values[start:stop] if value is not None]
        result.append([item for value in present for item in value] if present else None)
    return result


_CHOSEN: dict[str, Callable[[pa.Array, Groups], pa.Array]] = {
    "first": _first,
    "last": _last,
    "first_non_null": _first_non_null,
    "last_non_null": _last_non_null,
}
_COMPUTED: dict[str, Callable[[pa.Array, Groups], pa.Array]] = {
    "sum": _reduced("sum"),
    "product": _reduced("product"),
    "min": _reduced("min"),
    "max": _reduced("max"),
    "bool_or": _reduced("any"),
    "bool_and": _reduced("all"),
    "listagg": _listagg,
    "collect": _collect,
}
AGGREGATES = (*_CHOSEN, *_COMPUTED)
