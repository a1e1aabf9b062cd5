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


@pytest.mark.slow
def test_tasks_write_the_rows_of_one_process_again_and_again(spark, tmp_path, monkeypatch):
    """Statements change, come, go and are cut in another way: rows of tasks take the place of those before."""
    monkeypatch.setattr(runner, "SMALLEST", 0)
    monkeypatch.setattr(runner, "_LEAST", 2_000)
    here, there = (GraphStore(Warehouse(tmp_path / name)) for name in ("here", "there"))
    first = [(f"{seed}/{name}", text) for seed in range(3) for name, text in estates.scripts(seed)]
    cut = [("cut.sql", "CREATE TABLE c.a AS SELECT id FROM raw.orders;\nCREATE TABLE c.b AS SELECT id FROM c.a;")]
    whole = [("cut.sql", "BEGIN\n" + cut[0][1].replace("c.b", "c.d") + "\nEND;")]
    changed = [(name, text.replace("SELECT", "SELECT 1 AS more,", 1)) for name, text in first[::2]]
    for texts in (first + cut, changed + whole, first + cut, first[:1]):
        estate = estate_of(texts, dialect="snowflake")
        harvest(here, estate, HarvestOptions(schema=estates.SCHEMA, spark=False))
        options = HarvestOptions(schema=estates.SCHEMA, master="local[2]")
        assert harvest(there, estate, options).used_spark or len(texts) == 1
        assert rows_of(there) == rows_of(here)
    told = [(each["edges"], each["issues"], each["statements"], each["removed"]) for each in here.harvests()]
    assert told == [(each["edges"], each["issues"], each["statements"], each["removed"]) for each in there.harvests()]


def test_rows_that_tasks_make_do_not_come_to_the_driver(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "SMALLEST", 0)
    seen, applied = [], GraphStore.apply

    def apply(store, change, *ready):
        seen.append({name: len(table) for name, table in change.tables.items() if name in ("statements", "edges")})
        seen.append({name: sum(placed.file.rows for placed in files) for name, files in change.written.items()})
        return applied(store, change, *ready)

    monkeypatch.setattr(GraphStore, "apply", apply)
    store = GraphStore(Warehouse(tmp_path / "wh"))
    summary = harvest(store, estate_of(list(estates.scripts(1))), HarvestOptions(master="local[2]"))
    assert seen[0] == {"statements": 0, "edges": 0}
    assert (seen[1]["statements"], seen[1]["edges"]) == (summary.statements, summary.edges)


def test_the_threshold_is_by_work():
    """Spark is worth it for as much GoogleSQL as takes as long as fifteen times as much of another dialect."""
    assert runner.work_of("SELECT 1", "bigquery") == 15 * runner.work_of("SELECT 1", "postgres") == 15 * 8
