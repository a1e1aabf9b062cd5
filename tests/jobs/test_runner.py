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
    harvest(here, estate, HarvestOptions(schema=estates.SCHEMA))
    monkeypatch.setattr(runner, "SMALLEST", 2)
    harvest(there, estate, HarvestOptions(schema=estates.SCHEMA, master="local[2]"))
    assert rows_of(there) == rows_of(here)
