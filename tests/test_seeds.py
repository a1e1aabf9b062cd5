"""The page of the designs: what it names is there, and the tests that it names exist."""

import importlib
import sys

import pytest

from tests.pages import ROOT

sys.path.insert(0, str(ROOT / "docs"))
seeds = importlib.import_module("seeds")
sys.path.remove(str(ROOT / "docs"))


def test_every_row_is_there_and_has_a_test():
    assert [each for row in seeds.rows() for each in seeds.missing(row)] == []


def test_the_registry_has_all_designs():
    rows = seeds.rows()
    assert {row.design for row in rows} == {
        "The ZetaSQL toolkit",
        "Schema handling",
        "The agent for Spark",
        "The table store",
    }
    assert len({(row.design, row.part, row.item) for row in rows}) == len(rows)


@pytest.mark.parametrize(
    ("where", "test"),
    [
        ("py:headwater.zetasql.Nothing", "tests/test_seeds.py::test_nothing"),
        ("self:headwater.zetasql.ParentColumnFinder.nothing", "tests/nothing.py::test_x"),
        ("cmd:nothing", "tests/golden/googlesql/select.sql::no such case"),
        ("opt:nothing", "tests/test_seeds.py::test_nothing"),
        ("doc:spec/wal.md|nothing of the kind", "tests/test_seeds.py::test_nothing"),
        ("file:nothing", "tests/test_seeds.py::test_nothing"),
        ("nothing", "tests/test_seeds.py::test_nothing"),
    ],
)
def test_what_is_missing_is_found(where, test):
    assert len(seeds.missing(seeds.Row("design", "part", "item", where, test))) == 2
