"""The facts of SQL texts on one machine: what a harvest does, without Spark, for a folder, a test or a comparison."""

from collections.abc import Iterable
from itertools import groupby

from headwater.analysis.door import Request, analyze_sources
from headwater.graph.facts import Facts, StatementPlace, add_issues, add_schema, add_statement
from headwater.text import Source


def collect(sources: Iterable[Source], request: Request) -> Facts:
    """The facts of texts, read in order as one script."""
    result = analyze_sources(sources, request)
    facts = Facts()
    number = 0
    last: str | None = None
    for (name, _), lineages in groupby(result.statements, key=lambda each: (each.source_name, each.index)):
        number = number + 1 if name == last and facts.rows["statements"] else 0
        last = name
        place = StatementPlace(number, result.sources.get(name) or Source("", name), request.dialect)
        add_statement(facts, lineages, place)
    loose = [issue for issue in result.issues if issue.statement_index is None]
    for name in dict.fromkeys(issue.source_name for issue in loose):
        add_issues(facts, name or "sql", [issue for issue in loose if issue.source_name == name])
    if result.resolved_schema is not None:
        add_schema(facts, result.resolved_schema)
    return facts
