"""`SELECT … FROM t ORDER BY a LIMIT n`: a bound on `a` that only the rows of the answer meet, and few others.
The column of the order is read first. Its n-th value in the order is the bound: most blocks have no row that meets
it, and their other columns are never read. DuckDB orders what is left all the same."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from headwater.lake.engine.arrays import numbers_of
from headwater.lake.engine.predicates import Compare
from headwater.model.types import DATE, NUMBERS, TIMESTAMP
from headwater.query.names import TableRef
from headwater.query.parse import Node

MOST = 10_000  # rows of an answer
_ORDERED = (*NUMBERS, DATE, TIMESTAMP)
_PARTS = {"expressions", "from_", "order", "limit", "offset"}
_OF_TABLES = {"this", "db", "alias"}
_PLAIN = (
    *(exp.Column, exp.Identifier, exp.Alias, exp.Star, exp.Literal, exp.Neg, exp.Paren),
    *(exp.Add, exp.Sub, exp.Mul),
)


@dataclass(frozen=True, slots=True)
class Top:
    """The first rows of a table in the order of a column."""

    column: str
    count: int
    descending: bool
    nulls_first: bool

    def bound(self, column: pa.ChunkedArray) -> Compare | None:
        """Return a predicate that these rows meet; None if one comparison cannot say it."""
        if self.nulls_first and column.null_count:
            return None
        kept = self._first(column.chunks)
        if kept is None or len(kept) < self.count:
            return None
        last = (kept.min() if self.descending else kept.max()).item()
        if not isinstance(last, int) or pa.types.is_integer(column.type):  # else a time beyond Python's
            return Compare(self.column, ">=" if self.descending else "<=", last)
        return None

    def _first(self, chunks: Iterable[pa.Array]) -> npt.NDArray[Any] | None:
        """So many values that come first, in any order; None if there is a NaN, which DuckDB has above all."""
        kept: npt.NDArray[Any] | None = None
        for chunk in chunks:
            values = numbers_of(chunk)
            if values.dtype.kind == "f" and np.isnan(values).any():
                return None
            if kept is not None and len(kept) == self.count:
                values = values[values > kept.min() if self.descending else values < kept.max()]
            if len(values):
                kept = self._cut(values if kept is None else np.concatenate((kept, values)))
        return kept

    def _cut(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if len(values) <= self.count:
            return values
        at = len(values) - self.count if self.descending else self.count - 1
        parted: npt.NDArray[Any] = np.partition(values, at)
        return parted[at:] if self.descending else parted[: self.count]


def asked_top(ref: TableRef) -> Top | None:
    """The first rows that a query takes of a table, if it takes no others."""
    select = ref.node.parent.parent if isinstance(ref.node.parent, exp.From) else None
    if not isinstance(select, exp.Select) or not {part for part, value in select.args.items() if value} <= _PARTS:
        return None
    if not {part for part, value in ref.node.args.items() if value} <= _OF_TABLES or ref.renames_columns:
        return None
    count = _count(select)
    order = select.args.get("order")
    first = order.expressions[0] if order is not None else None
    # each row of the table becomes one row of the answer
    is_plain = all(isinstance(node, _PLAIN) for each in select.expressions for node in each.walk())
    if count is None or not isinstance(first, exp.Ordered) or not is_plain:
        return None
    name = _column(first.this, ref, select)
    if name is None:
        return None
    return Top(name, count, bool(first.args.get("desc")), bool(first.args.get("nulls_first")))


def _count(select: Node) -> int | None:
    """The number of rows up to the last that is taken."""
    total = 0
    for part in ("limit", "offset"):
        clause = select.args.get(part)
        if clause is None and part == "offset":
            continue
        number = clause.expression if clause is not None else None
        if not isinstance(number, exp.Literal) or not number.is_int or clause.args.get("limit_options"):
            return None
        total += int(number.this)
    return total if 0 < total <= MOST else None


def _column(node: Node, ref: TableRef, select: Node) -> str | None:
    """The column of a table that an order is by; None if it may be a name from the list of columns."""
    if not isinstance(node, exp.Column) or node.table.casefold() not in ("", ref.alias.casefold()):
        return None
    folded = node.name.casefold()
    if any(isinstance(each, exp.Alias) and each.alias.casefold() == folded for each in select.expressions):
        return None
    fields = [field for field in ref.pinned.schema.fields if field.name.casefold() == folded]
    return fields[0].name if len(fields) == 1 and fields[0].type in _ORDERED else None
