"""A harvest whose process is killed leaves the graph as it was or as it was to be, and the next one completes it."""

import multiprocessing
import random
import time

import pytest

from headwater.graph import GraphStore
from headwater.jobs.harvest.harvest import HarvestOptions, harvest
from headwater.lake.tables import Warehouse
from tests.jobs import estates
from tests.jobs.test_harvest import estate_of, rows_of

OLD = [(f"{seed}/{name}", text) for seed in range(6) for name, text in estates.scripts(seed)]
NEW = [(f"{seed}/{name}", text) for seed in (0, 1, 7, 8, 9) for name, text in estates.scripts(seed)]


def run(folder: str, texts: list[tuple[str, str]], begun: "multiprocessing.connection.Connection") -> None:
    begun.send(None)
    harvest(GraphStore(Warehouse(folder)), estate_of(texts), HarvestOptions(schema=estates.SCHEMA))


@pytest.mark.fault
@pytest.mark.slow
def test_killed_at_random_points(tmp_path):
    chance = random.Random(9)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    store = GraphStore(Warehouse(tmp_path / "lake"))
    states = {}
    for name, texts in (("new", NEW), ("old", OLD)):
        begun = time.monotonic()
        harvest(store, estate_of(texts), HarvestOptions(schema=estates.SCHEMA))
        takes = time.monotonic() - begun
        states[name] = rows_of(store)
    assert states["new"] != states["old"]
    is_now, killed = "old", 0
    for _ in range(20):
        wanted = "new" if is_now == "old" else "old"
        parent, child = context.Pipe()
        texts = NEW if wanted == "new" else OLD
        process = context.Process(target=run, args=(str(tmp_path / "lake"), texts, child))
        process.start()
        parent.recv()
        time.sleep(chance.uniform(0, takes * 1.1))
        process.kill()
        process.join()
        killed += process.exitcode == -9
        parent.close()
        child.close()
        assert rows_of(store) in (states[is_now], states[wanted])
        harvest(store, estate_of(texts), HarvestOptions(schema=estates.SCHEMA))
        assert rows_of(store) == states[wanted]
        is_now = wanted
    assert killed >= 10
