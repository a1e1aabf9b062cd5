"""The engine inside Spark's Python workers: forked from a daemon, reused between tasks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.spark.java import find_java

pytestmark = pytest.mark.spark

_JOB = """
from pyspark.sql import SparkSession

def analyze(statements):
    import headwater

    schema = {"t": {"a": "INT64", "b": "INT64"}, "d": {"x": "INT64"}}
    for sql in statements:
        result = headwater.analyze(sql, "bigquery", schema=schema)
        yield len(result.edges), result.statements[0].status.value

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)
texts = [f"INSERT INTO d (x) SELECT a + b FROM t WHERE b > {number}" for number in range(40)]
statements = spark.sparkContext.parallelize(texts, 4)
for _ in range(2):  # the second job reuses the workers of the first
    print(sorted(set(statements.mapPartitions(analyze).collect())), statements.mapPartitions(analyze).count())
"""


@pytest.mark.slow
def test_lineage_in_spark_workers(tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_text(_JOB)
    environment = os.environ | {"JAVA_HOME": str(find_java().home), "PYSPARK_PYTHON": sys.executable}
    run = subprocess.run(
        [sys.executable, str(job)], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert run.stdout.splitlines() == ["[(3, 'resolved')] 40"] * 2, run.stderr[-2000:]
