"""SQL statements as Spark analyzes them, against edges that a person has written down."""

from pathlib import Path

import pytest
from tests.golden.golden_cases import Case, describe, normalize, read_cases

from headwater.spark import explain_lineage

pytestmark = [pytest.mark.spark, pytest.mark.golden]

FOLDER = Path(__file__).parent / "cases"
CASES = [(path.stem, case) for path in sorted(FOLDER.glob("*.sql")) for case in read_cases(path)[1]]


def lines(result) -> list[str]:
    """What was found, with the names of tables as the cases write them."""
    found = [line for statement in result.statements for line in describe(statement)]
    return normalize([line.replace("cases.", "") for line in found])


@pytest.mark.parametrize(("topic", "case"), CASES, ids=[f"{topic}-{case.name}" for topic, case in CASES])
def test_the_edges_are_those_expected(case_tables, topic: str, case: Case):
    sql = case.sql.strip().removesuffix(";")
    assert lines(explain_lineage(case_tables, sql)) == normalize(case.expected)
