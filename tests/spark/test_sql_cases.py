"""SQL statements as Spark analyzes them, against edges that a person has written down."""

from pathlib import Path

import pytest
from tests.golden.golden_cases import Case, describe, normalize, read_cases
from tests.spark.conftest import RELEASE

from headwater.spark import explain_lineage

pytestmark = [pytest.mark.spark, pytest.mark.golden]

FOLDER = Path(__file__).parent / "cases"
SINCE = {
    "ordered aggregates": (4, 0),
    "star except": (4, 0),
    "a cast that was written": (4, 0),
    "pipe syntax": (4, 0),
    "a SQL function is entered": (4, 0),
    "a table function of SQL is entered": (4, 0),
    "named parameters and session variables come from nowhere": (4, 0),
    "execute immediate": (4, 0),
    "recursive cte": (4, 1),
}
"""Cases whose SQL an older Spark does not read."""
CASES = [(path.stem, case) for path in sorted(FOLDER.glob("*.sql")) for case in read_cases(path)[1]]


def lines(result) -> list[str]:
    """What was found, with the names of tables as the cases write them."""
    found = [line for statement in result.statements for line in describe(statement)]
    return normalize([line.replace("cases.", "") for line in found])


@pytest.mark.parametrize(("topic", "case"), CASES, ids=[f"{topic}-{case.name}" for topic, case in CASES])
def test_the_edges_are_those_expected(case_tables, topic: str, case: Case):
    if SINCE.get(case.name, (3, 5)) > RELEASE:
        pytest.skip("this Spark does not read the statement")
    sql = case.sql.strip().removesuffix(";")
    assert lines(explain_lineage(case_tables, sql)) == normalize(case.expected)
