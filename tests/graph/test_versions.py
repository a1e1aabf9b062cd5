"""Every snapshot knows where it came from."""

import random

import pytest

import headwater
from headwater.errors import NotFoundError
from headwater.graph import GraphStore, LineageGraph, stale, why
from headwater.graph.origins import ingest_origins
from headwater.graph.tables import RUN_INPUTS
from headwater.lake.tables import Warehouse


@pytest.fixture
def session(tmp_path):
    session = headwater.connect(str(tmp_path / "lake"))
    for statement in (
        "CREATE DATABASE shop",
        "CREATE TABLE shop.raw (id BIGINT NOT NULL, amount BIGINT, note STRING, PRIMARY KEY (id))",
        "INSERT INTO shop.raw VALUES (1, 10, 'a'), (2, 20, 'b')",
        "CREATE TABLE shop.clean AS SELECT id, amount FROM shop.raw",
        "CREATE TABLE shop.gold AS SELECT sum(amount) AS total FROM shop.clean",
    ):
        session.sql(statement)
    return session


@pytest.fixture
def lake(tmp_path):
    return Warehouse(tmp_path / "lake")


def test_why_names_the_versions_transitively(session, lake):
    session.sql("INSERT INTO shop.raw VALUES (3, 30, 'c')")
    found = [(str(made.version), made.depth) for made in why(lake, "shop.gold")]
    assert found == [("shop.gold@1", 0), ("shop.clean@1", 1), ("shop.raw@1", 2)]
    [gold, clean, raw] = why(lake, "shop.gold")
    assert [(str(version), columns) for version, columns in gold.inputs] == [("shop.clean@1", ("amount",))]
    assert set(clean.inputs[0][1]) == {"id", "amount"}
    assert raw.inputs == ()


def test_an_unknown_table(lake, session):
    with pytest.raises(NotFoundError):
        why(lake, "shop.nothing")


def test_stale_is_aware_of_columns(session, lake):
    assert stale(lake) == []
    session.sql("UPDATE shop.raw SET note = 'x' WHERE id = 1")
    assert stale(lake) == []  # nobody reads the note
    session.sql("UPDATE shop.raw SET amount = 11 WHERE id = 1")
    [found] = stale(lake)
    assert (found.table, found.input, found.columns, found.changed_rows) == ("shop.clean", "shop.raw", ("amount",), 1)
    assert found.read < found.latest


def test_moving_files_makes_nothing_stale(session, lake):
    lake.table("shop.raw").compact()
    assert stale(lake) == []


def test_new_rows_make_stale(session, lake):
    session.sql("INSERT INTO shop.raw VALUES (9, 90, 'z')")
    [found] = stale(lake)
    assert (found.columns, found.changed_rows) == ((), 1)


def test_stale_tells_what_a_rebuild_reads(session, lake):
    session.sql("CREATE MATERIALIZED VIEW shop.sums AS SELECT sum(amount) AS total FROM shop.raw")
    session.sql("UPDATE shop.raw SET amount = 11 WHERE id = 1")
    found = {each.table: each for each in stale(lake)}
    assert (found["shop.sums"].changed_rows, found["shop.sums"].input_rows) == (1, 3)  # two, and a newer one of a key
    assert 0 < found["shop.sums"].input_bytes <= sum(file.size for file in files_of(lake.table("shop.raw")))
    assert found["shop.sums"].seconds == lake.table("shop.sums").snapshot().origin.refresh.seconds
    assert found["shop.clean"].seconds is None


def files_of(table):
    return [entry.file for entry in table.store.latest().entries]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("UPDATE shop.log SET note = 'x'", None),  # nobody reads the note
        ("UPDATE shop.log SET amount = NULL WHERE id = 1", 4),  # two rows of one id went, two came
        ("DELETE FROM shop.log WHERE id = 1 AND note = 'b'", 1),
        ("INSERT INTO shop.log VALUES (1, 10, [7], 'd')", 1),
        ("UPDATE shop.log SET tags = [3] WHERE note = 'c'", None),
    ],
)
def test_stale_without_a_key_is_aware_of_columns(session, lake, change, expected):
    session.sql("CREATE TABLE shop.log (id BIGINT, amount DOUBLE, tags INT[], note STRING)")
    session.sql("INSERT INTO shop.log VALUES (1, 10, [1], 'a'), (1, 10, [1], 'b'), (NULL, 'nan'::DOUBLE, NULL, 'c')")
    session.sql("CREATE TABLE shop.read AS SELECT id, amount FROM shop.log")
    session.sql(change)
    assert [each.changed_rows for each in stale(lake)] == ([] if expected is None else [expected])


def test_why_after_many_random_runs(session, lake):
    """Thirty runs in random order against a log kept beside."""
    rng = random.Random(3)
    session.sql("CREATE TABLE shop.silver (id BIGINT NOT NULL, amount BIGINT, PRIMARY KEY (id))")
    log = {"shop.silver": set(), "shop.gold": set()}
    for run in range(30):
        step = rng.choice(["raw", "silver", "gold"])
        version = {name: lake.table(name).snapshot() for name in ("shop.raw", "shop.silver")}
        if step == "raw":
            session.sql(f"INSERT INTO shop.raw VALUES ({rng.randrange(5)}, {run}, 'n')")
        elif step == "silver":
            session.sql("INSERT INTO shop.silver SELECT id, amount FROM shop.raw")
            log["shop.silver"].add(version["shop.raw"].snapshot_id)
        elif version["shop.silver"] is not None:
            session.sql("CREATE OR REPLACE TABLE shop.gold AS SELECT sum(amount) AS total FROM shop.silver")
            log["shop.gold"] = {version["shop.silver"].snapshot_id}
    made = {str(each.version): each for each in why(lake, "shop.gold")}
    gold = next(each for each in made.values() if each.depth == 0)
    assert {version.snapshot_id for version, _ in gold.inputs} == log["shop.gold"]
    silver = made[f"shop.silver@{max(log['shop.gold'])}"]
    read = {version.snapshot_id for version, _ in silver.inputs}
    assert read <= log["shop.silver"]
    now = why(lake, "shop.silver")[0]
    assert {version.snapshot_id for version, _ in now.inputs} == log["shop.silver"]


def test_origins_become_part_of_the_graph(session, lake):
    store = GraphStore(lake)
    session.sql("INSERT INTO shop.raw SELECT id + 10, amount, note FROM shop.raw")
    _, count = ingest_origins(store)
    assert count == 4
    graph = LineageGraph(store.state())
    found = {str(node) for node in graph.trace("shop.gold.total").nodes}
    assert {"shop.clean.amount", "shop.raw.amount"} <= found
    reads = {
        (row["dataset"], row["version"]) for row in graph.state.read(RUN_INPUTS).to_pylist() if row["role"] == "input"
    }
    assert {("shop.raw", "1"), ("shop.clean", "1")} <= reads
    assert all(not dataset.startswith("lineage.") for dataset in graph.index.datasets)


def test_origins_twice_change_nothing(session, lake):
    store = GraphStore(lake)
    ingest_origins(store)
    before = store.state()
    ingest_origins(store)
    assert store.state().pins == before.pins
    session.sql("UPDATE shop.raw SET amount = 5 WHERE id = 1")
    ingest_origins(store)
    assert store.state().pins != before.pins
