"""From SQL text to its lineage: the function everything else goes through.
Sources are taken in order and share one schema, which each statement sees as those before it have left it. Templates
are rendered first, and every position in the answer is moved back into the template."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Literal

from msgspec import structs

from headwater.analysis.engines import Engine, open_front_end
from headwater.analysis.schemas import SchemaLike, import_schema
from headwater.analysis.substitution import substitute
from headwater.analysis.template import Rendered, TemplateOptions, is_template
from headwater.errors import Issue
from headwater.lineage.readings import Reading, restrict
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.result import AnalyzeResult
from headwater.lineage.script import TIME_LIMIT, analyze_script
from headwater.lineage.statement import StatementLineage, Status
from headwater.model.names import TableName, parse_table_name
from headwater.text import Source, Span
from headwater.zetasql.provider import TableProvider


@dataclass(frozen=True, slots=True)
class Request:
    """The settings of an analysis: everything but the text."""

    dialect: str | None = None
    schema: SchemaLike = None
    reading: Reading = Reading.FULL
    collapse: bool = False
    output: TableName | None = None
    engine: Engine = "auto"
    tables: TableProvider | None = None  # asked for GoogleSQL tables that the schema does not have
    template: TemplateOptions | None = field(default_factory=TemplateOptions)  # None: the text is no template
    time_limit: float = TIME_LIMIT


def analyze(
    sql: str,
    dialect: str | None = None,
    *,
    schema: SchemaLike = None,
    reading: Literal["value", "full"] | Reading = "full",
    collapse: bool = False,
    output: str | None = None,
    engine: Engine = "auto",
    tables: TableProvider | None = None,
    variables: Mapping[str, object] | None = None,
    name: str | None = None,
) -> AnalyzeResult:
    """The lineage of one or more statements.

    `schema` is a `SchemaMetadata`, a mapping of tables to columns, or the path of a schema file. `reading` is "value"
    for what values are made of, "full" for everything that decides them too. `collapse` leaves out struct and array
    paths. `output` names the target of bare SELECTs. `tables` is asked for GoogleSQL tables that the schema does not
    have (`headwater.zetasql.BigQueryTables()` asks BigQuery). `variables` are those of a template, `name` is shown
    with places in the text. Statements that cannot be read are issues in the result, not errors.

    >>> result = analyze("INSERT INTO d SELECT a + b AS c FROM t", schema={"t": ["a", "b"], "d": ["c"]})
    >>> [str(edge.source) for edge in result.edges]
    ['t.a', 't.b']

    RAISES: DialectError, SchemaError, InputError.
    """
    request = Request(
        dialect=dialect,
        schema=schema,
        reading=Reading(reading),
        collapse=collapse,
        output=None if output is None else parse_table_name(output),
        engine=engine,
        tables=tables,
        template=TemplateOptions(variables or {}),
    )
    return analyze_sources([Source(sql, name)], request)


def analyze_sources(
    sources: Iterable[Source], request: Request, *, progress: Callable[[Source], None] = lambda source: None
) -> AnalyzeResult:
    """The lineage of several texts in order; `progress` is told of each when it begins.
    Each text sees the tables that those before it have made, but not their temporary tables, nor what they USE.
    RAISES: DialectError, SchemaError, InputError."""
    front_end, dialect = open_front_end(request.dialect, request.engine, tables=request.tables)
    resolver = SchemaResolver(import_schema(request.schema, dialect), dialect=dialect)
    statements: list[StatementLineage] = []
    issues: list[Issue] = []
    kept: dict[str | None, Source] = {}
    first = 0
    for source in sources:
        progress(source)
        resolver.begin_script()
        kept[source.name] = source
        text = rendered(source, request.template, dialect)
        issues += text.issues
        last = -1
        for lineage in analyze_script(
            Source(text.text, source.name), front_end, resolver, output=request.output, time_limit=request.time_limit
        ):
            last = lineage.index
            lineage = moved_to_template(lineage, text, first, source.name)
            issues += lineage.issues
            statements.append(restrict(lineage, request.reading, collapse=request.collapse))
        first += last + 1
    return AnalyzeResult(tuple(statements), tuple(issues), request.reading, resolver, kept)


def rendered(source: Source, options: TemplateOptions | None, dialect: str) -> Rendered:
    """The SQL of a source. A text that only looks like a template, and is none, is SQL as it stands."""
    if options is None:
        return Rendered(source.text, source)
    if not is_template(source.text):
        return substitute(source, dialect, options.variables) or Rendered(source.text, source)
    # imported when it is first needed: Jinja takes a tenth of a second, and most texts are no templates
    made: Rendered = import_module("headwater.analysis.rendering").render(source, options)
    return made if made.text else dataclasses.replace(made, text=source.text)


def moved_to_template(lineage: StatementLineage, text: Rendered, first: int, name: str | None) -> StatementLineage:
    """A statement numbered through all sources, with its places in the template.

    A template in doubt makes its statements approximate.
    """

    def place(span: Span | None) -> Span | None:
        return None if span is None else text.span(span)

    index = first + lineage.index
    lineage = dataclasses.replace(
        lineage,
        index=index,
        status=Status.APPROXIMATE if lineage.status is Status.RESOLVED and text.issues else lineage.status,
        source_name=name,
        issues=tuple(
            dataclasses.replace(issue, span=place(issue.span), statement_index=index, source_name=name)
            for issue in lineage.issues
        ),
    )
    if not text.starts:
        return lineage
    return dataclasses.replace(
        lineage,
        span=place(lineage.span),
        target_span=place(lineage.target_span),
        sources=tuple(structs.replace(table, spans=tuple(map(text.span, table.spans))) for table in lineage.sources),
        columns=tuple(structs.replace(column, span=place(column.span)) for column in lineage.columns),
        edges=tuple(
            structs.replace(edge, source_span=place(edge.source_span), target_span=place(edge.target_span))
            for edge in lineage.edges
        ),
    )
