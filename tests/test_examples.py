"""The examples and the demo are run as they are shown."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.demo.files import put_files
from headwater.errors import AlreadyExistsError

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
@pytest.mark.spark
def test_the_demo_runs(demo):
    """From raw files to a trace that ends at them, a failing run and what is stale included."""
    told = (demo.parent / "told.txt").read_text()
    for line in (
        "2026-03-02  failed: [CAST_INVALID_INPUT] The value 'two'",
        "2026-03-02  bronze, silver, gold: revenue so far 279,797.7",
        "└─ gold.revenue.revenue  AGGREGATION SUM(revenue)  reports/snowflake/monthly.sql:3",
        "demo/raw/2026-03-01/items.csv.quantity  TRANSFORMATION cast(quantity)",
        "+ gold.revenue.buyers → report.country_month.per_buyer  AGGREGATION  AVG(revenue / buyers)",
        "silver.lines",
        "raw/2026-03-01/items.csv, lines ",
        "raw/2026-03-01-corrections/items.csv, line 2",
        "gold.revenue@1  identical: ",
    ):
        assert line in told
    assert "report.ranking" in (demo / "report.html").read_text()


def test_a_demo_replaces_nothing_but_a_demo(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it")
    with pytest.raises(AlreadyExistsError):
        put_files(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").exists()
    for _ in range(2):
        put_files(tmp_path / "shop")
    assert (tmp_path / "shop" / "raw" / "2026-03-01" / "orders.csv").exists()


@pytest.mark.slow
@pytest.mark.spark
def test_a_watched_job_says_where_its_columns_come_from(tmp_path):
    command = [sys.executable, ROOT / "examples" / "observe_spark.py", tmp_path / "spark"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr
    assert "COMPLETE daily_sales.insert_into_hadoop_fs_relation_command.by_city" in run.stdout
    assert "  cents <- eur  AGGREGATION  sum((eur * ?)) -- at " in run.stdout


@pytest.mark.slow
def test_the_notebook_runs(tmp_path):
    """Cell by cell, in a kernel of its own; what is kept in the repository stays small."""
    notebook = ROOT / "examples" / "lineage.ipynb"
    assert notebook.stat().st_size < 100_000
    command = [Path(sys.executable).with_name("jupyter-execute"), "--output", tmp_path / "done.ipynb", notebook]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr
    cells = json.loads((tmp_path / "done.ipynb").read_text())["cells"]
    shown = "".join(json.dumps(cell.get("outputs", [])) for cell in cells)
    assert shown.count("<svg") == 2
    assert "AGGREGATION" in shown


SMALL = ("demo_table_lineage", "demo_column_lineage", "lake_table")


@pytest.mark.parametrize("name", SMALL)
def test_an_example_runs(name, tmp_path):
    command = [sys.executable, ROOT / "examples" / f"{name}.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("\n") > 5
