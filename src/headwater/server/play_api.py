"""The lineage of a text that somebody types, over HTTP: nothing is kept, and no table needs to be there."""

import re
from dataclasses import replace
from typing import Annotated, Literal, TypedDict

import msgspec
from msgspec import Meta

from headwater.analysis.door import Request, analyze_sources
from headwater.analysis.schemas import import_schema, with_tables
from headwater.errors import Issue, SqlError
from headwater.lineage.formats.picture import diagram
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.schema import SchemaMetadata
from headwater.model.edges import Edge
from headwater.server.answers import PictureAnswer, PictureLine
from headwater.server.graph_api import box_json
from headwater.server.route import NoQuestion, endpoint
from headwater.server.service import Service
from headwater.sql.dialects import dialect_names
from headwater.text import Source, Span
from headwater.view.diagram import Diagram, Style
from headwater.view.layout import lay_out
from headwater.view.svg import to_svg

_SECONDS = 5.0  # for one statement
_NAME = re.compile(r"\w+")
_KIND = {Style.VALUE: "IDENTITY", Style.CONDITION: "CONDITIONAL", Style.ROW: "FILTER"}
_MOST = 150  # tables in one picture


class AnalyzeQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    sql: Annotated[str, Meta(min_length=1, max_length=200_000)]
    dialect: Annotated[str, Meta(max_length=40)] = ""
    schema: Annotated[str, Meta(max_length=200_000)] = ""  # DDL of tables that the SQL reads
    known: Literal["", "graph", "lake"] = ""  # what else is known of tables: what the graph or the warehouse has
    lines: Literal["values", "all"] = "values"


class Finding(TypedDict):
    """Something wrong or doubtful, and where in the text."""

    code: str
    severity: str
    message: str
    hint: str | None
    place: Span | None


class MadeOf(TypedDict):
    """One source of an output column."""

    source: str
    kind: str
    influence: str
    expression: str | None
    place: Span | None


class OutputColumn(TypedDict):
    table: str
    column: str
    sources: list[MadeOf]


class Analysis(TypedDict):
    """The lineage of a text as a picture, and by output column."""

    picture: PictureAnswer
    columns: list[OutputColumn]
    findings: list[Finding]
    statements: int


@endpoint("GET", "/dialects")
def dialects(service: Service, question: NoQuestion) -> list[str]:
    """The SQL dialects that are understood."""
    return sorted(dialect_names())


@endpoint("POST", "/analyze")
def analyze(service: Service, question: AnalyzeQuestion) -> Analysis:
    """The lineage of SQL that is not kept. Statements that cannot be read are findings."""
    request = Request(
        dialect=question.dialect or None, schema=_known(service, question), template=None, time_limit=_SECONDS
    )
    texts = [Source(question.schema, "schema")] if question.schema.strip() else []
    result = analyze_sources([*texts, Source(question.sql, "sql")], request)
    statements = [each for each in result.statements if each.source_name == "sql"]
    drawn = diagram(statements)
    if len(drawn.boxes) > _MOST:
        raise SqlError(f"this is {len(drawn.boxes)} tables, too many for one picture; `headwater harvest` reads them")
    columns: dict[tuple[str, str], OutputColumn] = {}
    for statement in statements:
        for column in statement.columns:
            key = str(statement.output), column.name
            columns.setdefault(key, {"table": key[0], "column": key[1], "sources": []})
        for edge in statement.edges:
            found = columns.get((str(edge.target.table), edge.target.name))
            if found is not None:
                found["sources"].append(_made_of(edge))
    return {
        "picture": _picture(drawn, faint=question.lines == "values"),
        "columns": list(columns.values()),
        "findings": [_finding(issue) for issue in result.issues if issue.source_name in ("sql", None)],
        "statements": len(statements),
    }


def _known(service: Service, question: AnalyzeQuestion) -> SchemaMetadata | None:
    """The tables of the warehouse or the graph whose names stand in the text."""
    words = {word.lower() for word in _NAME.findall(question.sql)}
    found = import_schema(None)
    if question.known == "lake":
        for database in service.warehouse.list_databases():
            for name in service.warehouse.list_tables(database):
                if name.lower() in words:
                    table = service.warehouse.table(f"{database}.{name}")
                    fields = {each.name: str(each.type) for each in table.schema.fields}
                    found = with_tables(found, schema_of_mapping({f"{database}.{name}": fields}).tables)
    if question.known and service.store.states():
        known = service.graph()
        tables = {
            name: dict(columns)
            for name, columns in known.columns.items()
            if name.rpartition(".")[2].lower() in words and "/" not in name
        }
        found = with_tables(found, schema_of_mapping(tables).tables)
    return found if found.tables else None


def _made_of(edge: Edge) -> MadeOf:
    return {
        "source": str(edge.source),
        "kind": edge.kind.value,
        "influence": edge.kind.influence.value,
        "expression": edge.expression,
        "place": edge.source_span,
    }


def _finding(issue: Issue) -> Finding:
    return {
        "code": issue.code.name,
        "severity": issue.severity.value,
        "message": issue.message,
        "hint": issue.hint,
        "place": issue.span,
    }


def _picture(drawn: Diagram, *, faint: bool) -> PictureAnswer:
    """A diagram as the page takes it: a line stands for one edge between two columns."""
    shown = replace(
        drawn, lines=tuple(replace(line, faint=faint and line.style is not Style.VALUE) for line in drawn.lines)
    )
    layout = lay_out(shown)
    lines: list[PictureLine] = [
        {
            "source": line.source,
            "target": line.target,
            "style": line.style.value,
            "edges": [(line.source.port or "*", line.target.port or "*", _KIND[line.style])],
        }
        for line in shown.lines
    ]
    return {
        "state": 0,
        "svg": to_svg(shown, layout=layout, styled=False),
        "starts": [],
        "boxes": [box_json(box, layout.places[box.id]) for box in shown.boxes],
        "lines": lines,
        "cut": False,
        "beside": 0,
    }
