"""The examples and the demo are run as they are shown."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_demo_runs():
    run = subprocess.run([sys.executable, "examples/demo.py"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr + run.stdout
    for line in (
        "├─ amount_eur = i.quantity * i.unit_price * IFF(o.currency = 'EUR', 1, r.to_eur)",
        "│  └─ recent.items[].sku  IDENTITY",
        "hint: did you mean `raw.order_items`?",
        "history  snapshot 2: Row(id=7, status='shipped', amount=3.5)",
        "total          shop.orders                      5  amount         AGGREGATION  sum(amount)",
    ):
        assert line in run.stdout
