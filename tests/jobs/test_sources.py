"""What an estate is read from."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
import pytest

from headwater.cli.main import run
from headwater.errors import InputError
from headwater.graph import GraphStore, LineageGraph
from headwater.graph.tables import EDGES, STATEMENTS
from headwater.jobs.harvest.harvest import harvest
from headwater.jobs.harvest.sources import read_estate


def test_dialects_by_path(tmp_path):
    for name in ("bq", "sf"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.sql").write_text("SELECT 1 AS a")
    estate = read_estate([f"bigquery={tmp_path}/bq", f"{tmp_path}/sf"], "snowflake")
    assert [script.dialect for script in estate.scripts] == ["bigquery", "snowflake"]
    with pytest.raises(InputError, match="named twice"):
        read_estate([str(tmp_path / "bq"), str(tmp_path / "bq")])
    with pytest.raises(InputError, match="cannot read"):
        read_estate([str(tmp_path / "nowhere")])


def test_a_query_log(tmp_path):
    """Oldest first, each text once, with who ran it last and when."""
    rows = {
        "query_id": ["c", "a", "b"],
        "query_text": [
            "CREATE TABLE t AS SELECT 1 AS x",
            "INSERT INTO d SELECT x FROM t",
            "CREATE TABLE t AS SELECT 1 AS x",
        ],
        "user_name": ["ann", "bob", "cyd"],
        "start_time": ["2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z", "2026-01-01T00:00:00Z"],
    }
    log = tmp_path / "log.parquet"
    pyarrow.parquet.write_table(pa.table(rows), log)
    (tmp_path / "log.csv").write_text('sql,user\n"SELECT 1,\n 2",ann\n')
    (tmp_path / "log.jsonl").write_text(json.dumps({"query": "SELECT 1 AS a"}) + "\n")
    scripts = read_estate([str(log)], "postgres").scripts
    assert [(each.name, each.user) for each in scripts] == [(f"{log}:c", "ann"), (f"{log}:a", "bob")]
    store = GraphStore(str(tmp_path / "lake"))
    harvest(store, read_estate([str(log), str(tmp_path / "log.csv"), str(tmp_path / "log.jsonl")], "postgres"))
    row = store.state().read(STATEMENTS).filter(pa.compute.field("statement") == f"{log}:a#0").to_pylist()[0]
    assert (row["user"], row["reads"], row["target"]) == ("bob", ["t"], "d")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="no column with the text"):
        read_estate([str(tmp_path / "other.csv")])


def test_a_dbt_project_and_its_manifest(tmp_path):
    project = tmp_path / "project"
    (project / "models").mkdir(parents=True)
    (project / "macros").mkdir()
    (project / "dbt_project.yml").write_text("name: shop\n")
    (project / "macros" / "m.sql").write_text("{% macro m() %}{% endmacro %}")
    (project / "models" / "a_mart.sql").write_text("SELECT total\nFROM {{ ref('stg') }}")
    (project / "models" / "stg.sql").write_text("SELECT sum(amount) AS total FROM {{ source('raw', 'orders') }}")
    manifest = tmp_path / "manifest.json"
    node = {
        "resource_type": "model",
        "name": "m",
        "relation_name": '"db"."s"."m"',
        "original_file_path": "models/m.sql",
    }
    node["compiled_code"] = 'select id\nfrom "db"."s"."o"'
    test = {"resource_type": "test", "name": "t", "raw_code": "select 1"}
    manifest.write_text(
        json.dumps({"metadata": {"adapter_type": "postgres"}, "nodes": {"model.m": node, "test.t": test}})
    )
    store = GraphStore(str(tmp_path / "lake"))
    assert harvest(store, read_estate([f"postgres={project}", str(manifest)])).statements == 3
    graph = LineageGraph(store.state())
    answer = graph.trace("a_mart.total")
    assert [str(node) for node in answer.nodes] == ["stg.total", "raw.orders.amount"]
    assert {step.place for step in answer.steps} == {f"{project}/models/a_mart.sql:1", f"{project}/models/stg.sql:1"}
    assert [str(node) for node in graph.trace("db.s.m.id").nodes] == ["db.s.o.id"]
    (tmp_path / "bad_manifest.json").write_text("{}")
    with pytest.raises(InputError, match="no dbt manifest"):
        read_estate([str(tmp_path / "bad_manifest.json")])


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "a.sql").write_text("CREATE TABLE d AS SELECT a FROM t;\nSELEC 1;")
    event = {
        "eventTime": "2026-01-01T00:00:00Z",
        "eventType": "COMPLETE",
        "producer": "https://example.com",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "01941f29-7c00-7000-8000-000000000000"},
        "job": {"namespace": "n", "name": "j"},
        "inputs": [],
        "outputs": [{"namespace": "headwater:/lake", "name": "shop.o"}],
    }
    (tmp_path / "events.ndjson").write_text(json.dumps(event) + "\n")
    words = ["harvest", "sql", "events.ndjson", "--dialect", "postgres", "--warehouse", "lake"]
    assert run([*words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["statements"], said["findings"], said["events"]) == (2, 1, ["events.ndjson"])
    assert run([*words, "--strict"]) == 1
    assert "0 statements analysed in" in capsys.readouterr().out
    state = GraphStore("lake").state()
    assert set(state.read(EDGES).column("target").to_pylist()) == {"d"}
    assert [row["kind"] for row in GraphStore("lake").harvests()] == ["harvest", "ingest", "harvest"]


def test_files_in_other_encodings_stop_nothing(tmp_path):
    """SQL Server's tools write UTF-16; old files have one byte for each letter; some files are no text at all."""
    folder = tmp_path / "sql"
    folder.mkdir()
    (folder / "a.sql").write_text("CREATE TABLE grüße AS SELECT x FROM t", encoding="utf-16")
    (folder / "b.sql").write_text("CREATE TABLE b AS SELECT 'für' AS x FROM u", encoding="latin-1")
    (folder / "c.sql").write_bytes(b"\x80\x00\x01SELECT")
    (folder / "d.sql").write_text("CREATE TABLE d AS SELECT x FROM grüße", encoding="utf-8-sig")
    estate = read_estate([str(folder)], "postgres")
    texts = {Path(script.name).name: script.text for script in estate.scripts}
    assert texts == {
        "a.sql": "CREATE TABLE grüße AS SELECT x FROM t",
        "b.sql": "CREATE TABLE b AS SELECT 'für' AS x FROM u",
        "d.sql": "CREATE TABLE d AS SELECT x FROM grüße",
    }
    assert [warning.replace(f"{folder}/", "") for warning in estate.warnings] == [
        "b.sql is not UTF-8 (byte 27); it was read as Latin-1",
        "c.sql is not text: neither UTF-8 nor UTF-16; it was left out",
    ]
