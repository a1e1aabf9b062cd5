"""A harvest whose process is killed leaves the graph as it was or as it was to be, and the next one completes it."""

import dataclasses
import multiprocessing
import random
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from headwater.graph import GraphStore
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from headwater.lake.tables import Warehouse
from tests.jobs import estates
from tests.jobs.test_harvest import estate_of, rows_of

OLD = [(f"{seed}/{name}", text) for seed in range(6) for name, text in estates.scripts(seed)]
NEW = [(f"{seed}/{name}", text) for seed in (0, 1, 7, 8, 9) for name, text in estates.scripts(seed)]


OPTIONS = HarvestOptions(schema=estates.SCHEMA)


def run(folder: str, texts: list[tuple[str, str]], master: str | None, begun: Connection) -> None:
    begun.send(None)
    harvest(GraphStore(Warehouse(folder)), estate_of(texts), dataclasses.replace(OPTIONS, master=master))


def kill_at_random_points(folder: Path, count: int, master: str | None = None) -> int:
    """Harvest so often, killing each time; after each, the tables are checked and another harvest completes them.

    Returns how often there still was something to kill.
    """
    chance = random.Random(9)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    store = GraphStore(Warehouse(folder))
    states = {}
    for name, texts in (("new", NEW), ("old", OLD)):
        harvest(store, estate_of(texts), OPTIONS)
        states[name] = rows_of(store)
    assert states["new"] != states["old"]
    is_now, killed, takes = "old", 0, None
    for _ in range(count):
        wanted = "new" if is_now == "old" else "old"
        texts = NEW if wanted == "new" else OLD
        parent, child = context.Pipe()
        process = context.Process(target=run, args=(str(folder), texts, master, child))
        process.start()
        parent.recv()
        begun = time.monotonic()
        process.join(None if takes is None else chance.uniform(0, takes))
        if takes is None:  # the first is left alone: so long it takes
            takes = time.monotonic() - begun
        process.kill()
        process.join()
        killed += process.exitcode == -9
        parent.close()
        child.close()
        assert rows_of(store) in (states[is_now], states[wanted])
        harvest(store, estate_of(texts), OPTIONS)
        assert rows_of(store) == states[wanted]
        is_now = wanted
    return killed


@pytest.mark.fault
@pytest.mark.slow
def test_killed_at_random_points(tmp_path):
    assert kill_at_random_points(tmp_path / "lake", 21) >= 10


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.spark
def test_the_driver_of_spark_is_killed(tmp_path):
    assert kill_at_random_points(tmp_path / "lake", 4, "local[2]") >= 1
