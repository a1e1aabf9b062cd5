"""`SELECT count(*) FROM t`, answered from the manifests: alone, or with conditions on partitions."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from headwater.lake.engine.arrays import number_array
from headwater.lake.engine.predicates import Predicate
from headwater.lake.tables.count import count_rows, decides_by_partition, plan_count
from headwater.lake.tables.plan import ScanPlan
from headwater.query.names import Pinned
from headwater.query.parse import Node
from headwater.query.pushdown import exact_predicates
from headwater.query.select import StatementExecution

_PARTS = {"expressions", "from_", "where"}
_OF_TABLES = {"this", "db", "alias"}
_UNNAMED = "count_star()"  # DuckDB's name for it


@dataclass(frozen=True, slots=True)
class Count:
    """A count of all rows of some partitions of a table."""

    pinned: Pinned
    where: tuple[Predicate, ...]
    name: str

    def rows(self) -> pa.Table:
        """The one row of the result."""
        pinned = self.pinned
        count = count_rows(pinned.table.store, pinned.state, self.where, past=pinned.is_past)
        return pa.Table.from_arrays([number_array(np.array([count]))], names=[self.name])

    def plan(self) -> ScanPlan:
        """The scan of the files that the manifests do not count."""
        return plan_count(self.pinned.table.store, self.pinned.state, self.where).rest

    def explained(self) -> list[str]:
        """Return the lines that EXPLAIN shows of it."""
        plan = self.plan()
        return [
            f"count {self.pinned.name} @ snapshot {plan.snapshot_id}",
            f"  filters {' AND '.join(map(str, self.where)) or 'none'}",
            f"  files   {plan.files} of {plan.total_files} (the others are counted by the manifests)",
            f"  bytes   {plan.bytes:,} of {plan.total_bytes:,}",
        ]


def find_count(run: StatementExecution) -> Count | None:
    """The count that a statement asks for, if that is all it asks for.
    RAISES: NotFoundError at the name of a table that is not there."""
    select = run.statement.tree
    if not isinstance(select, exp.Select) or not {part for part, value in select.args.items() if value} <= _PARTS:
        return None
    name = _name(select.expressions)
    table = select.args["from_"].this if select.args.get("from_") is not None else None
    if name is None or not isinstance(table, exp.Table) or not {p for p, v in table.args.items() if v} <= _OF_TABLES:
        return None
    refs = run.names.refs(select)
    if len(refs) != 1 or refs[0].node is not table or refs[0].system is not None:
        return None
    where = exact_predicates(refs[0], run.engine.constant)
    pinned = refs[0].pinned
    return Count(pinned, where, name) if where is not None and decides_by_partition(where, pinned.state) else None


def _name(expressions: list[Node]) -> str | None:
    """The name of the only column, if it is count(*)."""
    (first, *more) = expressions or [None]
    counts = first.this if isinstance(first, exp.Alias) else first
    if (
        more
        or not isinstance(counts, exp.Count)
        or counts.expressions
        or not isinstance(counts.this, exp.Star | None)
    ):
        return None
    return str(first.alias) if isinstance(first, exp.Alias) else _UNNAMED
