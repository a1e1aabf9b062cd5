"""A pipeline of five tables by SQL, DataFrames and MERGE, of Spark and of DuckDB, run many times at random: every
snapshot is given again by DuckDB, and a changed input row is never taken for the same."""

import itertools
import random

import pytest
from pyspark.sql import functions as f
from tests.effort import LONG

import headwater
from headwater.provenance.commits import find_commit
from headwater.provenance.compare import compare_rows
from headwater.provenance.replay import replay, replay_rows
from headwater.provenance.why import why_rows
from headwater.spark import connect

pytestmark = [pytest.mark.spark, pytest.mark.slow]
_numbers = itertools.count()
TABLES = {
    "raw": "id BIGINT NOT NULL, g BIGINT, v BIGINT",
    "clean": "id BIGINT NOT NULL, g BIGINT, v BIGINT",
    "log": "g BIGINT, v BIGINT",
    "sums": "g BIGINT NOT NULL, n BIGINT, total BIGINT",
    "top": "g BIGINT, total BIGINT",
}
KEYS = {"raw": "id", "clean": "id", "sums": "g"}
MERGE = """MERGE INTO m.clean c USING (SELECT * FROM m.raw WHERE v <> {n}) r ON c.id = r.id
WHEN MATCHED AND r.g = {g} THEN DELETE WHEN MATCHED THEN UPDATE SET v = r.v, g = r.g
WHEN NOT MATCHED THEN INSERT (id, g, v) VALUES (r.id, r.g, r.v)"""


def steps(lake, session, n, g):
    """The statements of one run, each by an engine."""

    def frame(name):
        return lake.table(f"m.{name}")

    # This frame is made before `clean` changes, and written afterwards.
    sums = frame("clean").groupBy("g").agg(f.count("*").alias("n"), f.sum("v").alias("total"))
    return [
        lambda: session.sql(f"INSERT INTO m.raw SELECT {n} + i, i % 5, {n} * i FROM range(4) t(i)"),
        lambda: lake.sql(f"UPDATE m.raw SET v = v + {n} WHERE g = {g}"),
        lambda: (lake if n % 20 else session).sql(MERGE.format(n=n, g=g)),
        lambda: frame("clean").filter(f.col("v") > n).select("g", "v").writeTo(f"{lake.catalog}.m.log").append(),
        lambda: session.sql(f"DELETE FROM m.log WHERE v < {n}"),
        lambda: sums.writeTo(f"{lake.catalog}.m.sums").overwrite(f.lit(True)),
        lambda: lake.sql(
            "INSERT OVERWRITE m.top SELECT g, total FROM m.sums WHERE total IN (SELECT max(v) FROM m.log)"
        ),
        lambda: session.sql("INSERT INTO m.top SELECT s.g, s.total FROM m.sums s LEFT JOIN m.log l USING (g)"),
    ]


@pytest.mark.timeout(1800)
def test_many_mixed_runs(watch, tmp_path):
    lake = connect(watch.spark, str(tmp_path / "lake"), catalog=f"mixed{next(_numbers)}")
    lake.sql("CREATE NAMESPACE m")
    for name, columns in TABLES.items():
        keyed = f"TBLPROPERTIES ('primary-key' = '{KEYS[name]}')" if name in KEYS else ""
        lake.sql(f"CREATE TABLE m.{name} ({columns}) {keyed}")
    chance = random.Random(3)
    with headwater.connect(lake.warehouse.url) as session:
        for n in range(30 if LONG else 5):
            for step in steps(lake, session, n * 10, chance.randrange(5)):
                if n == 0 or chance.random() < 0.7:
                    step()
    found = [
        (name, *replay(lake.warehouse, f"m.{name}", snapshot.snapshot_id))
        for name in TABLES
        for snapshot in lake.warehouse.table(f"m.{name}").snapshots()
    ]
    assert [each for each in found if not each[1].identical] == []
    check_changed_inputs(lake.warehouse)
    for hop in why_rows(lake.warehouse, "m.sums", where="true"):
        assert hop.verified is not False, hop


def check_changed_inputs(warehouse):
    """One value of one input row changed by hand: the recipe then gives other rows."""
    commit = find_commit(warehouse, "m.sums")
    read = next(each for each in commit.origin.inputs if each.dataset == "m.clean")
    clean = warehouse.table("m.clean")
    rows = clean.to_arrow(at=read.snapshot_id).to_pylist()
    assert rows
    for row in rows[:5]:
        clean.rollback(read.snapshot_id)
        changed = clean.write([{**row, "v": row["v"] + 1}])
        again = replay_rows(warehouse, commit, {"m.clean": changed.snapshot_id})
        assert not compare_rows(commit.table.to_arrow(at=commit.snapshot.snapshot_id), again, ("g",)).identical
