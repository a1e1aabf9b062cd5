"""PostgreSQL, MySQL, MariaDB, DuckDB and SQLite, each asked in its own SQL: `queries/KIND.sql`.

A query begins with a line `-- NAME`; what it must answer is the same for all kinds:

    begin         nothing: statements that make the session read-only
    path          schemas in which short names are looked for
    columns       schema, table, column, type, comment
    keys          schema, table, column, and for a foreign key the table and the column that it refers to
    definitions   kind, schema, name, statement
    history       id, user, schema of short names, statement, how often it ran, when last
"""

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

from headwater.errors import DatabaseError, InputError
from headwater.extras import need
from headwater.pull import catalog
from headwater.pull.address import VARIABLES, Address
from headwater.text import counted, without_secrets

_QUERIES = Path(__file__).parent / "queries"
_DRIVERS = {
    "postgres": "adbc_driver_postgresql.dbapi",
    "mysql": "pymysql",
    "duckdb": "duckdb",
    "sqlite": "sqlite3",
}
_NO_HISTORY = {
    "postgres": "the extension pg_stat_statements keeps one: CREATE EXTENSION pg_stat_statements",
    "mysql": "the server keeps one if it is started with performance_schema=ON",
}
_HIDDEN = "<insufficient privilege>"
_TYPED = re.compile(
    r"\b((?:date|time|timestamp|timestamptz|interval|jsonb?|uuid|inet|numeric|bytea|text)"
    r"(?:\s*\(\d+\))?(?:\s+with(?:out)?\s+time\s+zone)?)\s+\$\d+",
    re.IGNORECASE,
)
_LIST = re.compile(r"\(\s*(?:\?\s*,\s*)?\.\.\.\s*\)(?:\s*/\*.*?\*/)?")
_Ask = Callable[[str], list[Any]]


def read_database(address: Address, wanted: catalog.Selection, say: catalog.Say) -> catalog.DatabaseCatalog:
    """Read a database. The session can write nothing.

    RAISES: DatabaseError when it does not answer or refuses, InputError when there is no such file,
    MissingDependencyError.
    """
    notes: list[str] = []
    with _session(address) as ask:
        ask("begin")
        say("columns")
        path = [schema for (schema,) in ask("path") if schema]
        try:
            columns = ask("columns")
        except DatabaseError as err:
            if address.kind != "sqlite":
                raise
            notes.append(f"the columns of views are not known: {err.message}")
            columns = ask("columns of tables")
        say("keys")
        keys = ask("keys")
        say("definitions")
        rows = [row[:4] for row in ask("definitions") if wanted.takes(row[1], row[2])]
        say("history")
        history = tuple(_history(ask, address.kind, notes)) if wanted.history else ()
    if hidden := [f"{kind} {schema}.{name}" for kind, schema, name, text in rows if text is None]:
        some = ", ".join(hidden[:3]) + (" …" if len(hidden) > 3 else "")
        notes.append(
            f"{counted(len(hidden), 'definition')} left out ({some}): not SQL, or not to be seen by this user"
        )
    definitions = tuple(catalog.Definition(*row) for row in rows if row[3] is not None)
    schema = catalog.schema_of(catalog.tables_of(columns, keys, wanted), path)
    return catalog.DatabaseCatalog(
        address.kind, schema, definitions, history, tuple(notes), is_local=address.kind == "mysql"
    )


def _history(ask: _Ask, kind: str, notes: list[str]) -> Iterator[catalog.LoggedQuery]:
    if kind not in _NO_HISTORY:
        return
    try:
        rows, why = ask("history"), ""
    except DatabaseError as err:
        rows, why = [], f"{err.message.rpartition(' cannot be read: ')[2]}; "
    if not rows:
        notes.append(f"no query history: {why}{_NO_HISTORY[kind]}")
    if hidden := sum(row[3] == _HIDDEN for row in rows):
        notes.append(f"{hidden:,} queries of others cannot be seen: GRANT pg_read_all_stats TO this user")
    for id, user, schema, text, calls, time in rows:
        text = _LIST.sub("(?)", _TYPED.sub(r"\1 '?'", text))  # parameters where only a constant may stand, and lists
        # with dots, the digest of MySQL leaves out more than the constants of a list
        if (kind == "postgres" or "..." not in text) and catalog.moves_data(text):
            yield catalog.LoggedQuery(id, text, user, time and time.replace(tzinfo=UTC), schema, calls)


@contextmanager
def _session(address: Address) -> Iterator[_Ask]:
    """A function that answers a query, by its name, with rows."""
    driver = need(_DRIVERS[address.kind])
    parts = re.split(r"^-- ([a-z ]+)\n", (_QUERIES / f"{address.kind}.sql").read_text(), flags=re.MULTILINE)
    queries = {name: text.strip().split(";\n") for name, text in zip(parts[1::2], parts[2::2]) if text.strip()}
    try:
        connection = _connect(address, driver)
    except (driver.Error, OSError, RuntimeError) as err:
        raise _refused(address, err) from None  # the error of a driver may tell more than is good
    with closing(connection), closing(connection.cursor()) as cursor:

        def ask(name: str) -> list[Any]:
            rows: list[Any] = []
            try:
                for statement in queries.get(name, ()):
                    cursor.execute(f"{catalog.MARK} {statement}")
                    rows = list(cursor.fetchall()) if cursor.description else []
            except driver.Error as err:
                raise _refused(address, err) from None
            return rows

        yield ask


def _connect(address: Address, driver: Any) -> Any:
    url = address.url
    match address.kind:
        case "postgres":
            return driver.connect(address.with_options(connect_timeout="10", password=address.password))
        case "mysql":
            own = Path.home() / ".my.cnf"
            options = {
                "host": url.hostname,
                "port": url.port,
                "user": url.username,
                "password": address.password,
                "database": address.database,
                "unix_socket": address.option("unix_socket"),
                "ssl_ca": address.option("ssl_ca"),
                "read_default_file": str(own) if own.is_file() else None,
            }
            given = {name: value for name, value in options.items() if value is not None}
            return driver.connect(**given, connect_timeout=10, charset="utf8mb4")
    path = Path(address.path).absolute()
    if not path.is_file():
        raise InputError(f"there is no file {address.path}", hint="a database in memory cannot be pulled from")
    if address.kind == "sqlite":
        return driver.connect(f"{path.as_uri()}?mode=ro", uri=True)
    return driver.connect(str(path), read_only=True)


def _refused(address: Address, err: Exception) -> DatabaseError:
    """The message of a driver in one line, without what may be secret, and what to do."""
    text = " ".join(str(err.args[1] if len(err.args) > 1 else err).split())
    for before in ("Failed to connect: ", "Failed to execute query: ", "ERROR: ", "FATAL: "):
        text = text.rpartition(before)[2]
    text = re.split(r" LINE \d+:| Query was:|\W+SQLSTATE", text)[0]
    hint: str | None = "check the host, the port and that the server runs"
    if re.search("password|authentication|access denied", text, re.IGNORECASE):
        files = "~/.pgpass" if address.kind == "postgres" else "~/.my.cnf"
        hint = f"set {VARIABLES[address.kind][0]}, or write {files}; the user stands in the address: //USER@HOST/"
    elif re.search("does not exist|unknown database", text, re.IGNORECASE):
        hint = "the address ends with the name of a database: //USER@HOST/DATABASE"
    elif address.kind not in VARIABLES:
        hint = "another process has it open: stop that, or pull from a copy" if "lock" in text else None
    return DatabaseError(f"{address.text} cannot be read: {without_secrets(text)}", hint=hint)
