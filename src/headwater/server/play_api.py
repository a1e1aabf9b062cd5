"""The lineage of a text that somebody types, over HTTP: nothing is kept, and no table needs to be there."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Annotated, Literal, Protocol, TypedDict

import msgspec
from msgspec import Meta

from headwater.analysis.analyze import Request, analyze_sources
from headwater.analysis.schemas import import_schema, with_tables
from headwater.errors import Issue, UsageError
from headwater.graph.steps import Node, Step
from headwater.graph.tables import WHOLE
from headwater.lineage.formats.picture import diagram
from headwater.lineage.readings import Reading
from headwater.lineage.schema import SchemaTable
from headwater.lineage.statement import StatementLineage
from headwater.lineage.wire import WireResult, to_wire
from headwater.model.edges import Kind
from headwater.server.picture import Picture, PictureAnswer, picture_json
from headwater.server.route import Moment, NoQuestion, endpoint
from headwater.sql.dialects import dialect_names
from headwater.text import Source
from headwater.view.diagram import Diagram, Style
from headwater.view.layout import lay_out

_SECONDS = 5.0  # for one statement
_NAME = re.compile(r"\w+")
_KIND = {Style.VALUE: Kind.IDENTITY, Style.CONDITION: Kind.CONDITIONAL, Style.ROW: Kind.FILTER}
_MOST = 150  # tables in one picture


class AnalyzeQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    sql: Annotated[str, Meta(min_length=1, max_length=200_000)]
    dialect: Annotated[str, Meta(max_length=40)] = ""
    schema: Annotated[str, Meta(max_length=200_000)] = ""  # DDL of tables that the SQL reads
    known: Literal["", "graph", "lake"] = ""  # what else is known of tables: what the graph or the warehouse has
    lines: Literal["values", "all"] = "values"
    at: Moment | None = None  # of the graph, for the tables that it knows


class Analysis(TypedDict):
    """The lineage of a text as a picture, and in the wire format."""

    picture: PictureAnswer
    lineage: WireResult


class TablesByName(Protocol):
    """A place that knows tables."""

    def tables_named(self, words: Collection[str], known: str, at: str | None) -> tuple[SchemaTable, ...]:
        """The tables whose names are among words in lower case: of the graph at a moment, or of the warehouse too."""
        ...


@endpoint("GET", "/dialects")
def dialects(service: TablesByName, question: NoQuestion) -> list[str]:
    """The SQL dialects that are understood."""
    return sorted(dialect_names())


@endpoint("POST", "/analyze")
def analyze(service: TablesByName, question: AnalyzeQuestion) -> Analysis:
    """The lineage of SQL that is not kept. Statements that cannot be read are findings."""
    statements, issues = analyzed(service, question)
    if len({name for each in statements for name in (each.output, *(read.name for read in each.sources))}) > _MOST:
        raise UsageError(
            f"this is more than {_MOST} tables: too many for one picture", hint="`headwater harvest PATH`"
        )
    return {
        "picture": picture_json(_picture(diagram(statements), faint=question.lines == "values"), 0),
        "lineage": to_wire(statements, issues, reading=Reading.FULL),
    }


def analyzed(service: TablesByName, question: AnalyzeQuestion) -> tuple[list[StatementLineage], list[Issue]]:
    """The lineage of the statements of a text, and what was found on the way."""
    words = {word.lower() for word in _NAME.findall(question.sql)}
    known = with_tables(import_schema(None), service.tables_named(words, question.known, question.at))
    request = Request(
        dialect=question.dialect or None, schema=known if known.tables else None, template=None, time_limit=_SECONDS
    )
    texts = [Source(question.schema, "schema")] if question.schema.strip() else []
    result = analyze_sources([*texts, Source(question.sql, "sql")], request)
    statements = [each for each in result.statements if each.source_name == "sql"]
    return statements, [issue for issue in result.issues if issue.source_name != "schema"]


def _picture(drawn: Diagram, *, faint: bool) -> Picture:
    """A diagram as pictures of the graph are: a line stands for one step between two columns."""
    lines = tuple(replace(line, faint=faint and line.style is not Style.VALUE) for line in drawn.lines)
    ends = [
        (Node(each.source.box, each.source.port or WHOLE), Node(each.target.box, each.target.port or WHOLE))
        for each in lines
    ]
    steps = tuple((Step(*pair, _KIND[line.style], ""),) for pair, line in zip(ends, lines))
    shown = replace(drawn, lines=lines)
    return Picture(shown, lay_out(shown), steps, (), False)
