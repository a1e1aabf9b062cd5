"""Events name columns as the schema facet does; places inside columns stand in a facet of ours."""

import pytest
from tests.spark.agent.conftest import columns

pytestmark = pytest.mark.spark

ODD = (
    "id INT, xs ARRAY<INT>, m MAP<STRING, INT>, s STRUCT<a: INT, b: STRUCT<c: INT>>, js STRING, `x.y` INT, `p[]` INT"
)
QUERY = """
CREATE TABLE picked USING parquet AS
SELECT xs[0] AS x0, m['k'] AS mk, s.b.c AS sbc, get_json_object(js, '$.a.b') AS jab, `x.y` AS `u.v`, `p[]` AS p,
  named_struct('w', id, 'z', xs) AS st
FROM odd WHERE m['k'] > 1 AND `x.y` > 0
"""


@pytest.fixture
def odd(watch):
    watch.spark.sql(f"CREATE TABLE odd ({ODD}) USING parquet")
    yield
    for name in ("odd", "picked"):
        watch.spark.sql(f"DROP TABLE IF EXISTS {name}")


def test_every_field_is_a_column(watch, odd):
    event = watch.run(QUERY)
    (source,), (target,) = event["inputs"], event["outputs"]
    known = {field["name"] for field in source["facets"]["schema"]["fields"]}
    made = {field["name"] for field in target["facets"]["schema"]["fields"]}
    lineage = target["facets"]["columnLineage"]
    read = [each for field in lineage["fields"].values() for each in field["inputFields"]] + lineage["dataset"]
    assert set(lineage["fields"]) <= made
    assert {each["field"] for each in read} <= known
    assert columns(event) == {
        "x0": {"odd.xs"},
        "mk": {"odd.m"},
        "sbc": {"odd.s"},
        "jab": {"odd.js"},
        "u.v": {"odd.x.y"},
        "p": {"odd.p[]"},
        "st": {"odd.id", "odd.xs"},
    }


def test_paths_are_in_a_facet_of_ours(watch, odd):
    facet = watch.run(QUERY)["outputs"][0]["facets"]["headwater_columnPaths"]
    shown = {
        (each.get("field"), *each.get("path", ()), "<-", each["input"]["field"], *each.get("inputPath", ()))
        for each in facet["paths"]
    }
    assert shown == {
        ("x0", "<-", "xs", "[]"),
        ("mk", "<-", "m", "k"),
        ("sbc", "<-", "s", "b", "c"),
        ("jab", "<-", "js", "a", "b"),
        ("st", "w", "<-", "id"),
        ("st", "z", "<-", "xs"),
        (None, "<-", "m", "k"),
    }
