"""The names of databases and tables."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from headwater.errors import SchemaError, UsageError
from headwater.model.names import LINEAGE_DATABASE

DEFAULT_DATABASE = "default"
STATE_DATABASE = "_state"
"""The database of tables that are kept for refreshes of others."""
OWN_DATABASES = (LINEAGE_DATABASE, STATE_DATABASE)
"""The databases of our own books, which are listed only where somebody asks for them."""
_NAME = re.compile(r"\w[\w-]*")


@dataclass(frozen=True, slots=True)
class TableIdentifier:
    """A table in a database."""

    database: str
    table: str

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"


def parse_name(name: "str | TableIdentifier") -> TableIdentifier:
    """Read `database.table`; a table without a database is in `default`.

    >>> parse_name("sales.orders")
    TableIdentifier(database='sales', table='orders')

    RAISES: UsageError when it is no such name.
    """
    if isinstance(name, TableIdentifier):
        return name
    database, dot, table = name.rpartition(".")
    return TableIdentifier(check_name(database, "database") if dot else DEFAULT_DATABASE, check_name(table, "table"))


@contextmanager
def naming(table: TableIdentifier) -> Iterator[None]:
    """Put the name of a table into errors about its columns."""
    try:
        yield
    except SchemaError as err:
        prefix = f"table {table}: "
        if err.message.startswith(prefix):
            raise
        raise type(err)(prefix + err.message, hint=err.hint) from err


def is_name(text: str) -> bool:
    """Return whether a database or table can be called so."""
    return _NAME.fullmatch(text) is not None


def check_name(name: str, what: str) -> str:
    """Return the name of a database or table, if it is one. RAISES: UsageError."""
    if not is_name(name):
        raise UsageError(
            f"`{name}` is not the name of a {what}", hint="letters, digits, underscores, and hyphens after the first"
        )
    return name
