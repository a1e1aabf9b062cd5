"""A session: one warehouse, a current database, and SQL on it."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from sqlglot import exp

from headwater.errors import CommitConflictError, HeadwaterError, NotFoundError, UsageError
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.names import DEFAULT_DATABASE, TableIdentifier
from headwater.lake.tables.time_travel import At
from headwater.lake.tables.warehouse import KnownTables
from headwater.query.columns import ColumnCache, capacity
from headwater.query.counted import find_count
from headwater.query.engine import DuckDBEngine
from headwater.query.names import Names
from headwater.query.parse import Node, SqlStatement, parse_statements
from headwater.query.result import Result, done
from headwater.query.sandbox import ReadLimits
from headwater.query.select import StatementExecution
from headwater.query.statements import unknown_statement
from headwater.text import Source

ATTEMPTS = 20
_DEEPEST = 20  # views of views
_STATEMENTS: dict[type[Node], str] = {
    exp.Create: "create:create",
    exp.Alter: "alter:alter",
    exp.Drop: "alter:drop",
    exp.Comment: "alter:comment",
    exp.Describe: "show:describe",
    exp.Insert: "insert:insert",
    exp.Update: "modify:update",
    exp.Delete: "modify:delete",
    exp.TruncateTable: "modify:truncate",
    exp.Merge: "merge:merge",
}
_COMMANDS = {
    "SHOW": "show:show",
    "ALTER": "alter:alter_more",
    "ALTER MATERIALIZED": "materialized:alter_materialized",
    "REFRESH": "materialized:refresh_materialized",
}
"""Statements → the module and function that carries each out. Modules are imported when one is asked for."""


class Session:
    """SQL and tables of one warehouse. One thread at a time. With `bounds` it only reads, and only so much; then `at`
    may be the moment at which tables are seen that are named without one."""

    def __init__(
        self,
        warehouse: Warehouse,
        *,
        database: str = DEFAULT_DATABASE,
        bounds: ReadLimits | None = None,
        at: At | None = None,
    ) -> None:
        self.warehouse = warehouse
        self._at = at
        self.database = database
        self._bounds = bounds
        self._engine = DuckDBEngine(bounds)
        self._tables = KnownTables(warehouse)
        self._cache = ColumnCache(capacity()) if bounds is None else ColumnCache()

    def __repr__(self) -> str:
        return f"Session({self.warehouse.url!r}, database={self.database!r})"

    def sql(self, text: str, parameters: Any = None, *, name: str | None = None) -> Result:
        """Carry out one statement or several, and return the result of the last.

        `parameters` are the values of `?` or `$name` in a query; `name` is shown with places in the text. Each
        statement is done wholly or not at all; one that fails ends the text, those before it stay done.
        RAISES: SqlError and other HeadwaterErrors, at their place in the text.
        """
        return next(iter(deque(self.stream(text, parameters, name=name), maxlen=1)), done("nothing to do"))

    def stream(self, text: str, parameters: Any = None, *, name: str | None = None) -> Iterator[Result]:
        """Carry out statements and give the result of each as it is there."""
        for statement in parse_statements(Source(text, name)):
            yield self._carry_out(statement, parameters)

    def explain(self, text: str, parameters: Any = None) -> Result:
        """Say how the last query of a text would be run, and what its scans would read; nothing is carried out.
        RAISES: SqlError for a statement that is not a query."""
        statements = list(parse_statements(Source(text)))
        if not statements:
            return done("nothing to do")
        last = statements[-1]
        return self._carry_out(replace(last, explain=last.explain or "explain"), parameters)

    def table(self, name: str) -> Table:
        """A table, by its name in the current database or by `database.table`.

        RAISES: NotFoundError with the nearest name.
        """
        database, dot, table = name.rpartition(".")
        return self.warehouse.table(TableIdentifier(database if dot else self.database, table))

    def close(self) -> None:
        """Let go of DuckDB; closing twice is harmless."""
        self._cache.clear()
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _carry_out(self, statement: SqlStatement, parameters: Any) -> Result:
        try:
            return self._carried_out(statement, parameters)
        except HeadwaterError as err:
            if err.source is None:  # from a layer that knows nothing of the text
                err.source, err.span = statement.source, statement.span
            raise

    def _carried_out(self, statement: SqlStatement, parameters: Any, depth: int = 0) -> Result:
        """Carry out a statement; one that names views, with these written out."""
        try:
            return self._retried(statement, parameters)
        except NotFoundError:
            expanded = import_module("headwater.query.views").expand_views(statement, self.names_of(statement))
            if expanded is None:
                raise
        if depth == _DEEPEST:
            raise statement.error("views refer to each other without end")
        try:
            return self._carried_out(expanded.statement, parameters, depth + 1)
        except HeadwaterError as err:
            raise expanded.original(err) from err

    def _retried(self, statement: SqlStatement, parameters: Any) -> Result:
        """Carry out a statement; again on the new state, when others changed the rows that it is to change, or
        expired those that it was about to read."""
        for attempt in range(ATTEMPTS):
            fresh = statement
            if isinstance(statement.tree, exp.Update | exp.Delete | exp.Merge):
                fresh = replace(statement, tree=statement.tree.copy())  # carrying it out writes into it
            names = self.names_of(fresh)
            try:
                run = StatementExecution(names, self._engine, self._cache, fresh, parameters)
                return replace(self._dispatch(run), read=names.states)
            except (CommitConflictError, NotFoundError) as err:
                lost = isinstance(err, NotFoundError) and not names.are_outdated()
                if lost or attempt == ATTEMPTS - 1:
                    raise
        raise AssertionError

    def names_of(self, statement: SqlStatement) -> Names:
        """The tables that a statement may name; a session that runs a recipe again has other ones."""
        return Names(self.warehouse, self.database, statement, self._tables, at=self._at)

    def execution(self, statement: SqlStatement, parameters: Any = None) -> StatementExecution:
        """The context of one statement, for callers that take its parts apart."""
        return StatementExecution(self.names_of(statement), self._engine, self._cache, statement, parameters)

    def _dispatch(self, run: StatementExecution) -> Result:
        tree, statement = run.statement.tree, run.statement
        if self._bounds is not None:
            self._bounds.check(statement)
        if statement.explain is not None:
            return _carry("explain:explain", run)
        if isinstance(tree, exp.Use):
            self.database = run.names.database_name(tree.this)
            return done(f"using {self.database}")
        if str(tree.args.get("kind")).upper() == "VIEW" and isinstance(tree, exp.Create | exp.Drop):
            return _view_statement(run)
        if type(tree) in _STATEMENTS:
            return _carry(_STATEMENTS[type(tree)], run)
        if isinstance(tree, exp.Command) and tree.name.upper() in _COMMANDS:
            more = " MATERIALIZED" if _MATERIALIZED.match(str(tree.args["expression"])) else ""
            return _carry(_COMMANDS.get(tree.name.upper() + more, _COMMANDS[tree.name.upper()]), run)
        if isinstance(tree, exp.Query | exp.Pivot | exp.Summarize | exp.Values):
            return _select(run)
        kind = (tree.name if isinstance(tree, exp.Command) else tree.key).upper()
        unknown = statement.error(f"{kind} is not a statement of this SQL", hint="docs/reference/sql.md lists them")
        raise unknown_statement(statement.tokens, statement.source) or unknown


def _carry(place: str, run: StatementExecution) -> Result:
    """Carry out a statement by the function at a place: `module:function`."""
    module, _, function = place.partition(":")
    return cast(Result, getattr(import_module(f"headwater.query.{module}"), function)(run))


_MATERIALIZED = re.compile(r"\s*materialized\s+view\b", re.IGNORECASE)


def _view_statement(run: StatementExecution) -> Result:
    tree = run.statement.tree
    verb = "create" if isinstance(tree, exp.Create) else "drop"
    properties = tree.args.get("properties")
    found = properties.expressions if properties is not None else ()
    materialized = tree.args.get("materialized") or any(isinstance(each, exp.MaterializedProperty) for each in found)
    return _carry(f"materialized:{verb}_materialized" if materialized else f"views:{verb}_view", run)


def _select(run: StatementExecution) -> Result:
    statement = run.statement
    count = find_count(run)
    if count is not None:
        return Result(count.rows(), 1)
    query = run.prepare(statement.tree, statement.span.start, statement.span.end)
    rows = run.run(query, shown=True)
    return Result(rows, rows.num_rows)


def connect(
    warehouse: str | Path | Warehouse,
    *,
    database: str = DEFAULT_DATABASE,
    bounds: ReadLimits | None = None,
    at: At | None = None,
) -> Session:
    """Open a session on a warehouse: a folder, a URL, or a `Warehouse`; one with `bounds` only reads, and may see
    tables as they were `at` a moment.

    RAISES: UsageError when there is no such database.
    """
    opened = warehouse if isinstance(warehouse, Warehouse) else Warehouse(warehouse)
    if database != DEFAULT_DATABASE and not opened.has_database(database):
        raise UsageError(f"there is no database `{database}` in {opened.url}")
    return Session(opened, database=database, bounds=bounds, at=at)
