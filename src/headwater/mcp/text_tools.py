"""Tools that read SQL text: its lineage, and what is wrong with it."""

from typing import Any

from headwater.errors import Issue
from headwater.lineage.statement import StatementLineage
from headwater.mcp.answers import EDGE, ToolAnswer, graph_citations, part_of
from headwater.mcp.tools import Page, tool
from headwater.model.edges import Edge, Kind
from headwater.server.play_api import AnalyzeQuestion, analyzed
from headwater.server.service import Service


class TextQuestion(AnalyzeQuestion, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """SQL, its dialect, and what is known of the tables that it reads."""


@tool(few=200)
def check_sql(service: Service, question: TextQuestion, page: Page) -> ToolAnswer:
    """Tell what is wrong or doubtful in SQL text: statements that cannot be read, unknown tables and columns,
    ambiguous names. `known`=graph or lake takes in the tables of the warehouse, `schema` is DDL of others; `as_of` is
    the state of the graph. Nothing is run or kept."""
    statements, issues = analyzed(service, question)
    rows = [_issue(each) for each in issues]
    part, told = part_of(rows, page.offset, page.limit, of="findings")
    data = {"statements": [each.status.value for each in statements], "findings": part}
    return ToolAnswer(data, _cited(service, question), told)


@tool(few=500)
def lineage_of_sql(service: Service, question: TextQuestion, page: Page) -> ToolAnswer:
    """Tell which columns the columns that SQL text writes are made of, statement by statement; arguments as of
    `check_sql`. `lines`=all also gives what decides values and rows. Nothing is run or kept."""
    statements, issues = analyzed(service, question)
    wanted = [(each, edge) for each in statements for edge in each.edges if _is_wanted(question, edge)]
    part, told = part_of(wanted, page.offset, page.limit, of="edges between columns")
    rows = [[each.index, str(edge.target), str(edge.source), *_how(edge)] for each, edge in part]
    data = {
        "statements": [_statement(each) for each in statements],
        "edge": ["statement", "to", "from", *EDGE[2:]],
        "edges": rows,
        "findings": [_issue(each) for each in issues],
    }
    return ToolAnswer(data, _cited(service, question), told)


def _is_wanted(question: AnalyzeQuestion, edge: Edge) -> bool:
    return question.lines == "all" or edge.kind.influence.value == "value"


def _how(edge: Edge) -> list[Any]:
    line = edge.source_span.line if edge.source_span is not None else None
    expression = None if edge.kind is Kind.IDENTITY else edge.expression
    return [edge.kind.value, expression, line and f"sql:{line}", edge.approximate]


def _statement(each: StatementLineage) -> dict[str, Any]:
    output = str(each.output) if each.output is not None else None
    place = f"sql:{each.span.line}" if each.span is not None else None
    return {"number": each.index, "writes": output, "status": each.status.value, "place": place}


def _issue(issue: Issue) -> dict[str, Any]:
    place = f"sql:{issue.span.line}:{issue.span.column}" if issue.span is not None else None
    told = {"severity": issue.severity.value, "code": issue.code.name, "message": issue.message, "place": place}
    return told | ({"hint": issue.hint} if issue.hint else {})


def _cited(service: Service, question: AnalyzeQuestion) -> dict[str, Any]:
    """The state of the graph, when tables were taken from it."""
    if not question.known or not service.store.states():
        return {}
    return graph_citations(service.graph(question.at))
