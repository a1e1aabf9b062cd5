"""The choice of the front end that reads a dialect."""

from importlib import import_module
from typing import Any, Literal, TypeAlias

from headwater.errors import EngineError, MissingDependencyError, UsageError
from headwater.lineage.script import FrontEnd
from headwater.zetasql.provider import TableProvider

Engine: TypeAlias = Literal["auto", "zetasql", "sqlglot"]

_GOOGLE_SQL = {"bigquery": "bigquery", "googlesql": "bigquery", "zetasql": "bigquery", "spanner": "spanner"}


def open_front_end(
    dialect: str | None, engine: Engine = "auto", *, tables: TableProvider | None = None
) -> tuple[FrontEnd[Any], str]:
    """The front end for a dialect, and the dialect's own name.
    GoogleSQL goes to ZetaSQL with the sqlglot front end as fallback; everything else to the sqlglot front end.
    `tables` is asked by ZetaSQL for tables that are not known.
    RAISES: DialectError when there is no such dialect, UsageError when the engine does not speak it; with the engine
    `zetasql`, MissingDependencyError or EngineError when it cannot be started."""
    google = _GOOGLE_SQL.get((dialect or "").strip().lower())
    if engine == "zetasql" and google is None:
        raise UsageError(
            f"ZetaSQL does not speak `{dialect or 'generic SQL'}`", hint="its dialects are bigquery and spanner"
        )
    if engine == "sqlglot" or google is None:
        return _open_sql("bigquery" if google == "spanner" else dialect, google)
    try:
        return _open_google_sql(google, fallback=engine == "auto", tables=tables), google
    except (MissingDependencyError, EngineError):
        if engine == "zetasql":
            raise
        return _open_sql("bigquery", google)


# Front ends are imported when they are first needed: a query that makes nothing needs none, and the messages of
# ZetaSQL take a fifth of a second.


def _open_sql(dialect: str | None, name: str | None) -> tuple[FrontEnd[Any], str]:
    front_end = import_module("headwater.sql.frontend").SqlFrontEnd(dialect)
    return front_end, name or front_end.dialect


def _open_google_sql(dialect: str, *, fallback: bool, tables: TableProvider | None) -> FrontEnd[Any]:
    google = import_module("headwater.analysis.google")
    opened: FrontEnd[Any] = google.open_google_sql(dialect, fallback=fallback, provider=tables)
    return opened
