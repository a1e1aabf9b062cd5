"""`headwater spark-plan`: the lineage of a job whose actions are not run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.spark.environment import spark_environment

pytestmark = [pytest.mark.spark, pytest.mark.slow]

JOB = """
import sys
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
folder = sys.argv[1]
orders = spark.read.option("header", True).option("inferSchema", True).csv(f"{folder}/orders.csv")
print("columns", orders.columns)
print("rows", orders.count(), orders.collect(), orders.first())
orders.createOrReplaceTempView("orders")
assert spark.sql("SELECT 7 AS n").first()[0] == 7
sums = spark.sql("SELECT city, sum(amount) AS total FROM orders WHERE amount > 1 GROUP BY city")
sums.show()
print(sums.toPandas().shape)
sums.write.mode("overwrite").parquet(f"{folder}/sums")
orders.write.saveAsTable("kept")
orders.foreach(lambda row: 1 / 0)
events = spark.readStream.schema("id long, amount double").json(f"{folder}/events")
twice = events.select((F.col("amount") * 2).alias("twice"))
twice.writeStream.start(path=f"{folder}/twice", format="parquet").awaitTermination()
if len(sys.argv) > 2:
    spark.table("kept").count()
"""


def follow(folder: Path, *words: str) -> subprocess.CompletedProcess:
    (folder / "orders.csv").write_text("id,city,amount\n1,Bonn,2.5\n2,Rome,0.5\n")
    (folder / "events").mkdir(exist_ok=True)
    (folder / "job.py").write_text(JOB)
    env = dict(os.environ) | spark_environment() | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "headwater", "spark-plan", *words]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=280)


def test_a_job_is_followed_and_nothing_is_written(tmp_path):
    run = follow(tmp_path, "--json", "job.py", str(tmp_path))
    assert run.returncode == 0, run.stderr[-3000:]
    assert "columns ['id', 'city', 'amount']" in run.stderr
    assert "rows 0 [] None" in run.stderr
    found = json.loads(run.stdout)
    names = {node["id"]: node["qualifiedName"] for node in found["nodes"]}
    edges = {(names[edge["from"]], names[edge["to"]]) for edge in found["edges"]}
    orders, sums, twice = (f"{tmp_path}/{name}" for name in ("orders.csv", "sums", "twice"))
    assert {(f"{orders}.city", f"{sums}.city"), (f"{orders}.amount", f"{sums}.total")} <= edges
    assert (f"{tmp_path}/events.amount", f"{twice}.twice") in edges
    files = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {"orders.csv", "job.py"}  # Spark itself makes an empty folder for tables


def test_a_job_that_reads_its_own_output_is_followed_until_there(tmp_path):
    run = follow(tmp_path, "job.py", str(tmp_path), "again")
    assert run.returncode == 0, run.stderr[-3000:]
    assert "the job fails: AnalysisException: [TABLE_OR_VIEW_NOT_FOUND]" in run.stderr
    assert "sums" in run.stdout


def test_there_is_nothing_to_follow(tmp_path):
    run = follow(tmp_path, "gone.py")
    assert run.returncode == 2
    assert "there is no file gone.py" in run.stderr
