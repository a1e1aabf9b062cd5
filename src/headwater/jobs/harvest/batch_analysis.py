"""Units analysed together, as a batch of rows: what a Spark task gives back, or a step in this process."""

from collections.abc import Iterable

import pyarrow as pa

from headwater.graph.facts import Row
from headwater.graph.store import arrow_schema
from headwater.jobs.harvest.unit_analysis import FACTS, HarvestSetting, Task, analyse_rows, failed_row

OUTCOMES = pa.schema(
    [
        pa.field("index", pa.int64()),
        pa.field("sight", pa.binary()),
        pa.field("effects", pa.binary()),
        pa.field("count", pa.int32()),
        pa.field("findings", pa.int32()),
        *(pa.field(spec.name, pa.list_(pa.struct(list(arrow_schema(spec))))) for spec in FACTS),
    ]
)
"""What a batch of units comes back as: one row a unit, its rows for the graph as lists."""


def analyse_tasks(tasks: Iterable[Task], setting: HarvestSetting) -> pa.RecordBatch:
    """Analyse units as `analyse_rows` does; one whose rows do not fit has failed, too."""
    tasks = list(tasks)
    rows = analyse_rows(tasks, setting)
    try:
        return pa.RecordBatch.from_pylist(rows, OUTCOMES)
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):  # one of the rows does not fit
        rows = [_fitting(task, row, setting) for task, row in zip(tasks, rows)]
        return pa.RecordBatch.from_pylist(rows, OUTCOMES)


def _fitting(task: Task, row: Row, setting: HarvestSetting) -> Row:
    """A row as it is, or, when the columns of a batch cannot hold it, that its unit has failed."""
    try:
        pa.RecordBatch.from_pylist([row], OUTCOMES)
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError) as err:
        return failed_row(task, setting, err)
    return row
