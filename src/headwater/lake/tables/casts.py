"""The effect of a change of type on existing rows."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.errors import SchemaChangeError
from headwater.lake.engine.types import arrow_type
from headwater.lake.metadata.schema_change import WidenColumn, is_widening
from headwater.lake.tables.plan import plan_scan
from headwater.lake.tables.read import read_plan
from headwater.lake.tables.state import TableState
from headwater.lake.tables.store import TableStore
from headwater.lazy import arrow_compute as pc
from headwater.model.types import DATE, DataType

_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class CastReport:
    """The number of rows that a cast would break, and some of their values."""

    column: str
    old: DataType
    new: DataType
    rows: int
    broken: int
    examples: tuple[Any, ...]


def try_cast(store: TableStore, state: TableState, column: str, type: DataType) -> CastReport:
    """Count the rows whose value would not survive a change of type; nothing is changed. A value survives if it can
    be cast and cast back to what it was. RAISES: SchemaError naming a column that is not there."""
    with store.naming():
        field = state.shape.schema.field(column)
        wanted = arrow_type(type)
    rows = broken = 0
    examples: list[Any] = []
    for batch in read_plan(store, plan_scan(store, state, [column]), state):
        values = batch.column(0)
        rows += len(values)
        lost = values.filter(_lost(values, wanted))
        broken += len(lost)
        examples += _shown(lost.slice(0, _EXAMPLES - len(examples)))
    return CastReport(column, field.type, type, rows, broken, tuple(examples))


def refuse_lossy(store: TableStore, change: WidenColumn) -> None:
    """RAISES: SchemaChangeError when a change of type would break rows that are there."""
    field = store.shape().schema.field(change.name)
    widens = field.type == change.type or is_widening(field.type, change.type)
    if widens and field.type != DATE:
        return
    report = try_cast(store, store.latest(), change.name, change.type)
    if widens and not report.broken:  # a DATE reaches further than a TIMESTAMP
        return
    shown = ", ".join(map(repr, report.examples))
    raise SchemaChangeError(
        f"`{change.name}` cannot become {change.type}: not every {field.type} fits; "
        f"{report.broken:,} of {report.rows:,} rows would break" + (f" ({shown})" if shown else ""),
        hint="add a column of the new type and fill it, where a cast that fails can be seen",
    )


def _shown(values: pa.Array) -> list[Any]:
    """Values as Python has them, or as text where it has none."""
    try:
        found: list[Any] = values.to_pylist()
    except (OverflowError, ValueError):
        found = values.cast(pa.string()).to_pylist()
    return found


def _lost(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """For each value, whether a cast would fail or change it."""
    try:
        back = pc.cast(pc.cast(values, wanted), values.type)
        return pc.fill_null(pc.not_equal(back, values), False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        if len(values) <= 1:
            return pa.array([len(values) == 1 and values[0].is_valid] * len(values), pa.bool_())
        half = len(values) // 2
        return pa.concat_arrays([_lost(values.slice(0, half), wanted), _lost(values.slice(half), wanted)])
