"""The examples and the demo are run as they are shown."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
@pytest.mark.spark
def test_the_demo_runs():
    """From raw files to a trace that ends at them, a failing run and what is stale included."""
    run = subprocess.run([sys.executable, "examples/demo.py"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr + run.stdout
    for line in (
        "2026-03-02  failed: [CAST_INVALID_INPUT] The value 'two'",
        "2026-03-02  bronze, silver, gold: revenue so far 279,797.7",
        "└─ gold.revenue.revenue  AGGREGATION SUM(revenue)  demo/sql/snowflake/monthly.sql:3",
        "demo/raw/2026-03-01/items.csv.quantity  TRANSFORMATION cast(quantity)",
        "+ gold.revenue.buyers → report.country_month.per_buyer  AGGREGATION  AVG(revenue / buyers)",
        "silver.lines",
    ):
        assert line in run.stdout
    assert "report.ranking" in (ROOT / "demo" / "report.html").read_text()


@pytest.mark.slow
def test_the_tour_runs():
    run = subprocess.run([sys.executable, "examples/tour.py"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr + run.stdout
    for line in (
        "├─ amount_eur = i.quantity * i.unit_price * IFF(o.currency = 'EUR', 1, r.to_eur)",
        "│  └─ recent.items[].sku  IDENTITY",
        "hint: did you mean `raw.order_items`?",
        "history  snapshot 2: Row(id=7, status='shipped', amount=3.5)",
        "total          shop.orders                      5  amount         AGGREGATION  sum(amount)",
    ):
        assert line in run.stdout


@pytest.mark.slow
@pytest.mark.spark
def test_a_watched_job_says_where_its_columns_come_from(tmp_path):
    command = [sys.executable, "examples/observe_spark.py", str(tmp_path / "spark")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr
    assert "COMPLETE daily_sales.insert_into_hadoop_fs_relation_command.by_city" in run.stdout
    assert "  cents <- eur  AGGREGATION  sum((eur * ?)) -- at " in run.stdout
