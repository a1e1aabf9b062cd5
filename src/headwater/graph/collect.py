"""The facts of SQL texts on one machine: what a harvest does, without Spark, for a folder, a test or a comparison."""

from collections.abc import Iterable
from itertools import groupby

from headwater.analysis.analyze import Request, analyze_sources
from headwater.graph.facts import Facts, StatementPlace, add_issues, add_schema, add_statement, with_results
from headwater.lineage.result import AnalyzeResult
from headwater.text import Source


def collect(sources: Iterable[Source], request: Request) -> Facts:
    """The facts of texts, read in order as one script."""
    return facts_of(analyze_sources(sources, request), request.dialect)


def facts_of(result: AnalyzeResult, dialect: str | None) -> Facts:
    """The facts of texts that were analysed together."""
    facts = Facts()
    for name, of_text in groupby(result.statements, key=lambda each: each.source_name):
        lineages = list(of_text)
        first = lineages[0].index
        for index, same in groupby(with_results(lineages, name, -first), key=lambda each: each.index):
            place = StatementPlace(index - first, result.sources.get(name) or Source("", name), dialect)
            add_statement(facts, same, place)
    loose = [issue for issue in result.issues if issue.statement_index is None]
    for name in dict.fromkeys(issue.source_name for issue in loose):
        add_issues(facts, name or "sql", [issue for issue in loose if issue.source_name == name])
    if result.resolved_schema is not None:
        add_schema(facts, result.resolved_schema)
    return facts
