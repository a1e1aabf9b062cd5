"""`headwater pull` of a Spark catalog: a Hive metastore needs a Spark of its own, in a process of its own."""

import json
import subprocess
import sys

import pytest

MADE = """
from headwater.jobs.session import spark_session
from pathlib import Path

here = Path.cwd()
settings = {
    "spark.sql.catalogImplementation": "hive",
    "spark.sql.warehouse.dir": str(here / "spark-warehouse"),
    "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={here}/metastore_db;create=true",
}
with spark_session("local[1]", settings=settings) as spark:
    for statement in (
        "CREATE DATABASE shop",
        "USE shop",
        "CREATE TABLE orders (id INT, `Größe 1` DECIMAL(10, 2) COMMENT 'in euros') USING parquet",
        "CREATE VIEW totals AS SELECT id, sum(`Größe 1`) AS total FROM orders GROUP BY id",
        "CREATE VIEW default.best (who, what) AS SELECT * FROM shop.totals WHERE total > 3",
        "CREATE TEMPORARY VIEW passing AS SELECT 1 AS x",
    ):
        spark.sql(statement)
"""


@pytest.mark.slow
def test_a_spark_catalog(tmp_path):
    def run(*words):
        done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("-c", MADE)
    left = sorted(path.name for path in tmp_path.iterdir())
    said = json.loads(run("-m", "headwater", "pull", f"spark:{tmp_path}", "--into", "pulled", "--json"))
    assert (said["tables"], said["definitions"]) == (1, {"view": 2})
    assert said["harvest"]["report"]["statements"]["resolved"] == 2
    assert sorted({path.name for path in tmp_path.iterdir()} - set(left)) == ["pulled", "warehouse"]
    traced = run("-m", "headwater", "trace", "default.best.what", "--influence", "value")
    assert "shop.orders.Größe 1  AGGREGATION" in traced
    (described,) = json.loads(
        run("-m", "headwater", "sql", "--json", "-e", "SELECT * FROM lineage.columns WHERE description IS NOT NULL")
    )
    assert (described["dataset"], described["column"], described["description"]) == (
        "shop.orders",
        "Größe 1",
        "in euros",
    )
