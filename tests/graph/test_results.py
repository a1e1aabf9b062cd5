"""Result files of other tools, in the forms that dbt 1.10, Great Expectations 1.24 and Soda 3.5 write."""

import json
from copy import deepcopy

import pytest

import headwater
from headwater.errors import InputError
from headwater.graph import GraphStore, LineageGraph
from headwater.graph.checks import read_checks
from headwater.graph.results import ingest_results, read_results
from headwater.lake.tables import Warehouse

RAISED = {"raised_exception": True, "exception_message": "no such column", "exception_traceback": "…"}
QUIET = {"raised_exception": False, "exception_message": None, "exception_traceback": None}


def dbt_test(id, *, column=None, about=None, attached="model.shop.silver", reads=("model.shop.silver",)):
    return {
        "resource_type": "test",
        "name": id.split(".")[2],
        "column_name": column,
        "test_metadata": about,
        "attached_node": attached,
        "depends_on": {"nodes": list(reads)},
    }


def model(name, **more):
    return {"resource_type": "model", "name": name, "alias": name, "database": "dev", "schema": "main"} | more


ORDERS = "{{ get_where_subquery(ref('orders')) }}"
MANIFEST = {
    "metadata": {"project_name": "shop"},
    "nodes": {
        "model.shop.silver": model("silver"),
        "model.shop.orders": model("orders", alias="orders_v2"),
        "test.shop.not_null_id.1": dbt_test("test.shop.not_null_id.1", column="id", about={"name": "not_null"}),
        "test.shop.unique_id.2": dbt_test("test.shop.unique_id.2", column="id", about={"name": "unique"}),
        "test.shop.few.3": dbt_test("test.shop.few.3", about={"name": "few"}),
        "test.shop.joined": dbt_test(
            "test.shop.joined", attached=None, reads=("model.shop.silver", "model.shop.orders")
        ),
        "test.shop.old.4": dbt_test(
            "test.shop.old.4",
            column="sku",
            attached=None,
            about={"name": "relationships", "kwargs": {"model": ORDERS}},
            reads=("model.shop.silver", "model.shop.orders"),
        ),
        "test.shop.source.5": dbt_test(
            "test.shop.source.5",
            column="id",
            attached=None,
            about={"name": "not_null"},
            reads=("source.shop.ext.raw",),
        ),
    },
    "sources": {"source.shop.ext.raw": {"name": "raw", "identifier": "raw_1", "schema": "ext", "database": None}},
}
OUTCOMES = {
    "model.shop.silver": ("success", None),
    "test.shop.not_null_id.1": ("pass", 0),
    "test.shop.unique_id.2": ("fail", 2),
    "test.shop.few.3": ("warn", 1),
    "test.shop.joined": ("fail", 7),
    "test.shop.old.4": ("error", None),
    "test.shop.source.5": ("skipped", None),
    "test.other.gone.6": ("fail", 1),
}
DBT = {
    "metadata": {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/run-results/v6.json",
        "generated_at": "2026-11-15T10:00:00.000000Z",
        "invocation_id": "4575a0ee-dd6c-4551-ada3-b6c09a45b882",
    },
    "results": [
        {"unique_id": id, "status": status, "failures": failures, "message": f"Got {failures} results"}
        for id, (status, failures) in OUTCOMES.items()
    ],
}


def expectation(kind, success, given, *, result=None, severity="critical", raised=QUIET):
    return {
        "success": success,
        "expectation_config": {"type": kind, "kwargs": {"batch_id": "b", **given}, "severity": severity},
        "result": result or {},
        "exception_info": raised,
    }


GREAT = {
    "success": False,
    "suite_name": "orders",
    "results": [
        expectation(
            "expect_column_values_to_not_be_null",
            False,
            {"column": "id"},
            result={"element_count": 4, "unexpected_count": 1},
        ),
        expectation("expect_table_row_count_to_be_between", True, {"min_value": 1}, result={"observed_value": 4}),
        expectation("expect_column_pair_values_to_be_equal", True, {"column_A": "id", "column_B": "sku"}),
        expectation(
            "expect_compound_columns_to_be_unique", False, {"column_list": ["id", "sku"]}, severity="warning"
        ),
        expectation("expect_column_max_to_be_between", False, {"column": "x"}, raised=RAISED),
        expectation("expect_column_max_to_be_between", False, {"column": "y"}, raised={"Metric(…)": RAISED}),
    ],
    "meta": {
        "great_expectations_version": "1.24.1",
        "run_id": {"run_name": None, "run_time": "2026-11-15T10:00:00+00:00"},
        "batch_spec": {"table_name": "orders", "schema_name": "shop"},
        "active_batch_definition": {"data_asset_name": "my asset"},
    },
}
SODA = {
    "definitionName": "nightly",
    "defaultDataSource": "pg",
    "scanStartTimestamp": "2026-11-15T10:00:00+00:00",
    "dataTimestamp": "2026-11-15T09:59:00+00:00",
    "checks": [
        {"name": "row_count > 5", "type": "generic", "table": "Orders", "column": None, "outcome": "fail"},
        {"name": "no nulls", "table": "orders", "column": "id", "outcome": "pass", "diagnostics": {"value": 0}},
        {"name": "avg(x)", "table": "orders", "column": "x", "outcome": "warn", "diagnostics": {"value": 20.5}},
        {"name": "not run", "table": "orders", "column": "x", "outcome": None},
        {"name": "of no table", "table": None, "column": None, "outcome": "fail"},
    ],
}


@pytest.fixture
def write(tmp_path):
    def written(value, name="results.json"):
        (tmp_path / name).write_text(json.dumps(value))
        return tmp_path / name

    return written


def said(found):
    shown = {}
    for dataset, result in found.checks:
        if result is not None:
            outcome = "pass" if result.success else result.severity
            shown.setdefault(dataset, []).append((result.name, result.column, outcome, result.actual))
    return shown


def test_dbt(write):
    write(MANIFEST, "manifest.json")
    found = read_results(write(DBT, "run_results.json"))
    assert said(found) == {
        "dev.main.silver": [
            ("not_null_id", "id", "pass", "0"),
            ("unique_id", "id", "error", "2"),
            ("few", None, "warn", "1"),
            ("joined", None, "error", "7"),
        ],
        "dev.main.orders_v2": [("joined", None, "error", "7")],
    }
    assert (found.left_out, found.job, found.run) == (2, "shop", DBT["metadata"]["invocation_id"])
    tried = [dataset for dataset, result in found.checks if result is None]
    assert tried == ["dev.main.orders_v2", "ext.raw_1"]  # by `ref`, where the manifest has no attached node


def test_dbt_without_its_manifest(write):
    for name in ("run_results.json", "results.json"):
        with pytest.raises(InputError, match="has the names of tests, not those of tables"):
            read_results(write(DBT, name))


def test_great_expectations(write):
    found = read_results(write(GREAT))
    assert said(found) == {
        "shop.orders": [
            ("expect_column_values_to_not_be_null", "id", "error", "1 of 4 unexpected"),
            ("expect_table_row_count_to_be_between(min_value=1)", None, "pass", "4"),
            ("expect_column_pair_values_to_be_equal", "id", "pass", None),
            ("expect_column_pair_values_to_be_equal", "sku", "pass", None),
            ("expect_compound_columns_to_be_unique", "id", "warn", None),
            ("expect_compound_columns_to_be_unique", "sku", "warn", None),
        ]
    }
    assert (found.left_out, found.job) == (2, "orders")


@pytest.mark.parametrize(("spec", "name"), [({"path": "/data/o.csv"}, "/data/o.csv"), ({}, "my asset")])
def test_great_expectations_of_files_and_frames(write, spec, name):
    other = deepcopy(GREAT)
    other["meta"]["batch_spec"] = spec
    assert list(said(read_results(write(other)))) == [name]


def test_older_great_expectations(write):
    older = deepcopy(GREAT)
    config = older["results"][0]["expectation_config"]
    config["expectation_type"] = config.pop("type")
    assert said(read_results(write(older))) == said(read_results(write(GREAT)))


def test_soda(write):
    found = read_results(write(SODA))
    assert said(found) == {
        "Orders": [("row_count > 5", None, "error", None)],
        "orders": [("no nulls", "id", "pass", "0"), ("avg(x)", "x", "warn", "20.5")],
    }
    assert found.left_out == 2


def test_other_files_are_no_results(write):
    for other in ([], {}, {"checks": []}, MANIFEST, {"meta": {}, "results": []}):
        assert read_results(write(other)) is None
    (path := write({})).write_text('{"eventTime": 1}\n{"eventTime": 2}\n')
    assert read_results(path) is None


@pytest.mark.parametrize("broken", [GREAT, SODA])
def test_files_that_lack_what_they_must_have(write, broken):
    other = deepcopy(broken)
    other["meta" if broken is GREAT else "checks"] = (
        {"great_expectations_version": "1"} if broken is GREAT else [{"name": 1}]
    )
    with pytest.raises(InputError, match="is not as its tool writes it"):
        read_results(write(other))


def test_names_meet_those_of_the_graph_and_the_lake(write, tmp_path):
    session = headwater.connect(str(tmp_path / "lake"))
    session.sql("CREATE DATABASE shop")
    session.sql("CREATE TABLE shop.orders (id BIGINT, x DOUBLE); INSERT INTO shop.orders VALUES (1, 2)")
    store = GraphStore(session.warehouse)
    late = deepcopy(SODA) | {"dataTimestamp": "2099-01-01T00:00:00+00:00"}
    ingest_results(store, write(late))
    ingest_results(store, write(late))  # twice is once
    rows = read_checks(store.state(), history=True)
    assert {row["dataset"] for row in rows} == {"shop.orders"}
    assert {(row["version"], row["source"]) for row in rows} == {("1", "soda")}
    assert len(rows) == 3
    marks = LineageGraph(store.state()).all_marks()
    assert {str(node) for node in marks} == {"shop.orders.*", "shop.orders.id", "shop.orders.x"}
    session.sql("INSERT OVERWRITE shop.orders VALUES (2, 2)")
    assert LineageGraph(store.state()).all_marks() == {}


def test_a_table_can_be_named(write, tmp_path):
    store = GraphStore(Warehouse(tmp_path / "lake"))
    ingest_results(store, write(GREAT), table="mart.orders")
    assert {row["dataset"] for row in read_checks(store.state())} == {"mart.orders"}
    assert {row["outcome"] for row in read_checks(store.state())} == {"pass", "warn", "fail"}
