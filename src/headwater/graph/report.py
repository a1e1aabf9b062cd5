"""The report of a harvest: statements by status, output columns, tables that nothing describes, what to do next."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from headwater.errors import FINDINGS
from headwater.graph.store import GraphState
from headwater.graph.tables import COLUMNS, EDGES, ISSUES, STATEMENTS, UNITS, WHOLE, root_column
from headwater.lake.engine.predicates import In
from headwater.lazy import arrow_compute as pc
from headwater.text import counted

STATUSES = ("resolved", "approximate", "table-only", "error")
_MOST_TABLES = 10
_NEXT_STEPS = {
    "PARSE_ERROR": "check `--dialect`; `--exclude GLOB` leaves out files that are no SQL",
    "TEMPLATE_ERROR": "give the variables of templates with `--var NAME=VALUE`",
    "UNKNOWN_COLUMN": "the schema may be older than the SQL: export it anew",
    "AMBIGUOUS_COLUMN": "give the columns of the tables that are joined with `--schema`",
    "UNSUPPORTED_STATEMENT": "what these statements do is not known; `headwater explain UNSUPPORTED_STATEMENT`",
    "APPROXIMATE_LINEAGE": "types in the schema make lineage exact; `headwater explain APPROXIMATE_LINEAGE`",
    "INTERNAL_ERROR": "a fault of Headwater's own: please report the statement",
}


@dataclass(frozen=True, slots=True)
class UnknownTable:
    """A table that is read, and that neither a statement makes nor the schema has."""

    table: str
    statements: int  # that read it
    reader: str  # the first of them


@dataclass(frozen=True, slots=True)
class OutputColumns:
    """The columns of written tables: those with sources, those made of no column, and those in doubt."""

    sourced: int
    constant: int  # of resolved statements: nothing flows into them
    doubtful: int  # without a source in a statement that says it is not resolved


@dataclass(frozen=True, slots=True)
class HarvestReport:
    """The share of the graph that comes from the sources of one harvest."""

    files: int
    statements: dict[str, int]  # by status
    columns: OutputColumns
    unknown: int
    unknown_tables: tuple[UnknownTable, ...]  # those that are read most
    findings: dict[str, int]  # errors and warnings by code, the most frequent first
    next_steps: tuple[str, ...]

    @property
    def lines(self) -> Iterable[str]:
        """The report as text."""
        total = sum(self.statements.values())
        shares = (f"{count:,} {status} ({count / total:.1%})" for status, count in self.statements.items() if count)
        yield f"{counted(total, 'statement')} in {counted(self.files, 'file')}: {', '.join(shares) or 'none'}"
        columns = self.columns
        known = f"{columns.sourced:,} with sources, {columns.constant:,} of constants, {columns.doubtful:,} in doubt"
        yield f"{counted(columns.sourced + columns.constant + columns.doubtful, 'output column')}: {known}"
        if self.unknown:
            yield f"{counted(self.unknown, 'table')} that nothing describes; most read:"
            width = max(len(each.table) for each in self.unknown_tables)
            for each in self.unknown_tables:
                yield f"  {each.table:<{width}}  {counted(each.statements, 'statement')}, such as {each.reader}"
        if self.findings:
            yield f"findings: {', '.join(f'{count:,} {code}' for code, count in self.findings.items())}"
        for step in self.next_steps:
            yield f"next: {step}"


def report_on(state: GraphState, sources: Sequence[str]) -> HarvestReport:
    """Report on the sources of a harvest, as they were named, in a state of the graph."""
    files = state.read(UNITS, ["source"], where=In("root", tuple(sorted(sources)))).column(0).unique()
    all_statements = state.read(STATEMENTS, ["statement", "source", "type", "status", "target", "reads"])
    statements = all_statements.filter(pc.is_in(all_statements.column("source"), files))
    unknown = _unknown_tables(state, statements, all_statements.column("target"))
    findings = _findings(state, {*statements.column("statement").to_pylist(), *files.to_pylist()})
    found = Counter(statements.column("status").to_pylist())
    return HarvestReport(
        files=len(files),
        statements={status: found[status] for status in STATUSES},
        columns=_output_columns(state, statements),
        unknown=len(unknown),
        unknown_tables=tuple(unknown[:_MOST_TABLES]),
        findings=findings,
        next_steps=tuple(_next_steps(unknown, findings)),
    )


_WITHOUT_ROWS = r"^(CREATE_TABLE|ALTER.*|DROP.*|RENAME.*|TRUNCATE.*|DELETE)$"
"""Types of statements that define a table, or take rows away: they put none into it."""


def _output_columns(state: GraphState, statements: pa.Table) -> OutputColumns:
    statements = statements.filter(pc.invert(pc.match_substring_regex(statements.column("type"), _WITHOUT_ROWS)))
    written = statements.column("target").unique().drop_null()
    columns = state.read(COLUMNS, ["dataset", "column"])
    columns = columns.filter(pc.is_in(columns.column("dataset"), written))
    columns = columns.filter(pc.not_equal(columns.column("column"), WHOLE))
    edges = state.read(EDGES, ["target", "target_column"]).group_by(["target", "target_column"]).aggregate([])
    edges = edges.filter(pc.is_in(edges.column("target"), written))
    known = set(zip(*(columns.column(name).to_pylist() for name in ("dataset", "column"))))
    pairs = zip(*(edges.column(name).to_pylist() for name in ("target", "target_column")))
    sourced = {pair if pair in known else (pair[0], root_column(pair[1])) for pair in pairs if pair[1] != WHOLE}
    resolved = statements.filter(pc.equal(statements.column("status"), "resolved"))
    sure = set(resolved.column("target").to_pylist())
    without = known - sourced
    constant = sum(dataset in sure for dataset, _ in without)
    return OutputColumns(len(sourced), constant, len(without) - constant)


def _unknown_tables(state: GraphState, statements: pa.Table, made: pa.ChunkedArray) -> list[UnknownTable]:
    described = state.read(COLUMNS, ["dataset", "origin"])
    described = described.filter(pc.equal(described.column("origin"), "imported")).column("dataset").unique()
    known = {*made.unique().to_pylist(), *described.to_pylist()}
    readers: dict[str, list[str]] = {}
    for statement, reads in zip(statements.column("statement").to_pylist(), statements.column("reads").to_pylist()):
        for table in reads or ():
            if table not in known:
                readers.setdefault(table, []).append(statement)
    found = (UnknownTable(table, len(each), min(each)) for table, each in readers.items())
    return sorted(found, key=lambda each: (-each.statements, each.table))


def _findings(state: GraphState, places: set[str]) -> dict[str, int]:
    """Errors and warnings of statements, and of files as a whole, by code."""
    issues = state.read(ISSUES, ["statement", "code", "severity"])
    issues = issues.filter(pc.is_in(issues.column("severity"), pa.array([each.value for each in FINDINGS])))
    issues = issues.filter(pc.is_in(issues.column("statement"), pa.array(places, pa.string())))
    return dict(Counter(issues.column("code").to_pylist()).most_common())


def _next_steps(unknown: Sequence[UnknownTable], findings: dict[str, int]) -> Iterable[str]:
    """Two steps at most, for the most frequent findings."""
    steps = [_NEXT_STEPS[code] for code in findings if code in _NEXT_STEPS][:1]
    if unknown:
        steps.insert(0, "describe these tables with `--schema`: a file, a folder of schema files or a warehouse")
    if findings:
        steps.append("headwater sql -e \"SELECT * FROM lineage.issues WHERE severity <> 'info'\"")
    return steps
