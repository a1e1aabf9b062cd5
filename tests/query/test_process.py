"""A process that asks one question pays for that question alone."""

import subprocess
import sys

import pytest

import headwater

QUERIES = [
    "SELECT * FROM t WHERE id = 7",
    "SELECT * FROM t WHERE id IN (1, 2) AND name <> 'x'",
    "SELECT * FROM t WHERE n < 2.5",
    "SELECT * FROM t ORDER BY n DESC LIMIT 2",
    "SELECT count(*) FROM t",
    "SELECT name, sum(n) FROM t GROUP BY ALL",
]


@pytest.mark.parametrize("key", ["id", ()], ids=["keyed", "appended"])
def test_short_queries_do_without_pandas(tmp_path, key):
    pytest.importorskip("pandas")
    table = headwater.Warehouse(tmp_path).create_table(
        "t", {"id": "BIGINT", "name": "STRING", "n": "DOUBLE"}, primary_key=key
    )
    table.write([(at, f"name {at % 3}", at / 4) for at in range(20)])
    text = "import sys, headwater\nsession = headwater.connect(sys.argv[1])\n"
    text += "for query in sys.argv[2:]: session.sql(query).fetchall()\nprint('pandas' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", text, str(tmp_path), *QUERIES], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("False\n", "")


def test_no_progress_is_told_on_stdout(tmp_path):
    """DuckDB tells it where it takes Python for an interactive one, of a notebook or of `python -c`."""
    text = "import sys, headwater; print(headwater.connect('w').sql(sys.argv[1]).scalar())"
    query = "SELECT current_setting('enable_progress_bar')"
    run = subprocess.run([sys.executable, "-c", text, query], capture_output=True, text=True, cwd=tmp_path)
    assert run.stdout == "False\n"
