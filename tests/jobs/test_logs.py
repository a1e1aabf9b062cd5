"""Query logs as warehouses export them: the fields have the names that their documentation gives."""

import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from headwater.cli.main import run
from headwater.errors import InputError
from headwater.graph import GraphStore, table_drift
from headwater.graph.logged import TableDrift
from headwater.graph.tables import STATEMENTS
from headwater.jobs.harvest.harvest import harvest
from headwater.jobs.harvest.sources import read_estate


def bigquery_table(dataset, table):
    return {"project_id": "proj", "dataset_id": dataset, "table_id": table}


BIGQUERY = [
    {
        "job_id": "j1",
        "creation_time": "2026-11-01 10:00:00.5 UTC",
        "user_email": "ann@example.com",
        "project_id": "proj",
        "query": "CREATE TABLE mart.daily AS SELECT o.id, p.name FROM shop.orders o, shop.people p WHERE p.id = o.id",
        "referenced_tables": [bigquery_table("shop", name) for name in ("orders", "customers", "rates")],
        "destination_table": bigquery_table("mart", "daily$20261101"),
    },
    {
        "job_id": "j0",
        "creation_time": "2026-10-01 10:00:00 UTC",
        "project_id": "proj",
        "query": "CREATE VIEW shop.people AS SELECT id, name FROM shop.customers",
        "referenced_tables": [],
    },
    {
        "job_id": "j2",
        "creation_time": "2026-11-02 10:00:00 UTC",
        "project_id": "proj",
        "query": "SELECT id FROM `proj.shop.events_*` WHERE id = 3",
        "referenced_tables": [bigquery_table("shop", "events_20260101")],
        "destination_table": bigquery_table("_abc", "anon1"),  # where BigQuery keeps what a SELECT gives
    },
]
SNOWFLAKE = {
    "QUERY_ID": ["q1", "q2"],
    "QUERY_TEXT": ["insert into daily\nselect id, amount from orders", "select id from orders"],
    "USER_NAME": ["ANN", "BOB"],
    "START_TIME": ["2026-01-25 16:17:47.388 +0000", "2026-01-26 16:17:47.388 +0000"],
    "DATABASE_NAME": ["SHOP", "SHOP"],
    "SCHEMA_NAME": ["PUBLIC", "OTHER"],
    "BASE_OBJECTS_ACCESSED": [
        json.dumps(
            [
                {"objectDomain": "Table", "objectName": "SHOP.PUBLIC.ORDERS", "columns": []},
                {"objectDomain": "FUNCTION", "objectName": "SHOP.PUBLIC.F"},
            ]
        ),
        json.dumps([{"objectDomain": "Table", "objectName": "SHOP.PUBLIC.ORDERS"}]),
    ],
    "OBJECTS_MODIFIED": [json.dumps([{"objectDomain": "Table", "objectName": "SHOP.PUBLIC.DAILY"}]), "[]"],
}
TRINO = [
    {
        "createTime": "2026-01-25T16:17:47.388Z",
        "context": {"user": "ann", "catalog": "hive", "schema": "web"},
        "metadata": {"queryId": "t1", "query": "INSERT INTO daily SELECT user_id FROM clicks"},
        "ioMetadata": {
            "inputs": [{"catalogName": "hive", "schema": "web", "table": "clicks", "columns": ["user_id"]}],
            "output": {"catalogName": "hive", "schema": "web", "table": "daily"},
        },
    },
    {
        "createTime": 1769357867.388,
        "context": {"user": "ann", "catalog": None, "schema": None},
        "metadata": {"queryId": "t2", "query": "SELECT user_id FROM hive.web.clicks"},
        "ioMetadata": {"inputs": [{"catalogName": "hive", "schema": "web", "table": "users"}], "output": None},
    },
]


def written(folder, name, rows):
    """A log in one of the kinds of files."""
    path = folder / name
    columns = rows if isinstance(rows, dict) else {key: [row.get(key) for row in rows] for key in rows[0]}
    match path.suffix:
        case ".json":
            path.write_text(json.dumps(rows))
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case ".parquet":
            pyarrow.parquet.write_table(pa.table(columns), path)
        case ".csv":
            pa.csv.write_csv(pa.table(columns), path)
    return str(path)


@pytest.mark.parametrize("kind", ["json", "jsonl", "parquet"])
def test_bigquery(tmp_path, kind):
    log = written(tmp_path, f"log.{kind}", BIGQUERY)
    scripts = {script.name.rpartition(":")[2]: script for script in read_estate([log]).scripts}
    assert list(scripts) == ["j0", "j1", "j2"]
    assert {script.dialect for script in scripts.values()} == {"bigquery"}
    assert str(scripts["j1"].time) == "2026-11-01 10:00:00.500000+00:00"
    assert (scripts["j1"].user, scripts["j1"].namespace) == ("ann@example.com", ("proj", None))
    assert scripts["j1"].observed_reads == ("proj.shop.orders", "proj.shop.customers", "proj.shop.rates")
    assert scripts["j1"].observed_writes == ("proj.mart.daily",)
    assert scripts["j2"].observed_writes == ()
    store = GraphStore(str(tmp_path / "lake"))
    harvest(store, read_estate([log]))
    drift = TableDrift(f"{log}:j1#0", "reads", (), ("proj.shop.rates",))
    assert table_drift(store.state()) == [drift], "customers lie beneath the view that the text reads"


def test_snowflake(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for kind in ("csv", "parquet"):
        scripts = read_estate([written(tmp_path, f"log.{kind}", SNOWFLAKE)]).scripts
        assert [(each.dialect, each.user, each.namespace) for each in scripts] == [
            ("snowflake", "ANN", ("SHOP", "PUBLIC")),
            ("snowflake", "BOB", ("SHOP", "OTHER")),
        ]
        assert scripts[0].observed_reads == ("SHOP.PUBLIC.ORDERS",)
        assert str(scripts[0].time) == "2026-01-25 16:17:47.388000+00:00"
    assert run(["harvest", "log.csv", "-q"]) == 0
    assert run(["drift"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "log.csv:q2#0 reads",
        "  only in SQL   SHOP.OTHER.orders",
        "  only in log   SHOP.PUBLIC.ORDERS",
    ]
    assert run(["drift", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)[0]["only_done"] == ["SHOP.PUBLIC.ORDERS"]


def test_trino(tmp_path):
    log = written(tmp_path, "events.json", TRINO)
    lines = written(tmp_path, "events.jsonl", TRINO)
    scripts = read_estate([log]).scripts
    assert [each.text for each in scripts] == [each.text for each in read_estate([lines]).scripts]
    assert (scripts[0].dialect, scripts[0].user, scripts[0].namespace) == ("trino", "ann", ("hive", "web"))
    assert {script.time.year for script in scripts} == {2026}
    store = GraphStore(str(tmp_path / "lake"))
    harvest(store, read_estate([log]))
    assert table_drift(store.state()) == [
        TableDrift(f"{log}:t2#0", "reads", ("hive.web.clicks",), ("hive.web.users",))
    ]
    statements = store.state().read(STATEMENTS).to_pylist()
    assert {row["target"] for row in statements if row["type"] == "INSERT"} == {"hive.web.daily"}


def test_databricks_and_redshift(tmp_path):
    """Databricks' lineage tables give lists of names. Redshift's database is no part of the names of tables."""
    databricks = {
        "statement_id": ["s1"],
        "statement_text": ["INSERT INTO main.mart.daily SELECT id FROM main.raw.orders"],
        "executed_by": ["ann@example.com"],
        "start_time": ["2026-01-25T16:17:47Z"],
        "source_tables": [["main.raw.orders"]],
        "target_tables": [["main.mart.daily"]],
    }
    redshift = {
        "query_id": [7],
        "query_text": ["INSERT INTO daily SELECT id FROM raw.orders"],
        "user_name": ["ann"],
        "start_time": ["2026-01-25 16:17:47.388"],
        "database_name": ["dev"],
        "schema_name": ["public"],
    }
    first = written(tmp_path, "databricks.parquet", databricks)
    second = written(tmp_path, "redshift.csv", redshift)
    estate = read_estate([f"databricks={first}", f"redshift={second}"])
    assert [(each.user, each.namespace, each.observed_reads) for each in estate.scripts] == [
        ("ann@example.com", (None, None), ("main.raw.orders",)),
        ("ann", (None, "public"), ()),
    ]
    store = GraphStore(str(tmp_path / "lake"))
    harvest(store, estate)
    assert table_drift(store.state()) == []
    statements = store.state().read(STATEMENTS).to_pylist()
    assert {row["target"] for row in statements} == {"main.mart.daily", "public.daily"}


def test_the_same_text_in_two_schemas_is_two_statements(tmp_path):
    rows = [
        {"query": "INSERT INTO d SELECT a FROM t WHERE a = 1", "schema_name": "x", "time": "2026-01-01"},
        {"query": "INSERT INTO d SELECT a FROM t WHERE a = 2", "schema_name": "y", "time": "2026-01-02"},
        {"query": "INSERT INTO d SELECT a FROM t WHERE a = 3", "schema_name": "x", "time": "2026-01-03"},
        {"query": " ", "schema_name": "x"},
        {"query": None},
    ]
    scripts = read_estate([written(tmp_path, "log.jsonl", rows)], "postgres").scripts
    assert [(each.text[-1], each.namespace[1]) for each in scripts] == [("2", "y"), ("3", "x")]


def test_tables_of_an_answer_from_the_cache_are_those_of_the_run_before(tmp_path):
    rows = [BIGQUERY[2], BIGQUERY[2] | {"job_id": "j3", "creation_time": "2026-11-03", "referenced_tables": []}]
    (script,) = read_estate([written(tmp_path, "log.json", rows)]).scripts
    assert (script.name.rpartition(":")[2], script.observed_reads) == ("j3", ("proj.shop.events_20260101",))


def test_a_new_word_of_the_warehouse_is_noticed(tmp_path):
    """The tables that a warehouse names belong to what a statement is known by."""
    log = written(tmp_path, "log.json", BIGQUERY[:1])
    store = GraphStore(str(tmp_path / "lake"))
    harvest(store, read_estate([log]))
    assert harvest(store, read_estate([log])).analysed == 0
    assert [each.only_said for each in table_drift(store.state())] == [("proj.shop.people",)]
    row = BIGQUERY[0] | {"referenced_tables": [bigquery_table("shop", name) for name in ("orders", "people")]}
    written(tmp_path, "log.json", [row])
    assert harvest(store, read_estate([log])).analysed == 1
    assert table_drift(store.state()) == []


def test_ids_that_come_twice_and_queries_that_failed(tmp_path):
    failed = TRINO[0] | {"metadata": {"queryId": "t3", "query": "SELECT 1 FROM nowhere", "queryState": "FAILED"}}
    again = TRINO[1] | {"metadata": {"queryId": "t1", "query": "SELECT 2 FROM hive.web.other"}}
    scripts = read_estate([written(tmp_path, "log.json", [*TRINO, failed, again])]).scripts
    assert [each.name.rpartition(":")[2] for each in scripts] == ["t1", "t2", "2"]


def test_logs_that_cannot_be_read(tmp_path):
    for name, text in (("a.json", "{"), ("b.jsonl", "no\n"), ("c.csv", 'a,b\n"'), ("d.parquet", "x")):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=name):
            read_estate([str(tmp_path / name)])
    (tmp_path / "e.json").write_text("[]")
    assert read_estate([str(tmp_path / "e.json")]).scripts == ()
