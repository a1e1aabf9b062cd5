"""Scripts: statements in order, each seeing the schema that those before it have left.

A front end turns text into statements and a statement into relation trees; everything else is the same for all.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Protocol, TypeVar

from headwater.errors import Issue, IssueCode, Severity
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

    Usually one write; none for statements that only change the schema, several for a multi-table insert.
    `table_only` says that the writes have tables but no columns; `approximate`, why it is not certain as a whole.
    """

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
    """The lineage of each statement of a script, in order; `output` names the target of bare SELECTs.

    A statement with several writes gives several results with the same index.
    """
    for index, statement in enumerate(front_end.split(source)):
        deadline = monotonic() + time_limit
        lowered = front_end.lower(statement, source=source, resolver=resolver, deadline=deadline)
        found = [issue for effect in lowered.effects for issue in resolver.apply(effect, statement_index=index)]
        issues = (*lowered.issues, *found)
        for lineage in _lineages(lowered, source=source, output=output, deadline=deadline):
            yield _placed(lineage, index, statement.span, issues, source.name)
            issues = ()  # said once, with the first


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
