"""DuckDB, embedded: runs queries over datasets, and says what is wrong in our own words and places."""

import datetime
import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from threading import RLock, Timer, current_thread, main_thread
from typing import Any

import duckdb
import pyarrow as pa

from headwater.errors import EngineError, HeadwaterError, MemoryLimitError, SqlError, TimeLimitError
from headwater.lake.engine.data_files import Readers
from headwater.query.edits import Edited
from headwater.query.handed import MOST_OPEN, ParquetView
from headwater.query.parse import DIALECT, Node, SqlStatement, quoted
from headwater.query.sandbox import ReadLimits
from headwater.text import Span, suggest

_EXPLAIN = "EXPLAIN "
_DESCRIBE = "DESCRIBE "
_SETTINGS = {
    "errors_as_json": "true",
    "TimeZone": "UTC",
    "parquet_metadata_cache": "true",
    # It makes `avg` another division where a query has a `sum` beside it: one question would have two answers.
    "disabled_optimizers": "aggregate_function_rewriter",
}
_PROGRESS = "enable_progress_bar"  # on stdout, which is for data


class DuckDBEngine:
    """One DuckDB in memory. It holds no tables: those of a query are registered while it runs. Views over files stay,
    since making one costs more than a small query; SQL cannot name them but through a table."""

    def __init__(self, bounds: ReadLimits | None = None) -> None:
        self._bounds = bounds
        self._connection = duckdb.connect(":memory:")
        settings = _SETTINGS | (bounds.settings if bounds is not None else {})
        if self._connection.execute(f"SELECT current_setting('{_PROGRESS}')").fetchall()[0][0]:
            settings = {_PROGRESS: "false"} | settings  # where it is off, a notebook may refuse to be told so
        for name, value in settings.items():
            self._connection.execute(f"SET {name} = '{value}'").fetchall()
        self._lock = RLock()
        self._runner = ThreadPoolExecutor(1, "headwater-query")
        self._views: dict[str, str] = {}
        self.readers = Readers(MOST_OPEN) if bounds is None else None  # of files that DuckDB reads itself

    def close(self) -> None:
        self._runner.shutdown()
        self._connection.close()

    def rows(
        self,
        query: Edited,
        tables: Mapping[str, Any],
        statement: SqlStatement,
        parameters: Any = None,
        *,
        shown: bool = False,
    ) -> pa.Table:
        """Run a query over some tables. For rows that are `shown`, values that Arrow does not have come as text.
        RAISES: SqlError at the place in the user's text."""
        with self._lock:
            try:
                for name, table in tables.items():
                    self._name(name, table)
                return self._bounded(query.text, parameters, shown=shown)
            except duckdb.Error as err:
                raise _suggesting(self._told(err, query, statement), tables) from err
            finally:
                for name, table in tables.items():
                    if not isinstance(table, ParquetView):
                        self._connection.unregister(name)

    def _name(self, name: str, table: Any) -> None:
        """Let SQL see a table by a name."""
        if not isinstance(table, ParquetView):
            if self._views.pop(name, None) is not None:
                self._connection.execute(f"DROP VIEW {quoted(name)}").fetchall()
            self._connection.register(name, table)
        elif self._views.get(name) != table.text:
            self._connection.execute(f"CREATE OR REPLACE TEMP VIEW {quoted(name)} AS {table.text}").fetchall()
            self._views[name] = table.text

    def _bounded(self, text: str, parameters: Any, *, shown: bool) -> pa.Table:
        """Run a query, not longer and for not more rows than the bounds say. RAISES: TimeLimitError."""
        relation: Any = self._connection.sql(text, params=parameters)
        if relation is None:
            return pa.table({})
        if shown:
            relation = _as_text(relation)
        if self._bounds is None:
            return self._interruptible(relation)
        alarm = Timer(self._bounds.seconds, self._connection.interrupt)
        alarm.daemon = True
        alarm.start()
        try:
            return relation.limit(self._bounds.rows).to_arrow_table()
        except duckdb.InterruptException as err:
            raise TimeLimitError(f"the query took longer than {self._bounds.seconds:g} seconds") from err
        finally:
            alarm.cancel()

    def _interruptible(self, relation: Any) -> pa.Table:
        """The rows of a relation. DuckDB looks for no signals, so the main thread has another one run it: then Ctrl-C
        stops the query."""
        if current_thread() is not main_thread():
            return relation.to_arrow_table()
        running = self._runner.submit(relation.to_arrow_table)
        try:
            return running.result()
        except KeyboardInterrupt:
            self._connection.interrupt()
            wait([running])
            raise

    def _told(self, err: duckdb.Error, query: Edited, statement: SqlStatement) -> HeadwaterError:
        """An error as one of ours; one without a place is provoked again by asking for the plan."""
        if _facts(err):
            return _wrapped(err, query, statement)
        try:
            self._connection.execute(_EXPLAIN + query.text).fetchall()
        except duckdb.Error as again:
            moved = Edited(_EXPLAIN + query.text, query.begin - len(_EXPLAIN), query.edits)
            return _wrapped(again, moved, statement)
        return _wrapped(err, query, statement)

    def columns(
        self, query: Edited, tables: Mapping[str, Any], statement: SqlStatement, parameters: Any = None
    ) -> list[tuple[str, str]]:
        """The columns of a query and their types, without running it."""
        text = Edited(_DESCRIBE + query.text, query.begin - len(_DESCRIBE), query.edits)
        described = self.rows(text, tables, statement, parameters)
        return list(zip(described.column("column_name").to_pylist(), described.column("column_type").to_pylist()))

    def constant(self, node: Node) -> Any:
        """The value of a constant expression, None when it has none, or none that Python can show."""
        text = node.sql(dialect=DIALECT)
        with self._lock:
            try:
                found = self._connection.execute(f"SELECT {text}, CAST({text} AS VARCHAR)").fetchall()
            except (duckdb.Error, OverflowError, ValueError):
                return None
        value, shown = found[0] if found else (None, None)
        is_infinite = isinstance(value, datetime.date) and "infinity" in shown  # comes as the last day of Python
        return None if is_infinite else value


_UNKNOWN_TO_ARROW = re.compile(r"\b(UHUGEINT|BIGNUM|BIT|GEOMETRY|VARIANT|TIME WITH TIME ZONE)\b")


def _as_text(relation: Any) -> Any:
    """The relation with columns as text whose types Arrow would give another meaning, or hand over as bytes."""
    unknown = [bool(_UNKNOWN_TO_ARROW.search(str(type))) for type in relation.types]
    if not any(unknown):
        return relation
    names = [quoted(name) for name in relation.columns]
    columns = (f"#{at}::VARCHAR" if text else f"#{at}" for at, text in enumerate(unknown, 1))
    return relation.project(", ".join(f"{column} AS {name}" for column, name in zip(columns, names)))


def _wrapped(err: duckdb.Error, query: Edited, statement: SqlStatement) -> HeadwaterError:
    """An error of DuckDB as one of ours."""
    facts = _facts(err)
    message = facts.get("exception_message") or str(err)
    inner = err.__cause__ or err.__context__
    if isinstance(inner, HeadwaterError):
        return inner
    is_short = isinstance(err, duckdb.OutOfMemoryException) or isinstance(inner, MemoryError)
    if is_short or facts.get("exception_type") == "Out of Memory":
        return MemoryLimitError(
            "the query needs more memory than it may have", span=statement.span, source=statement.source
        )
    if facts.get("exception_type") in ("Internal", "Fatal", "IO", "Interrupt"):
        return EngineError(f"DuckDB: {message}", span=statement.span, source=statement.source)
    headline, _, rest = message.partition("\n")
    kind, name = facts.get("error_subtype"), facts.get("name")
    span = _place(facts, query, statement)
    candidates = [each.strip() for each in (facts.get("candidates") or "").split(",") if each.strip()]
    if kind == "COLUMN_NOT_FOUND":
        hint = f"did you mean `{candidates[0]}`?" if candidates else rest.strip() or None
        return SqlError(f"`{name}` is not a column here", hint=hint, span=span, source=statement.source)
    if kind == "MISSING_ENTRY":
        what = (facts.get("type") or "thing").lower()
        hint = f"did you mean `{candidates[0]}`?" if candidates else None
        return SqlError(f"there is no {what} `{name}`", hint=hint, span=span, source=statement.source)
    hint = " ".join(rest.split()) or None
    return SqlError(headline.rstrip(".!"), hint=hint, span=span, source=statement.source)


_COLUMN = re.compile(r'"([^"]+)" does not have a column named "([^"]+)"')


def _suggesting(err: HeadwaterError, tables: Mapping[str, Any]) -> HeadwaterError:
    """The same error with a hint, where DuckDB says that a column is not there and no more."""
    match = _COLUMN.search(err.message)
    if match is None or err.hint is not None:
        return err
    known = dict.fromkeys(name for table in tables.values() for name in table.schema.names)
    hint = suggest(match[2], known, f"columns: {', '.join(known)}")
    return SqlError(f"`{match[2]}` is not a column of `{match[1]}`", hint=hint, span=err.span, source=err.source)


def _facts(err: duckdb.Error) -> dict[str, str]:
    text = str(err)
    begin = text.find("{")
    try:
        facts = json.loads(text[begin:]) if begin >= 0 else {}
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _place(facts: dict[str, str], query: Edited, statement: SqlStatement) -> Span:
    try:
        start, length = json.loads(facts["location"])
    except (KeyError, ValueError, TypeError):
        if not str(facts.get("position", "")).isdigit():
            return statement.span
        start, length = int(facts["position"]), 1
    prefix = len(query.text.encode()[:start].decode(errors="ignore"))  # DuckDB counts bytes
    begin, end = query.original(prefix), query.original(prefix + max(1, length))
    if not statement.span.start <= begin < statement.span.end:
        return statement.span
    return statement.source.span(begin, max(end, begin + 1))
