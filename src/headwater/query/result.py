"""The result of a statement: rows, or word of what was done."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import pyarrow as pa

from headwater.fit import align, value_text
from headwater.query.cells import interval_text, python_rows, python_values, shown_values

_SHOWN = 40  # rows of a result that is only looked at
_TEXTS = (["plan"], ["create_table"], ["create_view"])  # columns of text that is shown as it is


@dataclass(frozen=True, slots=True)
class ScanCost:
    """The cost of one scan of a table. Rows are stored rows: versions of one key count each."""

    table: str
    snapshot: int
    files: int
    total_files: int
    rows: int
    total_rows: int
    bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a query as an Arrow table; a statement that changes something says so in `message`.

    `rows` counts the rows of a query, and the rows that a change wrote or removed.
    """

    table: pa.Table
    rows: int
    message: str | None = None
    snapshot_id: int | None = None  # that the statement has made
    scans: tuple[ScanCost, ...] = ()  # of a query that is explained
    read: tuple[str, ...] = ()  # the states of tables that the statement saw, as `database.table@snapshot`

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.table.column_names)

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self.table

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame. REQUIRES: pandas."""
        return self.table.to_pandas()

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows as tuples. Dates and times that Python does not have come as text."""
        return python_rows(self.table)

    def dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        return [dict(zip(self.columns, row)) for row in self.fetchall()]

    def scalar(self) -> Any:
        """The first value of the first row, None if there is no row."""
        if not self.table.num_rows or not self.table.num_columns:
            return None
        return python_values(self.table.column(0).slice(0, 1))[0]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchall())

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def head(self, count: int) -> list[tuple[Any, ...]]:
        """The first rows as tuples."""
        return python_rows(self.table.slice(0, count))

    def looked_at(self, count: int) -> list[tuple[Any, ...]]:
        """The first rows as people read them: intervals as text, and numbers of single precision with its digits."""
        columns = [map(_shown, shown_values(column.slice(0, count))) for column in self.table.columns]
        return list(zip(*columns))

    @property
    def is_text(self) -> bool:
        """Return whether the rows are lines of one text, such as a plan."""
        return self.columns in _TEXTS

    def __str__(self) -> str:
        if not self.table.num_columns:
            return self.message or ""
        if self.is_text:
            return "\n".join(self.table.column(0).to_pylist())
        more = self.table.num_rows - _SHOWN
        return align(self.columns, self.looked_at(_SHOWN)) + (f"\n… {more:,} more rows" if more > 0 else "")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        if not self.table.num_columns:
            return f"<p>{escape(self.message or '')}</p>"
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = self.looked_at(_SHOWN)
        body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows)
        more = self.table.num_rows - _SHOWN
        note = f"<p>… {more:,} more rows</p>" if more > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def done(message: str, *, rows: int = 0, snapshot_id: int | None = None) -> Result:
    """The result of a statement that has no rows to show."""
    return Result(pa.table({}), rows, message, snapshot_id)


def listing(columns: dict[str, list[Any]], types: dict[str, pa.DataType] | None = None) -> Result:
    """A result made of lists, with text columns unless told otherwise."""
    known = types or {}
    arrays = {name: pa.array(values, known.get(name, pa.string())) for name, values in columns.items()}
    table = pa.table(arrays)
    return Result(table, table.num_rows)


def _shown(value: object) -> object:
    return interval_text(*value) if isinstance(value, pa.MonthDayNano) else value


def _cell(value: object) -> str:
    return "<i>null</i>" if value is None else escape(value_text(value))
