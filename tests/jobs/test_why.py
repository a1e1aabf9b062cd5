"""`why` after random runs of the shop's pipeline on Spark: every version that made gold, and no other."""

import random

import pytest

from headwater.demo.pipeline import Night, open_lake
from headwater.demo.raw_files import NIGHTS, write_night
from headwater.graph import why
from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables import Warehouse
from headwater.spark import observe
from headwater.spark.source.due import start_compactor

pytestmark = pytest.mark.spark
READS = {
    "bronze.customers": (),
    "bronze.orders": (),
    "bronze.items": (),
    "silver.customers": ("bronze.customers",),
    "silver.lines": ("bronze.items", "bronze.orders"),
    "gold.revenue": ("silver.lines", "silver.customers"),
}


class Log:
    """What was read when a snapshot was made, written down beside."""

    def __init__(self, lake, compactor):
        self.lake = lake
        self.compactor = compactor
        self.commits = {name: {} for name in READS}

    def versions(self):
        found = {name: self.lake.table(name).snapshot() for name in READS}
        return {name: snapshot.snapshot_id for name, snapshot in found.items() if snapshot is not None}

    def run(self, step, *tables):
        """Do a step of the pipeline that writes these tables, while no compaction is under way."""
        before = self.versions()
        step()
        self.compactor.wait()
        for name in tables:
            (made,) = self.made_since(name, before.get(name, 0))
            self.commits[name][made] = {(read, before[read]) for read in READS[name] if read in before}

    def made_since(self, name, snapshot_id):
        """The snapshots of a table after this one that are not compactions."""
        found = self.lake.table(name).snapshots()
        return [
            each.snapshot_id
            for each in found
            if each.snapshot_id > snapshot_id and each.operation != Operation.COMPACT
        ]

    def inputs(self, name, snapshot_id):
        """Gold is made anew each time; the others keep what earlier runs brought."""
        made = self.commits[name]
        if name == "gold.revenue":
            return made[snapshot_id]
        return {read for id, reads in made.items() if id <= snapshot_id for read in reads}


def run_at_random(spark, folder, runs, seed=5):
    """So many runs of some of the steps, checked against the log after each."""
    chance = random.Random(seed)
    for night in NIGHTS:
        write_night(folder / "raw", night)
    session = spark.newSession()
    agent = observe(session, f"lake:{folder / 'lake'}")
    lake = open_lake(session, str(folder / "lake"))
    warehouse = Warehouse(folder / "lake")
    log = Log(warehouse, start_compactor(session.sparkContext))
    for run in range(runs):
        night = Night(lake, folder / "raw" / (NIGHTS[0] if run == 0 else chance.choice(NIGHTS)))
        steps = [
            (night.bronze, "bronze.customers", "bronze.orders", "bronze.items"),
            (night.silver, "silver.customers", "silver.lines"),
            (night.gold, "gold.revenue"),
        ]
        for step in steps if run == 0 else chance.sample(steps, chance.randint(1, 3)):
            log.run(*step)
        check(warehouse, log)
    agent.stop()
    return log


def check(warehouse, log):
    """Each version that `why` names was made from what the log says, and none is missing."""
    found = {(made.version.dataset, made.version.snapshot_id): made for made in why(warehouse, "gold.revenue")}
    wanted = [("gold.revenue", max(log.commits["gold.revenue"]))]
    for version in wanted:
        read = {(each.dataset, each.snapshot_id) for each, _ in found[version].inputs if each.dataset in READS}
        others = {each for each in read if each[0] != version[0]}  # MERGE reads what it writes to
        assert others == log.inputs(*version), version
        wanted += [each for each in sorted(read) if each not in wanted]
    assert {version for version in found if version[0] in READS} == set(wanted)


@pytest.mark.slow
def test_after_random_runs(spark, tmp_path):
    log = run_at_random(spark, tmp_path, 6)
    assert sum(map(len, log.commits.values())) > 20
