"""`headwater sql`, run as a person runs it."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.program import headwater

from headwater.cli.main import run


@pytest.fixture
def sql(tmp_path: Path):
    def run(*args: object, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return headwater("sql", "--warehouse", tmp_path / "w", *args, input=stdin, cwd=tmp_path)

    made = run("-e", "CREATE TABLE t (a INT PRIMARY KEY, b STRING); INSERT INTO t VALUES (1, 'x'), (2, NULL)")
    assert (made.returncode, made.stdout) == (0, "")
    assert made.stderr.splitlines() == ["table default.t created", "2 rows inserted into default.t (snapshot 1)"]
    return run


def test_formats(sql):
    query = "SELECT a, b FROM t ORDER BY a"
    assert sql("-e", query).stdout == "a  b\n─  ─\n1  x\n2\n"
    assert sql("-e", query, "--format", "csv").stdout == "a,b\n1,x\n2,\n"
    assert sql("-e", query, "--format", "jsonl").stdout == '{"a":1,"b":"x"}\n{"a":2,"b":null}\n'
    assert json.loads(sql("-e", query, "--json").stdout) == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    written = json.loads(sql("-e", "DELETE FROM t WHERE a = 2", "--json").stdout)
    assert written == {"message": "1 row of default.t deleted (snapshot 2)", "rows": 1, "snapshotId": 2}


def test_numbers_have_the_digits_that_they_have(sql):
    query = "SELECT 27.285::DOUBLE * 2 + 1e-14 AS d, 0.1::FLOAT AS f, [0.1::DOUBLE + 0.2::DOUBLE] AS l"
    assert sql("-e", query).stdout.splitlines()[-1].split("  ") == ["54.57", "0.1", "[0.3]"]
    (row,) = json.loads(sql("-e", query, "--json").stdout)
    assert (row["d"], row["l"]) == (27.285 * 2 + 1e-14, [0.1 + 0.2])  # for programs, all digits
    assert repr(27.285 * 2 + 1e-14) in sql("-e", query, "--format", "csv").stdout


def test_files_and_standard_input(sql, tmp_path):
    file = tmp_path / "q.sql"
    file.write_text("SELECT count(*) AS n FROM t;\nSELECT nope FROM t;\nDROP TABLE t;\n")
    run = sql(file)
    assert (run.returncode, run.stdout) == (2, "n\n─\n2\n")
    assert f"{file}:2:8" in run.stderr
    assert "\n2 │ SELECT nope FROM t;\n" in run.stderr
    assert sql(stdin="SELECT 5 AS five").stdout == "five\n────\n   5\n"


def test_sql_that_is_taken_for_a_file(capsys):
    assert run(["sql", "SELECT 1 " * 1000]) == 2
    assert "cannot read SELECT 1" in capsys.readouterr().err
