"""Changes of the graph are seen whole or not at all; states can be revisited and compared."""

import dataclasses
from itertools import pairwise

import pytest
from tests.effort import THOROUGH

from headwater.errors import NotFoundError
from headwater.graph import GraphChange, GraphStore, LineageGraph, Node, diff_facts, diff_states
from headwater.graph.diff import EdgeChange
from headwater.graph.diff_formats import DIFF_FORMATS, render_diff
from headwater.graph.store import facts_to_arrow
from headwater.graph.tables import COLUMNS, EDGES, FACT_TABLES, HARVESTS, STATEMENTS
from headwater.lake.tables import Warehouse
from headwater.model.edges import Kind

from .conftest import MARTS, STAGING, facts_of, harvested

CHANGED = STAGING.replace("amount * 100", "amount * 1000").replace("md5(name) AS name_hash", "name")


def test_no_lineage_yet(store):
    with pytest.raises(NotFoundError, match="no lineage") as caught:
        store.state()
    assert "headwater harvest" in caught.value.hint
    assert store.harvests() == []


def test_a_change_without_its_record_is_not_seen(estate):
    """What a process leaves that dies between the tables."""
    before = estate.state()
    facts = facts_of(("staging.sql", CHANGED))
    estate.table(EDGES).write(facts_to_arrow(facts, EDGES))
    seen = estate.state()
    assert seen.pins == before.pins
    assert seen.read(EDGES) == before.read(EDGES)
    harvested(estate, ("staging.sql", CHANGED))
    assert estate.state().read(EDGES) != before.read(EDGES)


def test_dying_at_every_table_leaves_the_old_state_and_a_rerun_completes(tmp_path, monkeypatch):
    from headwater.lake.tables import Table

    whole = GraphStore(Warehouse(tmp_path / "whole"))
    harvested(whole, ("staging.sql", STAGING))
    harvested(whole, ("staging.sql", CHANGED))
    wanted = {spec.name: whole.state().read(spec) for spec in FACT_TABLES}
    real = Table.write
    for dies_at in range(0, len(FACT_TABLES) + 1, 1 if THOROUGH else 4):
        store = GraphStore(Warehouse(tmp_path / str(dies_at)))
        harvested(store, ("staging.sql", STAGING))
        before = store.state()
        shown = {spec.name: before.read(spec) for spec in FACT_TABLES}
        change = GraphChange(facts_of(("staging.sql", CHANGED)), record={"kind": "harvest"})
        left = [dies_at]

        def write(self, *args, left=left, **options):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return real(self, *args, **options)

        monkeypatch.setattr(Table, "write", write)
        try:
            store.apply(change)
        except KeyboardInterrupt:
            assert store.state().pins == before.pins
            assert {spec.name: store.state().read(spec) for spec in FACT_TABLES} == shown
        monkeypatch.setattr(Table, "write", real)
        store.apply(change)
        state = store.state()
        assert {spec.name: state.read(spec) for spec in FACT_TABLES} == wanted
        assert len(store.harvests()) == 2


def test_states_can_be_revisited(estate):
    harvested(estate, ("staging.sql", CHANGED))
    old, new = LineageGraph(estate.state("@-1")), LineageGraph(estate.state())
    step = old.trace("stg.orders.cents").steps
    assert "amount * 100" in {each.expression for each in step}
    assert "amount * 1000" in {each.expression for each in new.trace("stg.orders.cents").steps}
    assert (old.state.number, new.state.number) == (1, 2)
    assert old.state.time <= new.state.time


def test_removed_keys_are_gone(estate):
    keys = [tuple(row[name] for name in EDGES.key) for row in estate.state().read(EDGES).to_pylist()]
    gone = [key for key in keys if key[0] == "marts.sql#0"]
    estate.apply(GraphChange(removed={"edges": gone, "statements": [("marts.sql#0",)]}, record={"kind": "harvest"}))
    state = estate.state()
    assert state.read(EDGES).num_rows == len(keys) - len(gone)
    assert "marts.sql#0" not in state.read(STATEMENTS).column("statement").to_pylist()
    with pytest.raises(NotFoundError):
        LineageGraph(state).trace("mart.revenue.total")


def test_diff_of_states(estate):
    before = estate.state()
    harvested(estate, ("staging.sql", CHANGED))
    rows = estate.state().read(EDGES).to_pylist()
    old = [tuple(row[n] for n in EDGES.key) for row in rows if row["target_column"] == "name_hash"]
    estate.apply(GraphChange(removed={"edges": old, "columns": [("stg.customers", "name_hash")]}))
    diff = diff_states(before, estate.state())
    assert diff.of("changed") == [
        EdgeChange(
            "changed",
            Node("raw.orders", "amount"),
            Node("stg.orders", "cents"),
            Kind.TRANSFORMATION,
            "amount * 100",
            "amount * 1000",
        )
    ]
    assert [str(each.target) for each in diff.of("added")] == ["stg.customers.name"]
    assert [str(each.target) for each in diff.of("removed")] == ["stg.customers.name_hash"]
    assert (diff.columns_added, diff.columns_removed) == (
        (Node("stg.customers", "name"),),
        (Node("stg.customers", "name_hash"),),
    )
    back = diff_states(estate.state(), before)
    assert [str(each.target) for each in back.of("added")] == ["stg.customers.name_hash"]
    assert not diff_states(before, before)


def test_an_edge_with_another_witness_is_not_removed(store):
    twice = [("a.sql", "INSERT INTO d (x) SELECT a FROM t;"), ("b.sql", "INSERT INTO d (x) SELECT a FROM t;")]
    harvested(store, *twice, schema={"t": ["a"], "d": ["x"]})
    before = store.state()
    gone = [tuple(row[n] for n in EDGES.key) for row in before.read(EDGES).to_pylist() if row["file"] == "b.sql"]
    assert gone
    store.apply(GraphChange(removed={"edges": gone}))
    assert not diff_states(before, store.state()).edges


@pytest.mark.parametrize("format", DIFF_FORMATS)
def test_diffs_of_folders_in_every_format(format):
    diff = diff_facts(facts_of(("s.sql", STAGING), ("m.sql", MARTS)), facts_of(("s.sql", CHANGED)))
    text = render_diff(diff, format)
    assert "amount * 1000" in text
    assert "mart.revenue" in text
    if format in ("markdown", "github"):
        assert "Gone tables: `mart.counts`, `mart.revenue`." in text


def test_no_difference_is_said():
    facts = facts_of(("s.sql", STAGING))
    diff = diff_facts(facts, facts)
    assert not diff
    assert render_diff(diff) == "no differences"
    assert render_diff(diff, "markdown") == "**Lineage:** no change."


def test_the_record_names_the_snapshots(estate):
    [record] = estate.harvests()
    assert dict(record["snapshots"]).keys() == {
        "datasets",
        "columns",
        "statements",
        "edges",
    }
    assert estate.table(HARVESTS).snapshot().snapshot_id == 1


def test_a_change_begins_by_taking_back_what_a_dead_one_has_left(estate):
    """Without that, the record of the next change would show the half of the one before."""
    before = {spec.name: estate.state().read(spec).to_pylist() for spec in FACT_TABLES}
    half = facts_of(("staging.sql", CHANGED))
    for spec in (EDGES, STATEMENTS):
        rows = facts_to_arrow(half, spec)
        keys = estate.table(spec).to_arrow(list(spec.key)).slice(0, 2)
        estate.table(spec).write(rows, deletes=keys, commit_user="headwater-graph", commit_id=f"dead-{spec.name}")
    estate.apply(GraphChange(record={"kind": "ingest"}))
    after = {spec.name: estate.state().read(spec).to_pylist() for spec in FACT_TABLES}
    assert {name: sorted(map(str, rows)) for name, rows in after.items()} == {
        name: sorted(map(str, rows)) for name, rows in before.items()
    }
    assert estate.state().pins != {}


def test_a_change_that_was_taken_back_can_be_made_again(store):
    first = GraphChange(facts_of(("staging.sql", STAGING)), record={"kind": "harvest"})
    store.create()
    rows = facts_to_arrow(first.facts, EDGES)
    store.table(EDGES).write(rows, commit_user="headwater-graph", commit_id=f"{first.id}-{EDGES.name}")
    store.settle()
    assert store.table(EDGES).to_arrow().num_rows == 0
    store.apply(first)
    assert store.state().read(EDGES).num_rows == rows.num_rows


def test_changes_of_several_processes_take_turns(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    def change(number):
        store = GraphStore(Warehouse(tmp_path / "lake"))
        store.apply(GraphChange(facts_of((f"{number}.sql", STAGING)), record={"kind": "harvest"}))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(8)))
    store = GraphStore(Warehouse(tmp_path / "lake"))
    records = sorted(store.harvests(), key=lambda record: dict(record["snapshots"])["edges"])
    assert len(records) == 8
    for earlier, later in pairwise(records):  # each shows all of those before it, and nothing in between
        pins, then = dict(later["snapshots"]), dict(earlier["snapshots"])
        assert all(pins[name] >= then.get(name, 0) for name in pins)
        assert pins["statements"] > then["statements"]


def test_columns_that_a_state_does_not_have_are_null(tmp_path):
    store = GraphStore(str(tmp_path))
    harvested(store, ("staging.sql", STAGING))
    later = dataclasses.replace(COLUMNS, columns=(*COLUMNS.columns, ("later", "ARRAY<STRING>", "of a newer version")))
    state = store.state()
    assert state.read(later).column_names == [*COLUMNS.names, "later"]
    found = state.read(later, ["later", "dataset"])
    assert found.column_names == ["later", "dataset"]
    assert found.num_rows == state.read(COLUMNS).num_rows > 0
    assert set(found.column("later").to_pylist()) == {None}
