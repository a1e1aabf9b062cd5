"""A table as DuckDB scans it.

DuckDB asks an Arrow dataset for a scanner with the columns it needs and the filter it has pushed down. Ours is a
dataset in name: the scanner it gives comes from a scan of the lake that reads those columns and no others, of the
files that the query's own conditions leave.

A small table that is read whole is handed over as it is kept in memory instead: then DuckDB filters, which costs half
of what a filter in an Arrow scanner does, and knows how many rows there are when it orders joins. Files that DuckDB
can read as well as we can are left to it (`handed.py`).
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from headwater.errors import HeadwaterError
from headwater.lake.engine.opened import Readers
from headwater.lake.engine.predicates import Predicate
from headwater.lake.tables.plan import ScanPlan, plan_scan
from headwater.lake.tables.read import read_plan, result_schema
from headwater.query.columns import ColumnCache
from headwater.query.handed import ParquetView, hand_over
from headwater.query.names import Pinned

_AHEAD = 2  # batches that are read before DuckDB asks for them


@dataclass
class Reading:
    """What DuckDB has asked of one table, for EXPLAIN ANALYZE."""

    columns: list[tuple[str, ...]] = field(default_factory=list)
    plans: list[ScanPlan] = field(default_factory=list)
    rows: int = 0
    failure: HeadwaterError | None = None  # DuckDB tells only its text


class LakeDataset(ds.Dataset):  # type: ignore[misc]
    """One reference to a table in a query."""

    def __init__(
        self,
        pinned: Pinned,
        where: Sequence[Predicate],
        cache: ColumnCache,
        readers: Readers | None = None,
        *,
        first_rows: bool = False,
    ) -> None:
        """DuckDB may read files itself when there are `readers` to check them; `first_rows` are all it will take."""
        self.pinned = pinned
        self.where = tuple(where)
        self.reading = Reading()
        self._cache = cache
        self._readers = readers
        self._first_rows = first_rows
        self._schema = result_schema(pinned.state.shape, pinned.schema.names)

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    def plan(self, columns: Sequence[str] | None = None) -> ScanPlan:
        """What a scan of some columns reads."""
        return plan_scan(self.pinned.table.store, self.pinned.state, columns, self.where)

    def source(self, mentioned: Collection[str] | None) -> "LakeDataset | ParquetView | pa.Table":
        """What DuckDB is to read: the table in memory if it is kept whole, its files if they need no merge, or this.

        `mentioned` has the names in the query, folded; None stands for all columns.
        """
        if self._first_rows:
            return self
        if self.is_kept and (whole := self._cache.whole(self.pinned)) is not None:
            return whole
        return self.view(mentioned) or self

    def view(self, mentioned: Collection[str] | None) -> ParquetView | None:
        """The files of the table, where DuckDB reads them itself."""
        if self._readers is None or self._first_rows:
            return None
        return hand_over(self.pinned, self.plan(), mentioned, self._readers)

    @property
    def is_kept(self) -> bool:
        """Whether the table is read whole, whatever columns are asked for, and stays in memory."""
        return not self._first_rows and self._cache.keeps(self.pinned) and self.plan().is_whole

    def scanner(self, columns: Sequence[str] | None = None, filter: Any = None, **options: Any) -> ds.Scanner:
        """The rows that the filter keeps, in the columns that are wanted."""
        names = list(self._schema.names if columns is None else columns)
        needed = list(dict.fromkeys([*names, *_mentioned(filter, self._schema.names)]))
        plan = self.plan(needed)
        self.reading.columns.append(tuple(needed))
        self.reading.plans.append(plan)
        if plan.is_whole and not self._first_rows:
            with self._noting_failure():
                whole = self._cache.table(self.pinned, needed)
            if whole is not None:
                return ds.dataset(whole).scanner(columns=names, filter=filter, **options)
        schema = result_schema(self.pinned.state.shape, needed)
        ahead = {"batch_readahead": _AHEAD, "fragment_readahead": 1} | options
        return ds.Scanner.from_batches(self._batches(plan), schema=schema, columns=names, filter=filter, **ahead)

    def _batches(self, plan: ScanPlan) -> Iterator[pa.RecordBatch]:
        with self._noting_failure():
            for batch in read_plan(self.pinned.table.store, plan, self.pinned.state, past=self.pinned.is_past):
                self.reading.rows += batch.num_rows
                yield batch

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        try:
            yield
        except HeadwaterError as err:
            self.reading.failure = err
            raise


def _mentioned(filter: Any, names: Sequence[str]) -> list[str]:
    """The columns a filter looks at. Its text is all that Arrow shows of it; a name that occurs counts."""
    if filter is None:
        return []
    text = str(filter)
    return [name for name in names if name in text]
