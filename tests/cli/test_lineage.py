"""`headwater lineage` and `headwater check`, run as programs."""

import csv
import json

import pytest
from tests.cli.test_main import fails, headwater

SQL = "INSERT INTO daily SELECT day, sum(amount) AS total FROM orders GROUP BY day;\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.sql").write_text(SQL)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.sql").write_text("CREATE TABLE weekly AS SELECT total FROM daily;\n")
    (tmp_path / "schema.json").write_text('{"orders": ["day", "amount"], "daily": ["day", "total"]}')
    return tmp_path


def test_a_tree_of_a_folder(folder):
    run = headwater("lineage", ".", "-s", "schema.json", cwd=folder)
    assert run.returncode == 0, run.stderr
    assert "total = sum(amount)\n   └─ orders.amount  AGGREGATION" in run.stdout.replace("│", " ")
    assert "weekly  CREATE_TABLE_AS_SELECT  deep/b.sql:1:1" in run.stdout


def test_standard_input_and_expression():
    assert "orders.day" in headwater("lineage", "-", input=SQL).stdout
    assert "orders.day" in headwater("lineage", "-e", SQL).stdout


@pytest.mark.parametrize("format", ["tree", "table", "json", "jsonl", "csv", "mermaid", "dot", "openlineage"])
def test_every_format(folder, format):
    for level in ("column", "table"):
        run = headwater("lineage", "a.sql", "--format", format, "--level", level, cwd=folder)
        assert run.returncode == 0, run.stderr
        assert "orders" in run.stdout


def test_csv_is_data_and_nothing_else(folder):
    run = headwater("lineage", "a.sql", "--format", "csv", "--reading", "value", cwd=folder)
    assert {row["source_column"] for row in csv.DictReader(run.stdout.splitlines())} == {"day", "amount"}


def test_json_everywhere(folder):
    assert json.loads(headwater("lineage", "a.sql", "--json", cwd=folder).stdout)["summary"]["statementCount"] == 1


def test_settings_give_defaults(folder):
    (folder / "headwater.toml").write_text('schema = "schema.json"\ndialect = "snowflake"\n')
    run = headwater("check", "a.sql", cwd=folder)
    assert run.returncode == 0, run.stdout


def test_variables_of_templates():
    run = headwater("lineage", "-e", "SELECT {{ col }} AS x FROM t", "--var", "col=abc")
    assert "t.abc" in run.stdout
    fails(headwater("lineage", "-e", "SELECT 1", "--var", "oops"), "usage", "NAME=VALUE")


def test_check_finds_and_points(folder):
    (folder / "c.sql").write_text("SELECT amonut\nFROM orders;\n")
    run = headwater("check", "c.sql", "-s", "schema.json", cwd=folder)
    assert run.returncode == 1
    assert "warning[UNKNOWN_COLUMN]" in run.stdout
    assert "^^^^^^" in run.stdout
    assert "c.sql:1:8" in run.stdout
    assert "did you mean `amount`?" in run.stdout
    assert "1 finding in 1 statement" in run.stderr


def test_check_annotates_pull_requests(folder):
    (folder / "c.sql").write_text("SELECT amonut\nFROM orders;\n")
    run = headwater("check", "c.sql", "-s", "schema.json", "--format", "github", cwd=folder)
    assert run.stdout.startswith("::warning file=c.sql,line=1,col=8,title=UNKNOWN_COLUMN::")


def test_check_passes(folder):
    run = headwater("check", ".", "-s", "schema.json", "--strict", cwd=folder)
    assert (run.returncode, run.stdout) == (0, "")


def test_nothing_readable_is_2():
    run = headwater("lineage", "-e", "SELEC a FRO b")
    assert run.returncode == 2
    assert "error[PARSE_ERROR]" in run.stderr


@pytest.mark.parametrize(
    ("args", "code", "word"),
    [
        (("lineage",), "usage", "no SQL was given"),
        (("lineage", "missing.sql"), "bad-input", "No such file"),
        (("lineage", "binary.sql"), "bad-input", "neither UTF-8 nor UTF-16"),
        (("lineage", "empty"), "bad-input", "no files of SQL"),
        (
            ("lineage", "-e", "SELECT 1", "-d", "snowflak"),
            "unknown-dialect",
            "mean `headwater lineage -e 'SELECT 1' -d snowflake`?",
        ),
        (("lineage", "-e", "SELECT 1", "-s", "bad.json"), "bad-schema", "schema"),
    ],
)
def test_bad_input(tmp_path, args, code, word):
    (tmp_path / "binary.sql").write_bytes(b"\xff\xfe\x00SELECT")
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "empty").mkdir()
    fails(headwater(*args, cwd=tmp_path), code, word)


BLOCKS = "BEGIN " * 3000 + "SELECT 1;" + "END; " * 3000


def test_a_statement_that_fails_stops_neither_command(folder):
    """More blocks than Python has stack for: a stand-in for whatever makes the analysis fail."""
    (folder / "blocks.sql").write_text(f"\n\n{BLOCKS}")
    run = headwater("lineage", ".", "-d", "bigquery", cwd=folder)
    assert run.returncode == 0
    assert "weekly" in run.stdout
    assert "error[INTERNAL_ERROR]" in run.stderr
    assert "blocks.sql:3:1" in run.stderr
    run = headwater("check", ".", "-d", "bigquery", cwd=folder)
    assert run.returncode == 1
    assert "error[INTERNAL_ERROR]" in run.stdout
    assert "Traceback" not in run.stderr
