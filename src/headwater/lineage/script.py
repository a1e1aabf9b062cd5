"""Scripts: statements in order, each seeing the schema that those before it have left.
A front end turns text into statements and a statement into relation trees; everything else is the same for all."""

import dataclasses
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Protocol, TypeVar

from headwater.errors import (
    EngineCrashError,
    EngineError,
    Issue,
    IssueCode,
    MissingDependencyError,
    Severity,
    TimeLimitError,
)
from headwater.lineage.effects import SchemaEffect
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.statement import StatementLineage, Status, settle_status
from headwater.lineage.trace import trace
from headwater.model.names import TableName
from headwater.model.relation import Write
from headwater.text import Source, Span

TIME_LIMIT = 30.0
"""Seconds after which a statement is given up, with an issue."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """A statement as a front end understood it.
    Usually one write; none for statements that only change the schema, several for a multi-table insert. `table_only`
    says that the writes have tables but no columns; `approximate`, why it is not certain as a whole."""

    statement_type: str
    writes: tuple[Write, ...] = ()
    effects: tuple[SchemaEffect, ...] = ()
    issues: tuple[Issue, ...] = ()
    table_only: bool = False
    approximate: str | None = None
    target: TableName | None = None  # of a statement without writes (DROP, ALTER)


class Statement(Protocol):
    """One statement as its front end cuts it out of the text."""

    @property
    def span(self) -> Span: ...


StatementT = TypeVar("StatementT", bound=Statement)


class FrontEnd(Protocol[StatementT]):
    """Text to relation trees, for one dialect. No method raises for the sake of the text."""

    def foresee(self, texts: Iterable[tuple[str, SchemaResolver]]) -> None:
        """Prepare for texts that come next, each with the schema that it will see. No answer depends on it."""
        ...

    def split(self, source: Source) -> Iterable[StatementT]:
        """Cut a script into statements, in order."""
        ...

    def lower(self, statement: StatementT, *, source: Source, resolver: SchemaResolver, deadline: float) -> Lowered:
        """Understand one statement, with the schema as it is at this point of the script."""
        ...


def analyze_script(
    source: Source,
    front_end: FrontEnd[StatementT],
    resolver: SchemaResolver,
    *,
    output: TableName | None = None,
    time_limit: float = TIME_LIMIT,
) -> Iterator[StatementLineage]:
    """The lineage of each statement of a script, in order; `output` names the target of bare SELECTs. A statement
    with several writes gives several results with the same index. A statement that makes Headwater fail is one result
    with an issue. RAISES: EngineError or MissingDependencyError when an engine cannot be used at all."""
    for index, statement in enumerate(_pieces(front_end, source)):
        if isinstance(statement, StatementLineage):
            yield _placed(statement, index, source.span(0, len(source.text)), (), source.name)  # its place is its own
            continue
        deadline = monotonic() + time_limit
        issues: tuple[Issue, ...] = ()
        try:
            lowered = front_end.lower(statement, source=source, resolver=resolver, deadline=deadline)
            found = [issue for effect in lowered.effects for issue in resolver.apply(effect, statement_index=index)]
            issues = (*lowered.issues, *found)
            lineages = list(_lineages(lowered, source=source, output=output, deadline=deadline))
        except Exception as err:
            lineages = [failure_of(err, statement.span)]
        for lineage in lineages:
            yield _placed(_with_session_tables(lineage, resolver), index, statement.span, issues, source.name)
            issues = ()  # said once, with the first


def _with_session_tables(lineage: StatementLineage, resolver: SchemaResolver) -> StatementLineage:
    names = {table.name for table in lineage.sources}
    if lineage.target is not None:
        names.add(lineage.target)
    own = frozenset(name for name in names if resolver.belongs_to_session(name))
    return dataclasses.replace(lineage, session_tables=own) if own else lineage


def _pieces(front_end: FrontEnd[StatementT], source: Source) -> Iterator[StatementT | StatementLineage]:
    """The statements of a script; when cutting it fails, the text after the last of them is one failed statement."""
    end = 0
    try:
        for statement in front_end.split(source):
            yield statement
            end = statement.span.end
    except Exception as err:
        rest = source.text[end:]
        start = end + len(rest) - len(rest.lstrip(" \t\r\n;"))
        yield failure_of(err, source.span(start, len(source.text)))


def failure_of(err: Exception, span: Span | None = None) -> StatementLineage:
    """A statement that made Headwater fail, at a place: one issue that names the fault, no lineage.
    RAISES: the error, when it concerns more than the statement: memory has run out, or an engine cannot be used."""
    unusable = isinstance(err, EngineError) and not isinstance(err, EngineCrashError | TimeLimitError)
    if unusable or isinstance(err, MissingDependencyError | MemoryError):
        raise err
    frames = traceback.extract_tb(err.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    message = f"the analysis failed: {type(err).__name__}: {str(err).partition(chr(10))[0]}{place}"
    issue = Issue(
        IssueCode.INTERNAL_ERROR,
        Severity.ERROR,
        message,
        span,
        hint="this is a fault of Headwater, not of the statement; please report both",
    )
    return StatementLineage("UNKNOWN", issues=(issue,), status=Status.ERROR, span=span)


def _lineages(
    lowered: Lowered, *, source: Source, output: TableName | None, deadline: float
) -> Iterator[StatementLineage]:
    if not lowered.writes:
        status = Status.TABLE_ONLY if lowered.table_only else Status.RESOLVED
        yield StatementLineage(lowered.statement_type, lowered.target, status=status)
    for write in lowered.writes:
        lineage = trace(write, source=source, output=output, deadline=deadline)
        if lowered.table_only:
            lineage = dataclasses.replace(lineage, status=Status.TABLE_ONLY)
        elif lowered.approximate and lineage.status is Status.RESOLVED:
            lineage = dataclasses.replace(lineage, status=Status.APPROXIMATE)
        yield lineage


def _placed(
    lineage: StatementLineage, index: int, span: Span, issues: Iterable[Issue], name: str | None
) -> StatementLineage:
    found = tuple(
        dataclasses.replace(issue, statement_index=index, source_name=name, span=issue.span or span)
        for issue in (*issues, *lineage.issues)
    )
    return settle_status(dataclasses.replace(lineage, index=index, span=lineage.span or span, issues=found))


def failed(statement_type: str, message: str, span: Span | None, hint: str | None = None) -> Lowered:
    """A statement that could not be read: one issue, no lineage."""
    return Lowered(statement_type, issues=(Issue(IssueCode.PARSE_ERROR, Severity.ERROR, message, span, hint=hint),))
