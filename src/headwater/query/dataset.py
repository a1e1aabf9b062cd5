"""A table as DuckDB scans it.

DuckDB asks an Arrow table how many rows it has when it orders joins, selects the columns it needs, and reads them as
a stream. Ours is an Arrow table in name: the stream comes from the session's memory, or from a scan of the lake that
reads those columns and no others, of the rows that the query's own conditions leave. Files that DuckDB can read as
well as we can are left to it (`handed.py`). No filter goes through Arrow, which costs twice what DuckDB's own does.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

import pyarrow as pa

from headwater.errors import HeadwaterError
from headwater.lake.engine.data_files import Readers
from headwater.lake.engine.predicates import Predicate
from headwater.lake.tables.plan import ScanPlan, plan_scan
from headwater.lake.tables.read import read_plan, result_schema
from headwater.query.columns import ColumnCache
from headwater.query.handed import ParquetView, hand_over
from headwater.query.names import Pinned
from headwater.query.top import Top


@dataclass
class DatasetReads:
    """The columns and rows that DuckDB asked of one table, for EXPLAIN ANALYZE."""

    columns: list[tuple[str, ...]] = field(default_factory=list)
    plans: list[ScanPlan] = field(default_factory=list)
    rows: int = 0
    failure: HeadwaterError | None = None  # DuckDB tells only its text


class LakeTable(pa.Table):  # type: ignore[misc]
    """One reference to a table in a query. Of an Arrow table it has what DuckDB asks for and nothing else: anything
    else would read memory that is not there."""

    def __init__(
        self,
        pinned: Pinned,
        where: Sequence[Predicate],
        cache: ColumnCache,
        readers: Readers | None = None,
        *,
        first_rows: bool = False,
        top: Top | None = None,
    ) -> None:
        """DuckDB may read files itself when there are `readers` to check them.
        It will take no more than the `first_rows` that come, or those in the order of `top`."""
        self.pinned = pinned
        self.where = tuple(where)
        self.reading = DatasetReads()
        self._cache = cache
        self._readers = readers
        self._first_rows = first_rows
        self._top = top
        self._schema = result_schema(pinned.state.shape, pinned.schema.names)

    def plan(self, columns: Sequence[str] | None = None) -> ScanPlan:
        """Return what a scan of some columns reads."""
        return plan_scan(self.pinned.table.store, self.pinned.state, columns, self.where)

    def view(self, mentioned: Collection[str] | None) -> ParquetView | None:
        """The files of the table, where DuckDB reads them itself: those that need no merge.
        `mentioned` has the names in the query, folded; None stands for all columns."""
        if self._readers is None or self._first_rows:
            return None
        return hand_over(self.pinned, self._whole_plan, mentioned, self._readers)

    def keeps(self, columns: Sequence[str] | None) -> bool:
        """Return whether columns that are read stay in the memory of the session, as far as can be said before."""
        names = self._schema.names if columns is None else columns
        return not self._first_rows and self._whole_plan.is_whole and self._cache.may_keep(self.pinned, names)

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    def __len__(self) -> int:
        """The rows of the files that are read; there may be fewer of them in the table."""
        return self._whole_plan.rows

    def select(self, columns: Sequence[int]) -> pa.RecordBatchReader:
        """Some columns, by their positions."""
        return self.scanned([self._schema.names[at] for at in columns])

    def __arrow_c_schema__(self) -> Any:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.scanned(self._schema.names).__arrow_c_stream__(requested_schema)

    def scanned(self, names: Sequence[str]) -> pa.RecordBatchReader:
        """The rows that the query's conditions leave, or more of them, in some columns."""
        self.reading.columns.append(tuple(names))
        plan = self.plan(names)
        self.reading.plans.append(plan)
        schema = result_schema(self.pinned.state.shape, names)
        return pa.RecordBatchReader.from_batches(schema, self._noted(self._batches(plan)))

    def _batches(self, plan: ScanPlan) -> Iterator[pa.RecordBatch]:
        if plan.is_whole and not self._first_rows:
            column = self._cache.column(self.pinned, self._top.column) if self._top is not None else None
            # a condition that all rows meet which are taken
            bound = None if self._top is None or column is None else self._top.bound(column)
            if bound is not None:
                plan = plan_scan(self.pinned.table.store, self.pinned.state, plan.columns, (*self.where, bound))
            kept = self._cache.batches(self.pinned, plan.columns) if bound is None else None
            if kept is not None:
                yield from kept
                return
        yield from read_plan(self.pinned.table.store, plan, self.pinned.state, past=self.pinned.is_past)

    def _noted(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches, counted; what fails in them is kept."""
        try:
            for batch in batches:
                self.reading.rows += batch.num_rows
                yield batch
        except HeadwaterError as err:
            self.reading.failure = err
            raise

    @cached_property
    def _whole_plan(self) -> ScanPlan:
        return self.plan()

    def __getattribute__(self, name: str) -> Any:
        if name in _NOT_THERE:
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    def __repr__(self) -> str:
        return f"LakeTable({self.pinned.name})"

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __getitem__(self, key: object) -> NoReturn:
        raise TypeError("a LakeTable is for DuckDB alone")

    def __sizeof__(self) -> int:
        return object.__sizeof__(self)


_NOT_THERE = frozenset(dir(pa.Table)) - frozenset(dir(object)) - frozenset(vars(LakeTable))
