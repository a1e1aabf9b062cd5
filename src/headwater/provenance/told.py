"""The answer of `why` for programs, and the condition that names a row by its values."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from headwater.provenance.why import Hop
from headwater.query.parse import quoted


def row_condition(values: Mapping[str, str | None]) -> str:
    """The condition for columns that have some values, which are written as texts; None is NULL.

    >>> print(row_condition({"id": "7", "note": None}))
    "id" = '7' AND "note" IS NULL
    """
    texts = ((quoted(name), None if value is None else value.replace("'", "''")) for name, value in values.items())
    return " AND ".join(f"{name} IS NULL" if value is None else f"{name} = '{value}'" for name, value in texts)


def hop_json(hop: Hop, show: Callable[[pa.Table], Any]) -> dict[str, Any]:
    """A hop as JSON; `show` gives the form of rows."""
    inputs = [
        {
            "dataset": each.dataset,
            "snapshot": each.snapshot_id,
            "count": each.rows.num_rows,
            "rows": show(each.rows),
        }
        for each in hop.inputs
    ]
    return {
        "dataset": hop.dataset,
        "snapshot": hop.snapshot_id,
        "operation": hop.operation,
        "job": hop.job,
        "run": hop.run,
        "time": hop.time,
        "sql": hop.sql,
        "count": hop.rows.num_rows,
        "rows": show(hop.rows),
        "inputs": inputs,
        "absent": list(hop.absent),
        "files": [{"path": each.path, "lines": each.lines} for each in hop.lines],
        "verified": hop.verified,
        "loaded": hop.is_loaded,
        "reason": hop.reason,
    }
