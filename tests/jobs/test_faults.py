"""A unit that makes Headwater fail is one error with its file and line; the rest of the harvest is as without it."""

import pytest

from headwater.graph import GraphStore, LineageGraph
from headwater.graph.tables import ISSUES, STATEMENTS
from headwater.jobs.harvest import runner
from headwater.jobs.harvest import unit_analysis as analysis
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from headwater.lake.tables import Warehouse
from tests.jobs.test_harvest import estate_of

BLOCKS = "-- more blocks than Python has stack for\n" + "BEGIN " * 3000 + "SELECT 1;" + "END; " * 3000
TEXTS = [
    ("1.sql", "CREATE TABLE ds.a AS SELECT id FROM raw.orders"),
    ("2.sql", BLOCKS),
    ("3.sql", "CREATE TABLE ds.b AS SELECT id FROM ds.a"),
]
SCHEMA = {"raw.orders": {"id": "INT64"}}


def check(store: GraphStore, statement: str = "sql/2.sql#0", line: int = 1) -> None:
    """The graph has the lineage of the good scripts, and one error for the bad one."""
    state = store.state()
    assert [str(node) for node in LineageGraph(state).trace("ds.b.id").nodes] == ["ds.a.id", "raw.orders.id"]
    (issue,) = [row for row in state.read(ISSUES).to_pylist() if row["code"] == "INTERNAL_ERROR"]
    assert (issue["severity"], issue["statement"], issue["line"]) == ("error", statement, line)
    statuses = {row["statement"]: row["status"] for row in state.read(STATEMENTS).to_pylist()}
    assert statuses[statement] == "error"


def test_a_unit_that_fails_does_not_stop_the_harvest(tmp_path):
    store = GraphStore(Warehouse(tmp_path / "lake"))
    options = HarvestOptions(schema=SCHEMA)
    assert harvest(store, estate_of(TEXTS, dialect="bigquery"), options).findings == 1
    check(store)
    assert harvest(store, estate_of(TEXTS, dialect="bigquery"), options).analysed == 0


@pytest.mark.spark
def test_a_unit_that_fails_does_not_stop_the_harvest_on_spark(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "SMALLEST", 1)
    store = GraphStore(Warehouse(tmp_path / "lake"))
    harvest(store, estate_of(TEXTS, dialect="bigquery"), HarvestOptions(schema=SCHEMA, master="local[2]"))
    check(store)


@pytest.mark.parametrize("fault", [TypeError("no"), RecursionError(), KeyError("x")])
def test_a_fault_outside_the_statements_does_not_stop_the_harvest(tmp_path, monkeypatch, fault):
    real = analysis.moved_to_template

    def failing(lineage, *rest):
        if str(lineage.target) == "ds.bad":
            raise fault
        return real(lineage, *rest)

    monkeypatch.setattr(analysis, "moved_to_template", failing)
    store = GraphStore(Warehouse(tmp_path / "lake"))
    texts = [TEXTS[0], ("2.sql", "SELECT 1 AS one;\n\n  CREATE TABLE ds.bad AS SELECT id FROM ds.a"), TEXTS[2]]
    harvest(store, estate_of(texts), HarvestOptions(schema=SCHEMA))
    check(store, "sql/2.sql#1", 3)


def test_a_row_that_arrow_cannot_hold_fails_alone(tmp_path, monkeypatch):
    real = analysis.add_issues

    def add_odd(facts, statement, issues):
        real(facts, statement, issues)
        if "2.sql" in statement:
            facts.add(ISSUES, statement=statement, number=0, code=object())

    monkeypatch.setattr(analysis, "add_issues", add_odd)
    store = GraphStore(Warehouse(tmp_path / "lake"))
    texts = [TEXTS[0], ("2.sql", "SELECT id FROM ds.a"), TEXTS[2]]
    harvest(store, estate_of(texts, dialect="bigquery"), HarvestOptions(schema=SCHEMA))
    check(store)
