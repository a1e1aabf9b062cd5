"""Databases of servers that run: what they say of themselves comes into the graph, and their passwords never do."""

import json
from pathlib import Path

import pytest

from headwater.cli.main import run
from headwater.graph import GraphStore, LineageGraph
from headwater.graph.tables import COLUMNS, EDGES, STATEMENTS
from tests.proof.postgres import missing_postgres
from tests.pull.servers import (
    QUERIES_IN_MARIADB,
    QUERIES_IN_POSTGRES,
    SHOP_IN_MARIADB,
    SHOP_IN_POSTGRES,
    free_port,
    mariadb,
    missing_mariadb,
    postgres,
)

SECRET = "hunter2-xyzzy"


@pytest.fixture(scope="module")
def pg():
    if reason := missing_postgres():
        pytest.skip(reason)
    with postgres() as server:
        server.run(SHOP_IN_POSTGRES)
        server.run(QUERIES_IN_POSTGRES)
        yield server


@pytest.fixture(scope="module")
def my():
    if reason := missing_mariadb():
        pytest.skip(reason)
    with mariadb() as server:
        server.run(SHOP_IN_MARIADB)
        server.run(QUERIES_IN_MARIADB)
        yield server


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("PGPASSWORD", "MYSQL_PWD", "HEADWATER_PULL_PASSWORD"):
        monkeypatch.delenv(name, raising=False)


def pulled(capsys, *words):
    """What a pull says, as JSON."""
    assert run(["pull", *words, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def values(target):
    """The columns that the value of a column is made of, through all steps."""
    answer = LineageGraph(GraphStore("warehouse").state()).trace(target)
    return {str(node) for node in answer.nodes}


def rows(spec):
    return GraphStore("warehouse").state().read(spec).to_pylist()


def test_postgres(pg, capsys):
    said = pulled(capsys, pg.url(), "--into", "pulled")
    assert said["tables"] == 6
    kinds = {"materialized view": 1, "view": 2, "function": 2, "procedure": 1, "trigger": 1}
    assert said["definitions"] == kinds
    assert said["queries"] == 4, Path("pulled/history.jsonl").read_text()
    assert said["notes"] == []
    assert {row["status"] for row in rows(STATEMENTS)} == {"resolved"}
    assert {"public.totals.total", "public.orders.amount"} <= values("mart.best.total")
    assert 'Odd "Schema.Größe des Hauses.UPPER' in values("mart.odd.Up")
    assert 'Odd "Schema.Größe des Hauses.Quoted "Column' in values('mart.odd.Quoted "Column')
    assert "public.orders.amount" in values("mart.daily.revenue")
    assert "public.orders.amount" in values("public.audit.amount"), "what a trigger writes"
    assert "public.orders.amount" in values("mart.copied.twice"), "what a statement of the history wrote"
    described = {(row["dataset"], row["column"]): row["description"] for row in rows(COLUMNS) if row["description"]}
    assert described == {("public.customers", "email"): "personal"}
    schema = json.loads(Path("pulled/schema.json").read_text())
    orders = next(table for table in schema["tables"] if table["name"] == "orders")
    assert orders["columns"][0] == {"name": "id", "dataType": "integer", "isPrimaryKey": True}
    assert orders["columns"][1]["foreignKey"] == {"table": "public.customers", "column": "id"}
    history = [json.loads(line) for line in Path("pulled/history.jsonl").read_text().splitlines()]
    assert {row["user"] for row in history} == {"postgres"}
    assert next(row["calls"] for row in history if "mart.best" in row["query"]) == 2


def test_postgres_again(pg, capsys):
    """Only what has changed is written and analysed; what is gone loses its lineage."""
    pg.run("CREATE DATABASE again")
    pg.run("CREATE TABLE t (a int, b int); CREATE TABLE u (a int); CREATE VIEW v AS SELECT a FROM t", "again")
    pg.run("CREATE VIEW w AS SELECT b FROM t; CREATE MATERIALIZED VIEW m AS SELECT b FROM t", "again")
    url = pg.url("again")
    said = pulled(capsys, url)
    assert (len(said["new"]), said["folder"]) == (5, "pulled/again")
    assert "pg_stat_statements" in said["notes"][0]
    said = pulled(capsys, url)
    assert (said["new"], said["changed"], said["gone"], said["harvest"]["analysed"]) == ([], [], [], 0)
    pg.run(
        "DROP VIEW w; DROP MATERIALIZED VIEW m; DROP TABLE u; CREATE OR REPLACE VIEW v AS SELECT b AS a FROM t",
        "again",
    )
    dry = pulled(capsys, url, "--dry-run")
    said = pulled(capsys, url)
    changed = (said["new"], said["changed"], sorted(said["gone"]))
    assert changed == ([], ["view public.v"], ["materialized view public.m", "table public.u", "view public.w"])
    assert changed == (dry["new"], dry["changed"], sorted(dry["gone"]))
    assert (said["harvest"]["analysed"], said["harvest"]["removed"]) == (1, 2)
    assert {(row["target"], row["source_column"]) for row in rows(EDGES)} == {("public.v", "b")}
    assert {row["dataset"] for row in rows(COLUMNS)} == {"public.t", "public.v"}
    assert not Path("pulled/again/sql/public/view/w.sql").exists()


def test_selection(pg, capsys):
    said = pulled(capsys, pg.url(), "--only", "mart", "--exclude", "mart.o*", "--no-history", "--no-harvest")
    assert sorted(said["new"]) == [
        "procedure mart.fill",
        "table mart.copied",
        "table mart.daily",
        "view mart.best",
    ]
    assert said["queries"] == 0
    assert not Path("warehouse").exists()


def test_a_reader_without_rights(pg, capsys, monkeypatch):
    """A user who may only connect sees definitions; of the history he sees that there is one."""
    monkeypatch.setenv("PGPASSWORD", SECRET)
    said = pulled(capsys, pg.url(user="reader", host="127.0.0.1"))
    assert any("GRANT pg_read_all_stats" in note for note in said["notes"])
    assert (said["tables"], said["queries"]) == (6, 0)
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.setenv("HEADWATER_PULL_PASSWORD", SECRET)
    assert pulled(capsys, pg.url(user="reader", host="127.0.0.1"))["changed"] == []
    files = [file for file in Path().rglob("*") if file.is_file()]
    assert [file for file in files if SECRET.encode() in file.read_bytes()] == []


@pytest.mark.parametrize("password", ["wrong-hunter2", None])
def test_postgres_refuses(pg, capsys, monkeypatch, password):
    if password:
        monkeypatch.setenv("PGPASSWORD", password)
    assert run(["pull", pg.url(user="reader", host="127.0.0.1"), "--verbose"]) == 2
    said = capsys.readouterr().err
    assert "error[database-failed]" in said
    assert "PGPASSWORD" in said
    assert "hunter2" not in said


def test_postgres_does_not_answer(capsys):
    if reason := missing_postgres():
        pytest.skip(reason)
    assert run(["pull", f"postgresql://me@127.0.0.1:{free_port()}/shop"]) == 2
    said = capsys.readouterr().err
    assert "error[database-failed]" in said
    assert "check the host" in said


def test_a_database_that_is_not_there(pg, capsys):
    assert run(["pull", pg.url("nowhere")]) == 2
    assert "the address ends with the name of a database" in capsys.readouterr().err


def test_mariadb(my, capsys):
    """The digests of the server are the history; they name no user."""
    said = pulled(capsys, my.url())
    assert said["tables"] == 6
    assert said["definitions"] == {"view": 3, "function": 1, "procedure": 1, "trigger": 1}
    assert {row["status"] for row in rows(STATEMENTS)} == {"resolved"}, [
        row["text"] for row in rows(STATEMENTS) if row["status"] != "resolved"
    ]
    assert {"shop.totals.total", "shop.orders.amount"} <= values("shop.best.total")
    assert "Odd `Db.Größe des Hauses.UPPER" in values("Odd `Db.Up.Up")
    assert "shop.orders.amount" in values("shop.daily.revenue")
    assert "shop.orders.amount" in values("shop.audit.amount"), "what a trigger writes"
    assert "shop.orders.amount" in values("shop.copied.twice"), "what a statement of the history wrote"
    described = {(row["dataset"], row["column"]): row["description"] for row in rows(COLUMNS) if row["description"]}
    assert described == {("shop.customers", "email"): "personal"}
    assert pulled(capsys, my.url())["new"] == []


def test_one_database_of_mariadb(my, capsys):
    """A second pull brings what ran since the first."""
    said = pulled(capsys, my.url("shop"))
    assert (said["folder"], said["tables"], said["definitions"]["view"]) == ("pulled/shop", 5, 2)
    known = said["queries"]
    my.run("USE shop; SELECT id, placed FROM orders WHERE amount > 3; SELECT id, placed FROM orders WHERE amount > 4")
    said = pulled(capsys, my.url("shop"))
    assert (said["new_queries"], said["queries"], said["harvest"]["analysed"]) == (1, known + 1, 1)
    history = [json.loads(line) for line in Path("pulled/shop/history.jsonl").read_text().splitlines()]
    assert {row["schema_name"] for row in history} == {"shop"}
    assert {row["dataset"] for row in rows(COLUMNS)} >= {"shop.orders", "shop.best"}
    assert all(str(name).startswith("shop.") for row in rows(STATEMENTS) for name in row["reads"])


def test_mariadb_refuses(my, capsys, monkeypatch):
    monkeypatch.setenv("MYSQL_PWD", "wrong-hunter2")
    assert run(["pull", my.url("shop", "reader"), "--verbose"]) == 2
    said = capsys.readouterr().err
    assert "MYSQL_PWD" in said
    assert "hunter2" not in said
    monkeypatch.setenv("MYSQL_PWD", SECRET)
    assert run(["pull", my.url("shop", "reader")]) == 2
    assert "to database 'shop'" in capsys.readouterr().err
    assert pulled(capsys, my.url(user="reader"), "--into", "none")["tables"] == 0, "a user sees what he has rights to"
    assert run(["pull", f"mysql://me@127.0.0.1:{free_port()}/other"]) == 2
    assert "check the host" in capsys.readouterr().err


def test_passwords_in_the_files_of_the_drivers(pg, my, capsys, tmp_path):
    own = tmp_path / ".pgpass"
    own.write_text(f"127.0.0.1:*:*:reader:{SECRET}\n")
    own.chmod(0o600)
    assert pulled(capsys, pg.url(user="reader", host="127.0.0.1"), "--no-harvest")["tables"] == 6
    (tmp_path / ".my.cnf").write_text(f"[client]\nuser = reader\npassword = {SECRET}\n")
    url = my.url().replace("root@", "")
    assert pulled(capsys, url, "--into", "other", "--no-harvest")["tables"] == 0
