"""A pipeline of five tables, run many times by statements of all kinds: every snapshot that is kept gives the same
rows again, and a changed input is never taken for the same."""

import random

import pytest

from headwater.provenance.commits import find_commit
from headwater.provenance.compare import compare_rows
from headwater.provenance.replay import replay, replay_rows
from headwater.provenance.why import why_rows
from tests.effort import examples

TABLES = """
CREATE TABLE raw (id INT PRIMARY KEY, g INT, v INT);
CREATE TABLE clean (id INT PRIMARY KEY, g INT, v INT);
CREATE TABLE log (g INT, v INT);
CREATE TABLE sums (g INT PRIMARY KEY, n INT, total INT);
CREATE TABLE top (place INT PRIMARY KEY, g INT, total INT)
"""
STEPS = [
    "INSERT INTO raw SELECT {n} + i, i % 5, {n} * i FROM range(4) t(i)",
    "UPDATE raw SET v = v + {n} WHERE g = {g}",
    "DELETE FROM raw WHERE id % 7 = {g}",
    "MERGE INTO clean c USING (SELECT * FROM raw WHERE v <> {n}) r ON c.id = r.id "
    "WHEN MATCHED AND r.g = {g} THEN DELETE WHEN MATCHED THEN UPDATE SET v = r.v, g = r.g "
    "WHEN NOT MATCHED THEN INSERT (id, g, v) VALUES (r.id, r.g, r.v)",
    "INSERT INTO log SELECT g, max(v) FROM clean GROUP BY g",
    "DELETE FROM log WHERE v < {n}",
    "INSERT OVERWRITE sums SELECT c.g, count(*), sum(c.v) FROM clean c LEFT JOIN log l USING (g) GROUP BY c.g",
    "INSERT OVERWRITE top SELECT row_number() OVER (ORDER BY total DESC, g), g, total FROM sums QUALIFY "
    "row_number() OVER (ORDER BY total DESC, g) <= 3",
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_many_runs(session, seed):
    chance = random.Random(seed)
    session.sql(TABLES)
    for n in range(examples(30)):
        for step in STEPS:
            if chance.random() < 0.8:
                session.sql(step.format(n=n * 10, g=chance.randrange(5)))
        if chance.random() < 0.3:
            session.table("raw").compact()
    for name in ("raw", "clean", "log", "sums", "top"):
        for snapshot in session.table(name).snapshots():
            (found,) = replay(session.warehouse, f"default.{name}", snapshot.snapshot_id)
            assert found.identical, (name, snapshot.snapshot_id, found)
    _check_changed_inputs(session)
    _check_rows(session, chance)


def _check_changed_inputs(session):
    """One value of one input row changed by hand: the recipe then gives other rows."""
    commit = find_commit(session.warehouse, "default.sums")
    kept = commit.table.to_arrow()
    read = next(each for each in commit.origin.inputs if each.dataset == "default.clean")
    for row in session.table("clean").to_arrow(at=read.snapshot_id).to_pylist()[:5]:
        session.sql(f"INSERT OVERWRITE clean SELECT * FROM clean VERSION AS OF {read.snapshot_id}")
        changed = session.table("clean").write([{**row, "v": row["v"] + 1}])
        rows = replay_rows(session.warehouse, commit, {"default.clean": changed.snapshot_id})
        assert not compare_rows(kept, rows, ("g",)).identical


def _check_rows(session, chance):
    """Every hop behind each row of the last table, at most three, is checked by its own query."""
    places = session.table("top").to_arrow().column("place").to_pylist()
    assert places
    for place in places:
        for hop in why_rows(session.warehouse, "default.top", where=f"place = {place}"):
            assert hop.verified is not False, hop
            assert hop.reason is None, hop.reason
