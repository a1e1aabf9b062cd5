"""Walks on Spark give the answers of walks in memory."""

import pytest

from headwater.errors import NotFoundError
from headwater.graph import GraphStore, LineageGraph
from headwater.graph.index import Direction
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from headwater.jobs.walk import walk_on_spark
from headwater.lake.tables import Warehouse
from headwater.model.edges import InfluenceClass
from tests.jobs import estates
from tests.jobs.test_harvest import estate_of

pytestmark = pytest.mark.spark
NESTED = """
CREATE TABLE s.a AS SELECT STRUCT(id AS x, amount AS y) AS both, status FROM raw.orders;
CREATE TABLE s.b AS SELECT both.x AS x, status FROM s.a WHERE both.y > 1;
CREATE TABLE s.c AS SELECT count(*) AS n, max(x) AS x FROM s.b;
"""
QUESTIONS = [
    ("raw.orders.id", Direction.DOWNSTREAM, None, tuple(InfluenceClass)),
    ("raw.orders", Direction.DOWNSTREAM, 1, (InfluenceClass.VALUE,)),
    ("s.c", Direction.UPSTREAM, None, tuple(InfluenceClass)),
    ("S.C.x", Direction.UPSTREAM, 1, tuple(InfluenceClass)),
    ("stg.*", Direction.UPSTREAM, 2, tuple(InfluenceClass)),
    ("mart.*", Direction.DOWNSTREAM, None, (InfluenceClass.VALUE, InfluenceClass.ROW)),
]


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    store = GraphStore(Warehouse(tmp_path_factory.mktemp("walk") / "lake"))
    texts = [
        (f"{seed}/{name}", text)
        for seed in range(200, 206)
        for name, text in estates.scripts(seed, dialect="bigquery")
    ]
    harvest(store, estate_of([("n.sql", NESTED), *texts], dialect="bigquery"), HarvestOptions(schema=estates.SCHEMA))
    return store.state()


@pytest.mark.parametrize(("name", "direction", "depth", "influences"), QUESTIONS)
def test_spark_walks_as_memory_does(spark, state, name, direction, depth, influences):
    graph = LineageGraph(state)
    ask = graph.trace if direction is Direction.UPSTREAM else graph.impact
    expected = ask(name, depth=depth, influences=influences)
    answer = walk_on_spark(spark, state, name, direction, depth=depth, influences=influences)
    assert answer.starts == expected.starts
    assert answer.distance == expected.distance
    assert set(answer.steps) == set(expected.steps)
    assert answer.cut == expected.cut


def test_a_name_that_means_nothing(spark, state):
    with pytest.raises(NotFoundError, match="nothing in the graph is called"):
        walk_on_spark(spark, state, "no.such.table", Direction.UPSTREAM)
