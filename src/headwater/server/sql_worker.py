"""A process that answers SQL for the server, one query after the other, with a limit on its memory.

DuckDB's own limit does not count the vectors of lists and texts that an expression makes (`range(3000000000)`), and
some functions do not heed an interruption. So the system holds the limit, on this process alone, and whoever asks
ends the process when it takes too long. It is started as a module, with the number of an open socket and the bytes
that it may take:

    python -m headwater.server.sql_worker 7 1610612736

It says `READY` when it is; then a question is `Question` as MessagePack, an answer `SqlAnswer`. It ends when the
other side closes the socket.
"""

import resource
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from headwater.errors import EngineError, HeadwaterError, MemoryLimitError
from headwater.events.titles import job_title
from headwater.lake.tables import Warehouse
from headwater.provenance.told import hop_json, row_condition
from headwater.provenance.why import why_rows
from headwater.query import connect
from headwater.query.cells import interval_text, python_rows
from headwater.query.result import ScanCost
from headwater.query.sandbox import ReadLimits
from headwater.text import Span

READY = b"ready"
_EXACT = 1 << 53  # integers beyond are rounded by JavaScript
_LARGEST = 16 << 20  # bytes of the rows of one answer
_SHOWN = 50  # rows of one table behind a row
_LONGEST = 2_000  # characters of one cell


class RowAsked(msgspec.Struct, frozen=True):
    """A row of a table, by the values of columns: which rows is it made of?"""

    table: str
    values: dict[str, str | None]
    at: str | None = None
    column: str | None = None


class Question(msgspec.Struct, frozen=True):
    """A query, or a row to explain, and how much answering may take."""

    warehouse: str
    database: str
    sql: str
    bounds: ReadLimits
    explain: bool = False
    row: RowAsked | None = None
    at: str | None = None  # the moment at which tables are seen that are named without one
    page: tuple[int, int] | None = None  # rows to pass over, and rows to tell


class Failure(msgspec.Struct, frozen=True):
    """An error, by what is told of it."""

    code: str
    message: str
    hint: str | None = None
    span: Span | None = None


class Rows(msgspec.Struct, frozen=True):
    """Rows as lists, in the order of the columns; numbers that JavaScript would round come as text. `scans` says
    what a query that is explained would read, `read` the states of the tables that were seen."""

    columns: list[str]
    types: list[str]
    rows: list[list[Any]]
    cut: bool
    message: str | None = None
    scans: tuple[ScanCost, ...] = ()
    read: tuple[str, ...] = ()


class InputBehind(msgspec.Struct, frozen=True):
    """The rows of one state of a table that rows are made of, the first of them."""

    dataset: str
    snapshot: int
    count: int
    rows: Rows


class FileLines(msgspec.Struct, frozen=True):
    """Lines of a CSV file, counted from 1."""

    path: str
    lines: tuple[int, ...]


class HopBehind(msgspec.Struct, frozen=True):
    """A commit that made rows, the rows that it made them of, and what was not there and decided. `verified`: its
    query over these rows alone gives the rows; null when only one column was asked for. `reason`: why no more can be
    told."""

    dataset: str
    snapshot: int
    operation: str
    job: str | None
    title: str | None
    run: str | None
    time: int
    sql: str | None
    count: int
    rows: Rows
    inputs: list[InputBehind]
    absent: list[str]
    files: list[FileLines]
    verified: bool | None
    loaded: bool
    reason: str | None


class RowsBehind(msgspec.Struct, frozen=True):
    """The commits that made a row, newest first, and the primary keys of all tables that are named."""

    hops: list[HopBehind]
    keys: dict[str, tuple[str, ...]]


class SqlAnswer(msgspec.Struct, frozen=True):
    """The rows of a query as JSON, or why there are none."""

    rows: bytes = b""
    failure: Failure | None = None


def answer(question: Question) -> SqlAnswer:
    """Carry out a question."""
    bounds = question.bounds
    try:
        if question.row is not None:
            return SqlAnswer(msgspec.json.encode(_rows_behind(Warehouse(question.warehouse), question.row, bounds)))
        warehouse = Warehouse(question.warehouse)
        with connect(warehouse, database=question.database, bounds=bounds, at=question.at) as session:
            result = session.explain(question.sql) if question.explain else session.sql(question.sql)
        found = _told(result.table, question, result.message)
        return SqlAnswer(msgspec.json.encode(msgspec.structs.replace(found, scans=result.scans, read=result.read)))
    except HeadwaterError as err:
        return SqlAnswer(failure=Failure(err.code, err.message, err.hint, err.span))
    except (MemoryError, pa.ArrowMemoryError):
        return SqlAnswer(failure=Failure(MemoryLimitError.code, "the query needs more memory than it may have"))
    except Exception as err:  # the server waits for an answer, whatever happened
        return SqlAnswer(failure=Failure(EngineError.code, f"{type(err).__name__}: {err}"))


def _told(table: pa.Table, question: Question, message: str | None) -> Rows:
    """The rows of a result, or the page of them that is asked for."""
    if question.page is None:
        return rows_of(table, question.bounds.rows, message=message)
    offset, limit = question.page
    return rows_of(table.slice(offset, limit), limit, message=message, more=table.num_rows > offset + limit)


def _rows_behind(warehouse: Warehouse, asked: RowAsked, bounds: ReadLimits) -> RowsBehind:
    where = row_condition(asked.values)
    hops = why_rows(warehouse, asked.table, asked.at, where=where, column=asked.column, deep=False, bounds=bounds)
    names = {hop.dataset for hop in hops} | {each.dataset for hop in hops for each in hop.inputs}
    keys = {name: tuple(warehouse.table(name).schema.primary_keys) for name in sorted(names)}
    told = [hop_json(hop, _first_rows) | {"title": job_title(hop.job, hop.dataset)} for hop in hops]
    return msgspec.convert({"hops": told, "keys": keys}, RowsBehind)


def _first_rows(rows: pa.Table) -> Rows:
    return rows_of(rows.slice(0, _SHOWN), _SHOWN, more=rows.num_rows > _SHOWN)


def rows_of(table: pa.Table, limit: int, *, message: str | None = None, more: bool | None = None) -> Rows:
    """The rows of a table as JSON can say them, as many as one answer holds.
    `more` says whether there are others; without it, a table of `limit` rows may be a part."""
    cells: list[list[Any]] = []
    size = 0
    for row in python_rows(table):
        cells.append([_cell(value) for value in row])
        size += len(msgspec.json.encode(cells[-1]))
        if size > _LARGEST:
            more = True
            break
    cut = table.num_rows >= limit if more is None else more
    return Rows(table.column_names, list(map(str, table.schema.types)), cells, cut, message)


def _cell(value: Any) -> Any:
    """A value as JSON can say it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -_EXACT <= value <= _EXACT else str(value)
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, bytes):
        return value[:64].hex() + ("…" if len(value) > 64 else "")
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[:_LONGEST] + "…"
    return _cell(interval_text(*value) if isinstance(value, pa.MonthDayNano) else str(value))


def main(socket: int, memory: int) -> None:
    """Answer until the other side closes the socket."""
    link = Connection(socket)
    # let this process take so many bytes more than it has now. Systems that do not count them set no limit.
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        used = next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData:"))
        resource.setrlimit(resource.RLIMIT_DATA, (used + memory, resource.RLIM_INFINITY))
    with suppress(EOFError, ConnectionError):
        link.send_bytes(READY)
        while True:
            question = msgspec.msgpack.decode(link.recv_bytes(), type=Question)
            link.send_bytes(msgspec.msgpack.encode(answer(question)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
