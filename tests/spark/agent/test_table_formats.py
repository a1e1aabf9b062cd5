"""Delta Lake and Iceberg, where a release for this Spark exists and can be fetched."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from tests.spark.agent.conftest import check, columns, shown

from headwater.spark.environment import spark_environment

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SPARK = ".".join(pyspark.__version__.split(".")[:2])
PACKAGES = {
    ("delta", "4.1"): "io.delta:delta-spark_4.1_2.13:4.4.0",
    ("delta", "4.2"): "io.delta:delta-spark_4.2_2.13:4.4.0",
    ("iceberg", "4.1"): "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}


def run_job(format: str, folder: Path) -> list[dict]:
    package = PACKAGES.get((format, SPARK))
    if package is None:
        pytest.skip(f"there is no release of {format} for Spark {SPARK} yet")
    job = Path(__file__).parent / "jobs" / "table_formats.py"
    env = dict(os.environ) | spark_environment() | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(job), format, package, str(folder)]
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=280)
    if "UNRESOLVED DEPENDENCIES" in run.stderr:
        pytest.skip(f"{package} cannot be fetched from here")
    assert run.stdout.strip().endswith("2"), run.stderr[-3000:]
    events = [json.loads(line) for line in (folder / "events.ndjson").read_text().splitlines()]
    for event in events:
        check(event)
    return [event for event in events if event["eventType"] == "COMPLETE" and event.get("outputs")]


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_writes_merges_and_versions(format, tmp_path):
    created, inserted, summed, doubled, merged, deleted = run_job(format, tmp_path)
    assert [shown(event) for event in (created, inserted, summed, doubled, merged, deleted)] == [
        "-> orders CREATE",
        "-> orders",
        "orders -> sums CREATE",
        "orders -> orders",
        "orders -> sums",
        "-> orders",
    ]
    assert columns(summed) == {"city": {"orders.city"}, "total": {"orders.amount"}}
    assert columns(merged)["total"] == {"orders.amount"}
    version = [each["facets"]["version"]["datasetVersion"] for each in (inserted["outputs"][0], doubled["inputs"][0])]
    assert version[0] == version[1]
    assert doubled["outputs"][0]["facets"]["version"]["datasetVersion"] != version[0]
    assert {each["field"] for each in merged["outputs"][0]["facets"]["columnLineage"]["dataset"]} >= {"city"}
