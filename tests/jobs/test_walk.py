"""Questions on Spark give the answers of questions in memory."""

import random
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from headwater.cli.main import run
from headwater.errors import MemoryLimitError, NotFoundError
from headwater.graph import GraphChange, GraphStore, LineageGraph
from headwater.graph.store import arrow_schema
from headwater.graph.tables import CHECKS, COLUMNS, EDGES
from headwater.jobs import walk
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from headwater.jobs.walk import SparkGraph
from headwater.lake.tables import Warehouse
from headwater.model.edges import InfluenceClass, Kind
from tests.effort import first_then_slow
from tests.jobs import estates
from tests.jobs.test_harvest import estate_of

pytestmark = pytest.mark.spark
NESTED = """
CREATE TABLE s.a AS SELECT STRUCT(id AS x, amount AS y) AS both, status FROM raw.orders;
CREATE TABLE s.b AS SELECT both.x AS x, status FROM s.a WHERE both.y > 1;
CREATE TABLE s.c AS SELECT count(*) AS n, max(x) AS x FROM s.b;
"""
QUESTIONS = [
    ("impact", "raw.orders.id", None, tuple(InfluenceClass)),
    ("impact", "raw.orders", 1, (InfluenceClass.VALUE,)),
    ("trace", "s.c", None, tuple(InfluenceClass)),
    ("trace", "S.C.x", 1, tuple(InfluenceClass)),
    ("trace", "stg.*", 2, tuple(InfluenceClass)),
    ("impact", "mart.*", None, (InfluenceClass.VALUE, InfluenceClass.ROW)),
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


@pytest.mark.parametrize("question", first_then_slow(QUESTIONS))
def test_spark_walks_as_memory_does(spark, state, question):
    verb, name, depth, influences = question
    with SparkGraph(spark, state) as graph:
        answer = getattr(graph, verb)(name, depth=depth, influences=influences)
    assert answer == getattr(LineageGraph(state), verb)(name, depth=depth, influences=influences)


def test_a_name_that_means_nothing(spark, state):
    with SparkGraph(spark, state) as graph, pytest.raises(NotFoundError, match="nothing in the graph is called"):
        graph.trace("no.such.table")


PARTS = ("a", "b", "a.x", "a.x.y", "a[].z", "ab", "*")


def random_graph(folder, seed):
    """A graph with cycles, fields inside fields, edges between whole tables, columns that nothing names, checks."""
    chance = random.Random(seed)
    ends = [(f"d.t{table}", column) for table in range(8) for column in PARTS]
    edges = {}
    for _ in range(60):
        (target, target_column), (source, source_column) = chance.choice(ends), chance.choice(ends)
        kind = chance.choice(list(Kind)).value
        row = dict.fromkeys(EDGES.names) | {"statement": f"f.sql#{chance.randrange(9)}", "kind": kind}
        row |= {"target": target, "target_column": target_column, "source": source, "source_column": source_column}
        row |= {"masking": False, "observed": False, "line": chance.randrange(99), "expression": source_column}
        edges[tuple(row[name] for name in EDGES.key)] = row
    columns = [dict.fromkeys(COLUMNS.names) | {"dataset": d, "column": c} for d, c in ends if c != "*"]
    checks = [
        dict.fromkeys(CHECKS.names)
        | {"run": "r", "dataset": dataset, "column": column, "check": "c", "outcome": chance.choice(["pass", "fail"])}
        | {"time": datetime(2026, 11, chance.randrange(1, 20), tzinfo=UTC)}
        for dataset, column in chance.sample(ends, 6)
    ]
    rows = {
        "checks": pa.Table.from_pylist(checks, arrow_schema(CHECKS)),
        "edges": pa.Table.from_pylist(list(edges.values()), arrow_schema(EDGES)),
        "columns": pa.Table.from_pylist(columns, arrow_schema(COLUMNS)),
    }
    GraphStore(str(folder)).apply(GraphChange(tables=rows, record={"kind": "harvest"}))


COMMANDS = [
    ("trace", "d.t1.a"),
    ("trace", "D.T2", "--depth", "2", "--influence", "value", "--format", "table"),
    ("impact", "d.t3.a.x", "--depth", "1", "--format", "csv"),
    ("impact", "d.t[45].*", "--fail-on", "d.t1*", "--json"),
    ("path", "d.t0", "d.t7.b", "--format", "mermaid"),
    ("path", "d.t6.ab", "d.t6.*"),
    ("unused", "--like", "d.t[0-3]*"),
    ("unused",),
    ("trace", "no.such"),
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_commands_answer_alike_with_and_without_a_master(spark, tmp_path, capsys, seed):
    random_graph(tmp_path / "wh", seed)
    for words in COMMANDS[seed % 2 :: 2] if seed else COMMANDS:
        said = []
        for more in ((), ("--master", "local[2]")):
            code = run([*words, "--warehouse", str(tmp_path / "wh"), *more])
            output = capsys.readouterr()
            said.append((code, output.out, output.err.split("hint:")[0]))
        assert said[0] == said[1], words


def test_an_answer_that_no_driver_should_hold_is_refused(spark, state, monkeypatch):
    monkeypatch.setattr(walk, "MOST_ROWS", 3)
    with SparkGraph(spark, state) as graph, pytest.raises(MemoryLimitError, match="more than 3 rows"):
        graph.impact("raw.orders")


def test_many_nodes_are_joined_by_a_shuffle(spark, state, monkeypatch):
    monkeypatch.setattr(walk, "_BROADCAST", 0)
    with SparkGraph(spark, state) as graph:
        assert graph.impact("raw.orders") == LineageGraph(state).impact("raw.orders")


def test_settings_need_a_master(tmp_path, capsys):
    assert run(["unused", "--conf", "a=b", "--warehouse", str(tmp_path)]) == 2
    assert "no --master" in capsys.readouterr().err
