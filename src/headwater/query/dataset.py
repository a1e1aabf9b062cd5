"""A table as DuckDB scans it.

DuckDB asks an Arrow dataset for a scanner with the columns it needs and the filter it has pushed down. Ours is a
dataset in name: the scanner it gives comes from a scan of the lake that reads those columns and no others, of the
files that the query's own conditions leave.

A small table that is read whole is handed over as it is kept in memory instead: then DuckDB filters, which costs half
of what a filter in an Arrow scanner does, and knows how many rows there are when it orders joins.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from headwater.lake.engine.predicates import Predicate
from headwater.lake.tables.plan import ScanPlan, plan_scan
from headwater.lake.tables.read import read_plan, result_schema
from headwater.query.columns import ColumnCache
from headwater.query.names import Pinned


@dataclass
class Reading:
    """What DuckDB has asked of one table, for EXPLAIN ANALYZE."""

    columns: list[tuple[str, ...]] = field(default_factory=list)
    plans: list[ScanPlan] = field(default_factory=list)
    rows: int = 0


class LakeDataset(ds.Dataset):  # type: ignore[misc]
    """One reference to a table in a query."""

    def __init__(self, pinned: Pinned, where: Sequence[Predicate], cache: ColumnCache) -> None:
        self.pinned = pinned
        self.where = tuple(where)
        self.reading = Reading()
        self._cache = cache
        self._schema = result_schema(pinned.state.shape, pinned.schema.names)

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    def plan(self, columns: Sequence[str] | None = None) -> ScanPlan:
        """What a scan of some columns reads."""
        return plan_scan(self.pinned.table.store, self.pinned.state, columns, self.where)

    def source(self) -> "LakeDataset | pa.Table":
        """What DuckDB is to read: the table in memory if it is kept whole, else this dataset."""
        whole = self._cache.whole(self.pinned) if self.is_kept else None
        return self if whole is None else whole

    @property
    def is_kept(self) -> bool:
        """Whether the table is read whole, whatever columns are asked for, and stays in memory."""
        return self._cache.keeps(self.pinned) and self.plan().is_whole

    def scanner(self, columns: Sequence[str] | None = None, filter: Any = None, **options: Any) -> ds.Scanner:
        """The rows that the filter keeps, in the columns that are wanted."""
        names = list(self._schema.names if columns is None else columns)
        needed = list(dict.fromkeys([*names, *_mentioned(filter, self._schema.names)]))
        plan = self.plan(needed)
        self.reading.columns.append(tuple(needed))
        self.reading.plans.append(plan)
        if plan.is_whole:
            whole = self._cache.table(self.pinned, needed)
            if whole is not None:
                return ds.dataset(whole).scanner(columns=names, filter=filter, **options)
        schema = result_schema(self.pinned.state.shape, needed)
        return ds.Scanner.from_batches(self._batches(plan), schema=schema, columns=names, filter=filter, **options)

    def _batches(self, plan: ScanPlan) -> Iterator[pa.RecordBatch]:
        for batch in read_plan(self.pinned.table.store, plan, self.pinned.state, past=self.pinned.is_past):
            self.reading.rows += batch.num_rows
            yield batch


def _mentioned(filter: Any, names: Sequence[str]) -> list[str]:
    """The columns a filter looks at. Its text is all that Arrow shows of it; a name that occurs counts."""
    if filter is None:
        return []
    text = str(filter)
    return [name for name in names if name in text]
