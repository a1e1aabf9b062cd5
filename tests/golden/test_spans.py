"""Edges point at the text that names their source, in every golden case."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.effort import one_in
from tests.golden.golden_cases import Case, lineages, read_cases

from headwater.lineage import StatementLineage
from headwater.model.edges import ELEMENT, Edge
from headwater.text import Source

FILES = sorted(Path(__file__).parent.glob("*/*.sql"))
ELSEWHERE = {  # the column takes part without being written where it does: through a record, a whole row, a keyword
    *("natural join", "pivot statement", "pivot in a cte", "dedupe by array_agg"),
    *("a table function of the script", "cursor for loop", "for loop over a query", "a loop over a query"),
    *("a table of a pivot", "a cursor in a loop", "the row that a condition chooses"),
    *("the row of an unknown table that a condition chooses", "a column and the table at once"),
    *("several files", "the rows of the statement before", "the rows of an earlier statement"),
}


def edges_of(path: Path) -> Iterator[tuple[Case, Source, StatementLineage, Edge]]:
    schema, cases = read_cases(path)
    for case in cases:
        source = Source(case.sql)
        for lineage in lineages(source, path.parent.name, schema):
            for edge in lineage.edges:
                yield case, source, lineage, edge


def names(edge: Edge) -> list[str]:
    return [name.lower() for name in (edge.source.column or "*", *edge.source.path) if name != ELEMENT]


@pytest.mark.parametrize("path", one_in(6, FILES), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_source_span_names_the_source(path: Path) -> None:
    for case, source, _, edge in edges_of(path):
        if edge.source_span is not None:
            text = source.excerpt(edge.source_span).lower()
            assert text.endswith("*") or any(name in text for name in names(edge)), (
                case.name,
                str(edge.source),
                text,
            )


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.parent.name != "googlesql" and path.stem != "programs"],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_a_source_named_in_its_statement_has_a_span(path: Path) -> None:
    """But for programs: what they run stands in a string, a cursor or a body elsewhere."""
    for case, source, lineage, edge in edges_of(path):
        assert lineage.span is not None
        written = re.findall(r"\w+", source.excerpt(lineage.span).lower())
        if case.name not in ELSEWHERE and names(edge)[-1] in written:
            assert edge.source_span is not None, (case.name, str(edge.source), str(edge.target))
