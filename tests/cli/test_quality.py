"""Checks of data on the command line."""

import json

import pytest
from tests.graph.test_results import SODA

from headwater.cli.main import run
from headwater.query import connect

TABLES = """\
CREATE DATABASE shop;
CREATE TABLE shop.raw (id BIGINT NOT NULL, amount BIGINT, status STRING, PRIMARY KEY (id));
INSERT INTO shop.raw VALUES (1, 10, 'paid'), (2, NULL, 'lost');
CREATE TABLE shop.gold AS SELECT status, sum(amount) AS total FROM shop.raw GROUP BY status;
"""


@pytest.fixture
def headwater(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with a warehouse; its exit code and what it prints."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "headwater.toml").write_text('warehouse = "lake"\n')
    with connect("lake") as session:
        session.sql(TABLES)

    def ran(*words):
        code = run(words)
        said = capsys.readouterr()
        return code, said.out, said.err

    return ran


def failed(out):
    return {tuple(line.split()[:3]) for line in out.splitlines() if " fail " in line}


def test_options(headwater):
    code, out, _ = headwater(
        *("check-data", "shop.raw", "--not-null", "id", "--not-null", "amount", "--unique", "id,status"),
        *("--unique", "id", "--range", "amount=..9", "--accept", "status=paid,open", "--row-count", "2..2"),
        *("--fresh", "1h"),
    )
    wanted = {("amount", "not_null"), ("amount", "range"), ("status", "accepted_values")}
    assert (code, failed(out)) == (1, {("shop.raw", *each) for each in wanted})
    assert headwater("check-data", "shop.raw", "--not-null", "id", "--quiet")[:2] == (0, "")


def test_a_file_for_some_tables(headwater, tmp_path):
    (tmp_path / "c.toml").write_text(
        '[tables."shop.raw".columns]\namount = { not_null = true }\n[tables."shop.gold"]\n'
    )
    assert headwater("check-data", "--checks", "c.toml")[0] == 1
    assert headwater("check-data", "shop.gold", "--checks", "c.toml")[0] == 0
    code, out, _ = headwater("check-data", "shop.raw@1", "-c", "c.toml", "--json")
    [row] = json.loads(out)
    assert (code, row["version"], row["outcome"], row["actual"]) == (1, "1", "fail", "1 null")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("shop.raw",), "there is nothing to check"),
        ((), "there is nothing to check"),
        (("--not-null", "id"), "options and --checks are for different tables"),
        (("shop.raw", "--range", "amount"), "names no column"),
        (("shop.raw", "--range", "amount=5"), "is no range"),
        (("shop.raw", "--row-count", "a.."), "Expected `int"),
        (("shop.raw", "--not-null", "ammount"), "did you mean `headwater check-data shop.raw --not-null amount"),
        (("shop.rew", "--not-null", "id"), "did you mean `headwater check-data shop.raw --not-null id"),
        (("shop.raw@77", "--not-null", "id"), "there is no snapshot 77"),
        (("-c", "no.toml"), "no.toml cannot be read"),
    ],
)
def test_mistakes(headwater, words, says):
    code, _, err = headwater("check-data", *words)
    assert (code, says in err) == (2, True), err


def test_marks_are_shown_and_cleared(headwater, tmp_path):
    headwater("ingest", "--origins")
    assert headwater("checks")[:2] == (0, "")
    headwater("check-data", "shop.raw", "--not-null", "amount")
    mark = "✗ not_null failed on shop.raw.amount@1"
    assert f"shop.gold.total  {mark}" in headwater("trace", "shop.gold.total")[1]
    impact = json.loads(headwater("impact", "shop.raw.amount", "--json")[1])
    assert [node["marks"][0]["check"] for node in impact["nodes"]] == ["not_null"] * 2
    assert "✗ total: not_null failed on shop.raw.amount@1" in headwater("why", "shop.gold")[1]
    assert [set(each.get("marks", ())) for each in json.loads(headwater("why", "shop.gold", "--json")[1])] == [
        {"total"},
        {"amount"},
    ]
    code, out, _ = headwater("checks", "shop.gold")
    assert (code, out) == (1, "✗ shop.gold.total: not_null failed on shop.raw.amount@1\n")
    headwater("sql", "-e", "UPDATE shop.raw SET amount = 1 WHERE id = 2")
    headwater("check-data", "shop.raw", "--not-null", "amount")
    headwater("sql", "-e", "INSERT OVERWRITE shop.gold SELECT status, sum(amount) FROM shop.raw GROUP BY status")
    code, out, _ = headwater("checks", "--history")
    assert (code, "✗" in out, out.count("not_null")) == (0, False, 2)
    assert "✗" not in headwater("trace", "shop.gold.total")[1]
    assert "✗ total" not in headwater("why", "shop.gold")[1]
    assert "✗ total" in headwater("why", "shop.gold@1")[1]


def test_nothing_is_kept_of_a_dry_run(headwater, tmp_path):
    words = ("check-data", "shop.raw", "--not-null", "amount", "--dry-run")
    assert headwater(*words, "--events", "file:out.ndjson")[0] == 1
    assert headwater("checks")[0] == 2  # there is no graph
    assert headwater("ingest", "out.ndjson")[1] == "1 event, 0 refused\n"
    assert headwater("checks")[0] == 1


def test_results_of_others(headwater, tmp_path):
    (tmp_path / "found").mkdir()
    late = SODA | {"dataTimestamp": "2099-01-01T00:00:00+00:00"}
    (tmp_path / "found" / "soda.json").write_text(json.dumps(late).replace("orders", "raw").replace("Orders", "raw"))
    (tmp_path / "found" / "other.json").write_text("{}")
    assert headwater("ingest", "found")[1] == "3 results of checks, 2 were not run\n"
    code, out, _ = headwater("checks", "shop.raw.*")
    assert (code, failed(out)) == (1, {("shop.raw", "*", "row_count")})
    assert headwater("checks", "--forget", "row_count > 5")[0] == 0
    assert headwater("ingest", "found/soda.json", "--table", "shop.gold", "--json")[0] == 0
    assert "shop.gold.total" in headwater("checks", "shop.gold")[1]
    assert headwater("ingest", "found/none.json")[0] == 2
