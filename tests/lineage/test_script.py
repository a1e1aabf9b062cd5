"""The loop over the statements of a script: one that makes a front end fail costs itself, nothing else."""

import dataclasses
from collections.abc import Iterator

import pytest

from headwater.errors import EngineError, IssueCode, MissingDependencyError, Severity
from headwater.lineage import SchemaResolver, StatementLineage, Status
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.script import Lowered, analyze_script
from headwater.sql.frontend import SqlFrontEnd
from headwater.text import Source

SCRIPT = "SELECT a FROM t;\n\n  SELECT b FROM t;\nSELECT c FROM t"


class Faulty(SqlFrontEnd):
    """Fails on the second statement: when it is lowered, when it is cut out, or when what it does is applied."""

    def __init__(self, fault: BaseException, place: str) -> None:
        super().__init__("postgres")
        self.fault, self.place = fault, place

    def split(self, source: Source) -> Iterator:
        for number, piece in enumerate(super().split(source)):
            if self.place == "split" and number == 1:
                raise self.fault
            yield piece

    def lower(self, statement, *, source, resolver, deadline) -> Lowered:
        lowered = super().lower(statement, source=source, resolver=resolver, deadline=deadline)
        if "b" not in source.excerpt(statement.span) or self.place == "split":
            return lowered
        if self.place == "apply":
            return dataclasses.replace(lowered, effects=("this is no effect",))
        if self.place == "trace":
            return dataclasses.replace(lowered, writes=("this is no write",))
        raise self.fault


def analyze(fault: BaseException, place: str) -> list[StatementLineage]:
    resolver = SchemaResolver(schema_of_mapping({"t": ["a", "b", "c"]}), dialect="postgres")
    return list(analyze_script(Source(SCRIPT, "etl.sql"), Faulty(fault, place), resolver))


FAULTS = (TypeError("no"), RecursionError(), KeyError("x"), AssertionError(), StopIteration(), RuntimeError("a\nb"))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("place", ["lower", "apply", "trace"])
def test_a_statement_that_fails_is_one_issue(fault, place):
    first, failed, last = analyze(fault, place)
    assert [str(each.edges[0].source) for each in (first, last)] == ["t.a", "t.c"]
    assert (failed.status, failed.index, failed.edges) == (Status.ERROR, 1, ())
    issue = failed.issues[-1]
    assert (issue.code, issue.severity) == (IssueCode.INTERNAL_ERROR, Severity.ERROR)
    assert (issue.source_name, issue.span.line, issue.span.column, issue.statement_index) == ("etl.sql", 3, 3, 1)
    assert "\n" not in issue.message
    if place == "lower":
        assert type(fault).__name__ in issue.message
        assert "test_script.py" in issue.message


def test_a_script_that_cannot_be_cut_further_is_one_issue_for_the_rest():
    first, failed = analyze(TypeError("no"), "split")
    assert str(first.edges[0].source) == "t.a"
    (issue,) = failed.issues
    assert (issue.code, issue.span.line, failed.index) == (IssueCode.INTERNAL_ERROR, 3, 1)
    assert Source(SCRIPT).excerpt(issue.span).startswith("SELECT b")


@pytest.mark.parametrize("fault", [MemoryError(), KeyboardInterrupt(), EngineError("x"), MissingDependencyError("x")])
@pytest.mark.parametrize("place", ["lower", "split"])
def test_what_concerns_more_than_the_statement_is_raised(fault, place):
    with pytest.raises(type(fault)):
        analyze(fault, place)
