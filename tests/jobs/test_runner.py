"""The same rows, whoever analyses: this process or Spark."""

import pytest

from headwater.graph import GraphStore
from headwater.jobs.harvest import runner
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from headwater.lake.tables import Warehouse
from tests.jobs import estates
from tests.jobs.test_harvest import estate_of, rows_of

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery"])
def test_spark_gives_the_same_rows(spark, tmp_path, monkeypatch, dialect):
    texts = [(f"{seed}/{name}", text) for seed in range(2) for name, text in estates.scripts(seed, dialect=dialect)]
    estate = estate_of(texts, dialect=dialect)
    here, there = (GraphStore(Warehouse(tmp_path / name)) for name in ("here", "there"))
    assert not harvest(here, estate, HarvestOptions(schema=estates.SCHEMA)).used_spark  # too little work
    monkeypatch.setattr(runner, "SMALLEST", 2)
    assert harvest(there, estate, HarvestOptions(schema=estates.SCHEMA, master="local[2]")).used_spark
    assert rows_of(there) == rows_of(here)


def test_the_threshold_is_by_work():
    """Spark is worth it for as much GoogleSQL as takes as long as fifteen times as much of another dialect."""
    assert runner.work_of("SELECT 1", "bigquery") == 15 * runner.work_of("SELECT 1", "postgres") == 15 * 8
