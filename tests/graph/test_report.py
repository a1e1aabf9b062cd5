"""What is said at the end of a harvest, and again by `headwater harvests NUMBER`."""

import json
from pathlib import Path
from typing import Any

import pytest

from headwater.cli.main import run

FILES = {
    "a.sql": "CREATE TABLE d.a AS SELECT x, 1 AS one, y + 1 AS z FROM known",
    "b.sql": "CREATE TABLE d.b AS SELECT u.k AS k FROM unknown_one u JOIN unknown_two t ON u.k = t.k",
    "c.sql": "CREATE TABLE d.c AS SELECT k FROM unknown_one",
    "bad.sql": "INSERT INTO d.e SELECT (x FROM known",
    "t.sql": "CREATE TABLE d.f AS SELECT {{ nobody_said }} AS v FROM known",
}


@pytest.fixture
def harvested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sql").mkdir()
    for name, text in FILES.items():
        (tmp_path / "sql" / name).write_text(text)
    (tmp_path / "schema.json").write_text('{"known": {"x": "INT", "y": "INT"}, "d.e": {"v": "INT"}}')
    options = ["--dialect", "postgres", "--schema", "schema.json", "--warehouse", "lake"]
    assert run(["harvest", "sql", *options, "--json"]) == 0
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    return said


def test_statements_columns_and_findings_are_counted(harvested: dict[str, Any]) -> None:
    report = harvested["report"]
    assert report["files"] == 5
    assert report["statements"] == {"resolved": 3, "approximate": 1, "table-only": 0, "error": 1}
    assert report["columns"] == {"sourced": 5, "constant": 1, "doubtful": 1}
    assert report["findings"]["PARSE_ERROR"] == 1
    assert sum(report["findings"].values()) == harvested["findings"]  # those of files, too, such as of templates


def test_tables_that_nothing_describes_are_listed_with_a_reader(harvested: dict[str, Any]) -> None:
    assert harvested["report"]["unknown"] == 2
    assert harvested["report"]["unknown_tables"] == [
        {"table": "unknown_one", "statements": 2, "reader": "sql/b.sql#0"},
        {"table": "unknown_two", "statements": 1, "reader": "sql/b.sql#0"},
    ]
    assert "--schema" in harvested["report"]["next_steps"][0]


def test_a_harvest_is_shown_again(harvested: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["harvests", "1", "--warehouse", "lake", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == harvested["report"]
    assert run(["harvests", "1", "--warehouse", "lake"]) == 0
    text = capsys.readouterr().out
    assert "5 statements in 5 files: 3 resolved (60.0%)" in text
    assert "unknown_one  2 statements, such as sql/b.sql#0" in text
    assert run(["harvests", "7", "--warehouse", "lake"]) == 2


def test_a_source_that_was_not_harvested_is_not_counted(
    harvested: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "more.sql").write_text("CREATE TABLE d.g AS SELECT x FROM d.a")
    assert run(["harvest", "more.sql", "--dialect", "postgres", "--warehouse", "lake", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)["report"]
    assert (report["files"], report["unknown"]) == (1, 0)  # d.a is made by a statement of the other harvest
    assert report["columns"] == {"sourced": 1, "constant": 0, "doubtful": 0}
