"""The lineage of one statement, as every front end gives it and every reader takes it."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import msgspec
from msgspec import structs

from headwater.errors import Issue, IssueCode, Severity
from headwater.model.edges import ColumnRef, Edge
from headwater.model.names import TableName
from headwater.model.relation import Resolution
from headwater.text import Span

RESULT = TableName.of("<result>")
"""The table of the target columns of a bare SELECT for which no output table was given."""


class Status(Enum):
    """The completeness of a statement's lineage."""

    RESOLVED = "resolved"  # every edge is certain
    APPROXIMATE = "approximate"  # there are edges in doubt, or some are missing; the issues say why
    TABLE_ONLY = "table-only"  # tables are known, columns are not
    ERROR = "error"  # the statement could not be read


class SourceTable(msgspec.Struct, frozen=True, gc=False):
    """A table that the statement reads: every place where it does so, and how we know its columns."""

    name: TableName
    resolution: Resolution = Resolution.UNKNOWN
    spans: tuple[Span, ...] = ()
    approximate: str | None = None


class OutputColumn(msgspec.Struct, frozen=True, gc=False):
    """A column that the statement writes, whether or not anything flows into it (COUNT(*), a constant)."""

    name: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class StatementLineage:
    """The inputs and outputs of one statement, and the edges between them.
    Edges are in the order of the output columns; row influence, which concerns all columns alike, comes last, once,
    with the whole table as target (`ColumnRef.column` is None). Filters inside a scalar subquery concern one column
    only and have that column as target."""

    statement_type: str
    target: TableName | None = None
    sources: tuple[SourceTable, ...] = ()
    columns: tuple[OutputColumn, ...] = ()
    edges: tuple[Edge, ...] = ()
    issues: tuple[Issue, ...] = ()
    status: Status = Status.RESOLVED
    index: int = 0
    source_name: str | None = None
    span: Span | None = None
    target_span: Span | None = None
    session_tables: frozenset[TableName] = frozenset()  # those of its tables that no other script has

    @property
    def approximate(self) -> bool:
        """Return whether anything about the edges is in doubt."""
        return self.status is not Status.RESOLVED

    @property
    def output(self) -> TableName:
        """The table of the target columns: the target, or a stand-in for the result of a SELECT."""
        return self.target or RESULT


def renamed(lineage: StatementLineage, target: TableName) -> StatementLineage:
    """The lineage of a bare SELECT whose result has a name."""
    edges = tuple(
        structs.replace(edge, target=ColumnRef(target, edge.target.column, edge.target.path))
        for edge in lineage.edges
    )
    return dataclasses.replace(lineage, target=target, edges=edges)


def with_tables(lineage: StatementLineage, names: Mapping[TableName, TableName]) -> StatementLineage:
    """The same lineage with other names for some tables."""

    def ref(column: ColumnRef) -> ColumnRef:
        new = names.get(column.table)
        return column if new is None else ColumnRef(new, column.column, column.path)

    return dataclasses.replace(
        lineage,
        target=names.get(lineage.target, lineage.target) if lineage.target is not None else None,
        sources=tuple(structs.replace(table, name=names.get(table.name, table.name)) for table in lineage.sources),
        edges=tuple(
            structs.replace(edge, source=ref(edge.source), target=ref(edge.target)) for edge in lineage.edges
        ),
    )


def settle_status(lineage: StatementLineage) -> StatementLineage:
    """The same lineage with the status that its edges, sources and issues give it."""
    if any(issue.severity is Severity.ERROR for issue in lineage.issues):
        status = Status.ERROR
    elif lineage.status is Status.TABLE_ONLY:
        status = Status.TABLE_ONLY
    elif (
        any(edge.approximate for edge in lineage.edges)
        or any(table.approximate for table in lineage.sources)
        or any(issue.code in _DOUBTS for issue in lineage.issues)
    ):
        status = Status.APPROXIMATE
    else:
        status = lineage.status
    return lineage if status is lineage.status else dataclasses.replace(lineage, status=status)


_DOUBTS = {IssueCode.UNKNOWN_COLUMN, IssueCode.AMBIGUOUS_COLUMN, IssueCode.APPROXIMATE_LINEAGE}
