"""DataFrames against edges that a person has written down."""

import pytest
from tests.golden.golden_cases import normalize
from tests.spark.conftest import RELEASE
from tests.spark.frames import FRAMES
from tests.spark.test_sql_cases import lines

from headwater.spark import lineage

pytestmark = [pytest.mark.spark, pytest.mark.golden]


@pytest.mark.parametrize(("build", "expected"), FRAMES, ids=[build.__name__ for build, _ in FRAMES])
def test_the_edges_are_those_expected(case_tables, build, expected):
    if build.__name__ in ("subquery_from_python", "exists_from_python") and RELEASE < (4, 0):
        pytest.skip("this Spark has no subqueries of DataFrames")
    assert lines(lineage(build(case_tables))) == normalize(expected)
