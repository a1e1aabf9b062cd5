"""A column that two clauses of a MERGE set in different ways has an edge for each, with its own expression."""

import pytest

import headwater
from headwater.analysis.analyze import Request
from headwater.graph import GraphChange, GraphStore, LineageGraph
from headwater.graph.collect import collect
from headwater.graph.formats import tree
from headwater.model.edges import InfluenceClass
from headwater.text import Source

SCHEMA = {"t": {"id": "INT64", "x": "INT64", "n": "INT64"}, "s": {"id": "INT64", "a": "INT64", "ok": "BOOL"}}
SQL = """\
MERGE INTO t USING s ON t.id = s.id
WHEN MATCHED AND s.ok THEN UPDATE SET x = s.a + 1, n = s.a
WHEN MATCHED THEN UPDATE SET x = coalesce(s.a, 0)
WHEN NOT MATCHED THEN INSERT (id, x, n) VALUES (s.id, (s.a + 1) * 2, s.a)
"""
WAYS = ["s.a + 1", "coalesce(s.a, 0)", "(s.a + 1) * 2"]


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "tsql"])
def test_every_clause_keeps_its_expression(dialect):
    edges = headwater.analyze(SQL, dialect=dialect, schema=SCHEMA).edges
    values = [edge for edge in edges if edge.kind.is_direct and str(edge.target) == "t.x"]
    found = [(edge.expression, SQL[edge.source_span.start :][:3]) for edge in values]
    assert [text for text, _ in found] == WAYS
    assert {place for _, place in found} == {"s.a"}
    assert len([edge for edge in edges if str(edge.target) == "t.n"]) == 1  # set in the same way twice


def test_the_graph_shows_all_of_them(tmp_path):
    store = GraphStore(str(tmp_path / "lake"))
    facts = collect([Source(SQL, "m.sql")], Request(dialect="snowflake", schema=SCHEMA))
    store.apply(GraphChange(facts, record={"kind": "harvest"}))
    graph = LineageGraph(store.state())
    answer = graph.trace("t.x", influences=(InfluenceClass.VALUE,))
    [step] = answer.steps
    assert step.expression == "; ".join(WAYS)
    assert f"s.a  TRANSFORMATION {'; '.join(WAYS)}  m.sql:2" in tree(answer)


def test_the_snapshot_of_a_merge_says_both(tmp_path):
    with headwater.connect(str(tmp_path / "lake")) as session:
        session.sql("CREATE TABLE t (id BIGINT NOT NULL, x BIGINT, PRIMARY KEY (id)); INSERT INTO t VALUES (1, 1)")
        session.sql("CREATE TABLE s (id BIGINT, a BIGINT); INSERT INTO s VALUES (1, 5), (2, 6)")
        session.sql(
            "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET x = s.a + 1 "
            "WHEN NOT MATCHED THEN INSERT (id, x) VALUES (s.id, s.a * 2)"
        )
        origin = session.table("t").snapshot().origin
    assert [each.expression for each in origin.columns if each.column == "x"] == ["s.a + 1", "s.a * 2"]
