"""The address of a database, which never holds a password."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlencode, urlsplit

from headwater.errors import InputError, UsageError
from headwater.text import suggest

SCHEMES = {
    "postgresql": "postgres",
    "postgres": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
    "duckdb": "duckdb",
    "sqlite": "sqlite",
    "spark": "spark",
}
"""The schemes of addresses, with the kind of database that each stands for."""
VARIABLES = {"postgres": ("PGPASSWORD", "HEADWATER_PULL_PASSWORD"), "mysql": ("MYSQL_PWD", "HEADWATER_PULL_PASSWORD")}
_SECRET = re.compile(r"pass(?:word|wd|phrase)?$|^pwd$|secret|token|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """A database: its kind, and its address as it was given."""

    kind: str
    text: str

    @property
    def url(self) -> SplitResult:
        return urlsplit(self.text)

    @property
    def path(self) -> str:
        """The file, folder or service that stands behind the scheme."""
        scheme, _, rest = self.text.partition(":")
        return rest.removeprefix("//") if scheme.lower() in SCHEMES else self.text

    @property
    def database(self) -> str | None:
        """The database that a server is asked for."""
        return unquote(self.url.path.strip("/")) or None

    @property
    def name(self) -> str:
        """A name for the folder that the database is pulled into."""
        if self.kind in ("postgres", "mysql"):
            return self.database or self.url.hostname or self.kind
        return Path(self.path).stem or self.kind

    def option(self, name: str) -> str | None:
        """The value of an option behind the question mark."""
        return parse_qs(self.url.query).get(name, [None])[-1]

    @property
    def password(self) -> str | None:
        """The password that the environment has for this kind of database."""
        return next((os.environ[name] for name in VARIABLES.get(self.kind, ()) if os.environ.get(name)), None)

    def with_options(self, **options: str | None) -> str:
        """The address with options that it does not have, for a driver.

        REQUIRES: the result is kept nowhere and shown to nobody; there may be a password in it.
        """
        base, _, query = self.text.partition("?")
        more = {name: value for name, value in options.items() if value and self.option(name) is None}
        return f"{base}?{'&'.join(filter(None, (query, urlencode(more, quote_via=quote))))}"


def parse_address(text: str) -> Address:
    """Read the address of a database, or the path of a file of SQLite or DuckDB.

    RAISES: UsageError when it has a password in it or its scheme is not known, InputError for a file of another kind.
    """
    scheme, colon, _ = text.partition(":")
    kind = SCHEMES.get(scheme.lower()) if colon else None
    if kind is None and "://" not in text and Path(text).is_file():
        return Address(_kind_of_file(Path(text)), text)
    if kind is None:
        hint = suggest(scheme, SCHEMES, f"addresses look like {', '.join(_EXAMPLES)}", "`{}:`")
        if scheme.lower() in _EXPORTED:
            hint = "docs/guides/query-logs.md tells how to export its log; `headwater harvest PATH` reads the file"
        raise UsageError(f"`{scheme}` is no database that can be pulled from, and no file", hint=hint)
    try:
        url = urlsplit(text)
        has_password = url.password is not None or any(
            map(_SECRET.search, parse_qs(url.query, keep_blank_values=True))
        )
    except ValueError as err:
        raise UsageError("the address cannot be read", hint=f"addresses look like {', '.join(_EXAMPLES)}") from err
    if has_password:
        raise UsageError(
            "there is a password in the address, where the history of the shell and lists of processes show it",
            hint=f"leave it out of the address and set {' or '.join(VARIABLES.get(kind, ()))}",
        )
    return Address(kind, text)


def _kind_of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as err:
        raise InputError(f"{path} cannot be read: {err.strerror}") from err
    if head.startswith(b"SQLite format 3"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    hint = "`headwater harvest PATH` reads SQL files and query logs"
    raise InputError(f"{path} is a file of neither SQLite nor DuckDB", hint=hint)


_EXAMPLES = (
    "postgresql://USER@HOST/DATABASE",
    "mysql://USER@HOST/DATABASE",
    "duckdb:FILE",
    "sqlite:FILE",
    "spark:FOLDER",
)
_EXPORTED = ("bigquery", "snowflake", "redshift", "databricks", "trino")
