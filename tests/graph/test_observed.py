"""Events in any order, any number of times, give one graph."""

import itertools
import random

import pytest
from tests.effort import THOROUGH

from headwater.events import (
    DatasetEvent,
    EventType,
    InputDataset,
    Job,
    OutputDataset,
    Run,
    RunEvent,
    by_key,
    column_lineage,
    decode,
    encode,
    new_run_id,
)
from headwater.events import facets as f
from headwater.events.event import Dataset
from headwater.events.naming import DatasetName
from headwater.events.sinks import open_sink
from headwater.graph import GraphStore, LineageGraph, drift
from headwater.graph.observed import dataset_id, ingest
from headwater.graph.tables import COLUMNS, FACT_TABLES, RUN_INPUTS, RUNS
from headwater.lake.tables import Warehouse
from headwater.model.edges import ColumnRef, Edge, Kind
from headwater.model.names import TableName

from .conftest import MARTS, STAGING, harvested

RUN = new_run_id()
LAKE = "headwater:/lake"


def edge(source, target, kind=Kind.IDENTITY, **more):
    (a, b), (c, d) = source.rsplit(".", 1), target.rsplit(".", 1)
    return Edge(ColumnRef(TableName.of(a), b), ColumnRef(TableName.of(c), d), kind, **more)


def assertions(*outcomes):
    """The facet of a check of `cents`, with one assertion for each outcome."""
    return f.DataQualityAssertionsFacet(
        assertions=tuple(f.Assertion(assertion=name, success=success, column="cents") for name, success in outcomes)
    )


def event(type, time, run=RUN, edges=(), **more):
    lineage = column_lineage(edges, lambda table: DatasetName(LAKE, str(table)))
    version = f.VersionFacet(dataset_version=more.pop("version", "7"))
    return RunEvent(
        event_type=type,
        event_time=f"2026-11-15T10:00:{time:02}Z",
        run=Run(
            run_id=run, facets=by_key(more.pop("error", None), f.ProcessingEngineFacet(version="4.3", name="spark"))
        ),
        job=Job(namespace="etl", name="nightly"),
        inputs=(
            InputDataset(
                namespace=LAKE,
                name="stg.orders",
                facets=by_key(version),
                input_facets=by_key(assertions(("not_null", time > 5))),
            ),
        ),
        outputs=(
            OutputDataset(
                namespace=LAKE,
                name="mart.revenue",
                facets=by_key(f.SchemaFacet(fields=(f.SchemaField(name="total", type="bigint"),)), *lineage),
                output_facets=by_key(f.OutputStatisticsFacet(row_count=3)) if type is EventType.COMPLETE else {},
            ),
        ),
    )


START = event(EventType.START, 1)
END = event(EventType.COMPLETE, 9, edges=[edge("stg.orders.cents", "mart.revenue.total", Kind.AGGREGATION)])
LATER = event(
    EventType.FAIL, 30, run=new_run_id(), error=f.ErrorMessageFacet(message="no", programming_language="JAVA")
)


def rows(store):
    state = store.state()
    return {spec.name: state.read(spec).to_pylist() for spec in FACT_TABLES}


@pytest.fixture
def seen(tmp_path):
    counter = itertools.count()

    def ingested(*batches):
        store = GraphStore(Warehouse(tmp_path / str(next(counter))))
        for batch in batches:
            _, bad = ingest(store, [decode(encode(each)) for each in batch])
            assert bad == []
        return store

    return ingested


def test_a_run_and_its_versions(seen):
    store = seen([START, END])
    [run] = rows(store)["runs"]
    assert (run["state"], run["job"], run["engine"]) == ("COMPLETE", "etl/nightly", "spark 4.3")
    assert (run["ended"] - run["started"]).seconds == 8
    uses = {row["role"]: row for row in rows(store)["run_inputs"]}
    assert (uses["input"]["dataset"], uses["input"]["version"], uses["input"]["columns"]) == (
        "stg.orders",
        "7",
        ["cents"],
    )
    assert (uses["output"]["rows"], uses["output"]["columns"]) == (3, ["total"])
    assert [str(node) for node in LineageGraph(store.state()).trace("mart.revenue.total").nodes] == [
        "stg.orders.cents"
    ]


def test_any_order_and_any_number_of_times(seen):
    wanted = rows(seen([START, END, LATER]))
    rng = random.Random(7)
    for order in itertools.islice(itertools.permutations([START, END, LATER]), 0, None, 1 if THOROUGH else 4):
        assert rows(seen(list(order))) == wanted
        assert rows(seen(*[[each] for each in order])) == wanted
        again = [list(order), [rng.choice(order)], list(reversed(order))]
        assert rows(seen(*again)) == wanted


def test_replaying_commits_nothing(seen):
    store = seen([START, END, LATER])
    before = {
        spec.name: snapshot and snapshot.snapshot_id
        for spec in FACT_TABLES
        if (snapshot := store.table(spec).snapshot())
    }
    ingest(store, [END, START])
    ingest(store, [LATER])
    after = {
        spec.name: snapshot and snapshot.snapshot_id
        for spec in FACT_TABLES
        if (snapshot := store.table(spec).snapshot())
    }
    assert after == before


def test_checks_of_a_run_count_as_it_said_last(seen):
    for order in ([START, END], [END, START]):
        [row] = rows(seen(order))["checks"]
        found = (row["dataset"], row["column"], row["check"], row["outcome"], row["version"], row["run"])
        assert found == ("stg.orders", "cents", "not_null", "pass", "7", RUN)


def test_checks_without_a_run(seen):
    facets = by_key(assertions(("unique", False), ("not_null", True)))
    store = seen(
        [
            DatasetEvent(event_time=moment, dataset=Dataset(namespace="n", name="t", facets=facets))
            for moment in ("2026-11-15T10:00:00Z", "2026-11-16T10:00:00Z")
        ]
    )
    assert [(row["check"], row["outcome"]) for row in rows(store)["checks"]] == [
        ("not_null", "pass"),
        ("unique", "fail"),
    ] * 2


def test_failures_are_kept(seen):
    failed = [row for row in rows(seen([START, END, LATER]))["runs"] if row["state"] == "FAIL"]
    assert [row["error"] for row in failed] == ["no"]


def test_bad_facets_are_named_and_the_rest_is_kept(seen):
    bad = RunEvent(
        run=Run(run_id=new_run_id()),
        job=Job(namespace="n", name="j"),
        outputs=(OutputDataset(namespace="n", name="t", facets={"columnLineage": {"fields": 1}}),),
    )
    store = seen([START])
    _, errors = ingest(store, [bad, END])
    assert len(errors) == 1
    assert "columnLineage" in errors[0].message
    assert {row["state"] for row in store.state().read(RUNS).to_pylist()} == {"COMPLETE"}


@pytest.mark.parametrize(
    ("namespace", "name", "wanted"),
    [
        ("headwater:/x", "db.t", ("db.t", "table")),
        ("file", "/data/x", ("/data/x", "file")),
        ("s3://b", "k", ("s3://b/k", "file")),
        ("kafka://h:1", "orders", ("kafka://h:1/orders", "topic")),
        ("bigquery", "p.d.t", ("p.d.t", "table")),
        ("postgres://h:1", "d.s.t", ("d.s.t", "table")),
        ("inmemory://", "v", ("v", "memory")),
    ],
)
def test_names(namespace, name, wanted):
    assert dataset_id(DatasetName(namespace, name)) == wanted


def test_a_table_goes_by_its_name_in_the_catalog(seen):
    link = f.SymlinksFacet(identifiers=(f.Identifier(namespace="hive://m:1", name="db.t", type="TABLE"),))
    store = seen([DatasetEvent(dataset=Dataset(namespace="file", name="/wh/t", facets=by_key(link)))])
    assert [row["dataset"] for row in rows(store)["datasets"]] == ["db.t"]


def test_tags_of_columns_come_along(seen):
    tags = {"tags": [{"key": "pii", "value": "true", "field": "email"}, {"key": "tier", "value": "1", "field": "x"}]}
    store = seen([DatasetEvent(dataset=Dataset(namespace="n", name="t", facets={"tags": tags}))])
    assert {row["column"]: row["tags"] for row in store.state().read(COLUMNS).to_pylist()} == {
        "email": ["pii"],
        "x": ["tier=1"],
    }


def test_drift_between_text_and_runs(store):
    harvested(store, ("staging.sql", STAGING), ("marts.sql", MARTS))
    ingest(store, [event(EventType.COMPLETE, 9, edges=[edge("stg.orders.discount", "mart.revenue.total")])])
    found = {str(each.target): each for each in drift(store.state())}
    total = found["mart.revenue.total"]
    assert [str(node) for node in total.only_said] == ["stg.orders.cents"]
    assert [str(node) for node in total.only_done] == ["stg.orders.discount"]
    assert not any(each.target.dataset.startswith("stg.") for each in found.values())


def test_the_sink_of_a_lake(tmp_path):
    sink = open_sink(f"lake:{tmp_path / 'w'}")
    for each in (START, END):
        sink.emit(each)
    assert sink.flush(60)
    assert sink.close().sent == 2
    state = GraphStore(str(tmp_path / "w")).state()
    assert state.read(RUN_INPUTS).num_rows == 2


def test_the_place_of_an_expression_comes_along(seen):
    made = edge(
        "stg.orders.cents", "mart.revenue.total", Kind.TRANSFORMATION, expression="f(x)", place="jobs/a.py:22"
    )
    store = seen([event(EventType.COMPLETE, 9, edges=[made])])
    [step] = LineageGraph(store.state()).trace("mart.revenue.total").steps
    assert (step.expression, step.place, step.observed) == ("f(x)", "jobs/a.py:22", True)
