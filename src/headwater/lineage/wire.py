"""The wire format: lineage as JSON, camelCase, with a published JSON Schema (`docs/reference/lineage.schema.json`).
The structs below are the format: a field added here appears in the JSON and in the schema. Fields that have their
default are left out. `FORMAT` changes when a reader of the old format would be misled by the new one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from headwater.errors import Issue, Severity
from headwater.lineage.readings import Reading
from headwater.lineage.schema import ResolvedSchemaMetadata
from headwater.lineage.statement import OutputColumn, StatementLineage
from headwater.model.edges import ColumnRef, Edge
from headwater.model.names import TableName
from headwater.model.relation import Resolution
from headwater.text import Span

FORMAT = "headwater.lineage/1"


class WireSpan(msgspec.Struct, rename="camel"):
    """Characters `start` to `end` of the source, beginning at `line`:`column` (from 1)."""

    start: int
    end: int
    line: int
    column: int


class WireNode(msgspec.Struct, rename="camel", omit_defaults=True):
    """A table, or a column of the table `parent`."""

    id: str
    type: Literal["table", "output", "column"]
    label: str
    qualified_name: str
    parent: str | None = None
    resolution_source: Literal["imported", "implied", "unknown"] | None = None


class WireEdge(msgspec.Struct, rename="camel", omit_defaults=True):
    """`from` takes part in `to`. A row influence that concerns every column has a table as `to`."""

    id: str
    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    kind: str
    influence: Literal["value", "condition", "row"]
    statement_index: int
    expression: str | None = None
    source_span: WireSpan | None = None
    target_span: WireSpan | None = None
    masking: bool = False
    approximate: bool = False
    approximate_reason: str | None = None


class WireColumn(msgspec.Struct, rename="camel", omit_defaults=True):
    """A column that a statement writes."""

    id: str
    name: str
    span: WireSpan | None = None


class WireStatement(msgspec.Struct, rename="camel", omit_defaults=True):
    """One statement: its kind, how sure we are, what it reads and writes."""

    statement_index: int
    statement_type: str
    status: Literal["resolved", "approximate", "table-only", "error"]
    sources: list[str]
    target: str | None = None
    columns: list[WireColumn] = []
    source_name: str | None = None
    span: WireSpan | None = None


class WireIssue(msgspec.Struct, rename="camel", omit_defaults=True):
    """A finding that did not stop the analysis."""

    severity: Literal["error", "warning", "info"]
    code: str
    message: str
    span: WireSpan | None = None
    statement_index: int | None = None
    source_name: str | None = None
    hint: str | None = None


class WireSummary(msgspec.Struct, rename="camel"):
    """Counts over the whole result."""

    statement_count: int
    table_count: int
    column_count: int
    edge_count: int
    issue_count: int
    approximate_count: int
    has_errors: bool


class WireResult(msgspec.Struct, rename="camel", omit_defaults=True):
    """The lineage of a request."""

    format: str
    reading: Literal["value", "full"]
    statements: list[WireStatement]
    nodes: list[WireNode]
    edges: list[WireEdge]
    issues: list[WireIssue]
    summary: WireSummary
    resolved_schema: ResolvedSchemaMetadata | None = None


def to_wire(
    statements: Sequence[StatementLineage],
    issues: Sequence[Issue],
    *,
    reading: Reading,
    schema: ResolvedSchemaMetadata | None = None,
) -> WireResult:
    """Statements and issues as structs ready to be encoded."""
    nodes = _nodes(statements)
    edges = [
        _edge(edge, f"e{number}", statement.index) for number, (statement, edge) in enumerate(_edges(statements), 1)
    ]
    return WireResult(
        format=FORMAT,
        reading=reading.value,
        statements=[_statement(statement) for statement in statements],
        nodes=list(nodes.values()),
        edges=edges,
        issues=[_issue(issue) for issue in issues],
        summary=_summary(nodes.values(), edges, issues, len(statements)),
        resolved_schema=schema,
    )


def encode(result: WireResult, *, indent: int | None = 2) -> str:
    """A result as JSON text."""
    encoded = msgspec.json.encode(result)
    return (msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the format."""
    return msgspec.json.schema(WireResult)


def node_id(ref: ColumnRef | TableName) -> str:
    """The id of a node: its qualified name. Stable across runs, so that results can be compared and linked to."""
    return str(ref)


def _edges(statements: Sequence[StatementLineage]) -> Iterator[tuple[StatementLineage, Edge]]:
    return ((statement, edge) for statement in statements for edge in statement.edges)


def _nodes(statements: Sequence[StatementLineage]) -> dict[str, WireNode]:
    nodes: dict[str, WireNode] = {}
    for statement in statements:
        for source in statement.sources:
            _add_table(nodes, source.name, "table", source.resolution)
        if statement.columns or statement.target is not None:
            kind: Literal["table", "output"] = "output" if statement.target is None else "table"
            _add_table(nodes, statement.output, kind, None)
        for column in statement.columns:
            _add_column(nodes, ColumnRef(statement.output, column.name))
    for _, edge in _edges(statements):
        for ref in (edge.source, edge.target):
            _add_table(nodes, ref.table, "table", None)
            _add_column(nodes, ref)
    return nodes


def _add_table(
    nodes: dict[str, WireNode], table: TableName, type: Literal["table", "output"], resolution: Resolution | None
) -> None:
    known = nodes.setdefault(node_id(table), WireNode(node_id(table), type, table.name, str(table)))
    if resolution is not None and known.resolution_source in (None, "unknown"):
        known.resolution_source = resolution.value


def _add_column(nodes: dict[str, WireNode], ref: ColumnRef) -> None:
    if ref.column is not None:
        nodes.setdefault(
            node_id(ref), WireNode(node_id(ref), "column", ref.name, str(ref), parent=node_id(ref.table))
        )


def _target_id(ref: ColumnRef) -> str:
    return node_id(ref.table) if ref.column is None else node_id(ref)


def _edge(edge: Edge, id: str, statement_index: int) -> WireEdge:
    return WireEdge(
        id=id,
        source=_target_id(edge.source),
        target=_target_id(edge.target),
        kind=edge.kind.value,
        influence=edge.kind.influence.value,
        statement_index=statement_index,
        expression=edge.expression,
        source_span=_span(edge.source_span),
        target_span=_span(edge.target_span),
        masking=edge.masking,
        approximate=edge.approximate is not None,
        approximate_reason=edge.approximate,
    )


def _statement(statement: StatementLineage) -> WireStatement:
    return WireStatement(
        statement_index=statement.index,
        statement_type=statement.statement_type,
        status=statement.status.value,
        sources=[node_id(source.name) for source in statement.sources],
        target=None if statement.target is None else node_id(statement.target),
        columns=[_column(statement.output, column) for column in statement.columns],
        source_name=statement.source_name,
        span=_span(statement.span),
    )


def _column(table: TableName, column: OutputColumn) -> WireColumn:
    return WireColumn(node_id(ColumnRef(table, column.name)), column.name, _span(column.span))


def _issue(issue: Issue) -> WireIssue:
    return WireIssue(
        issue.severity.value,
        issue.code.name,
        issue.message,
        _span(issue.span),
        issue.statement_index,
        issue.source_name,
        issue.hint,
    )


def _span(span: Span | None) -> WireSpan | None:
    return None if span is None else WireSpan(span.start, span.end, span.line, span.column)


def _summary(
    nodes: Iterable[WireNode], edges: list[WireEdge], issues: Sequence[Issue], statement_count: int
) -> WireSummary:
    types = [node.type for node in nodes]
    return WireSummary(
        statement_count=statement_count,
        table_count=types.count("table"),
        column_count=types.count("column"),
        edge_count=len(edges),
        issue_count=len(issues),
        approximate_count=sum(edge.approximate for edge in edges),
        has_errors=any(issue.severity is Severity.ERROR for issue in issues),
    )
