"""A state has one number, through every door, whatever compaction and expiry do to the tables of the graph."""

import datetime
import json

import pytest
from tests.cli.test_main import fails, headwater
from tests.server.conftest import client_of

from headwater.errors import NotFoundError, UsageError
from headwater.graph import GraphChange, GraphStore, LineageGraph, diff_states
from headwater.graph.store import facts_to_arrow
from headwater.graph.tables import ALL_TABLES, EDGES, FACT_TABLES, HARVESTS
from headwater.lake.tables import Warehouse

from .conftest import facts_of

STATES = 6


def script(number):
    return ("a.sql", f"CREATE TABLE mart.a AS SELECT amount * {number} AS cents FROM raw.orders;")


def harvest_state(store, number):
    store.apply(GraphChange(facts_of(script(number)), record={"kind": "harvest", "sources": [str(number)]}))


def compact(store):
    for spec in ALL_TABLES:
        store.table(spec).compact()


def expire(store, keep):
    for spec in ALL_TABLES:
        store.table(spec).expire_snapshots(keep_min=keep, older_than=0)


def expressions(graph):
    return {step.expression for step in graph.trace("mart.a.cents").steps}


@pytest.fixture
def aged(store):
    """Six states; after each the tables were compacted, so that snapshots are twice as many."""
    for number in range(1, STATES + 1):
        harvest_state(store, number)
        compact(store)
    return store


def test_compactions_do_not_count(aged):
    assert aged.table(HARVESTS).snapshot().snapshot_id > STATES
    assert [record["number"] for record in aged.harvests()] == list(range(1, STATES + 1))
    assert aged.state().number == STATES
    for number in range(1, STATES + 1):
        state = aged.state(number)
        assert expressions(LineageGraph(state)) == {f"amount * {number}"}
        assert (state.number, state.time) == (number, aged.harvests()[number - 1]["ended"])
        assert aged.state(f"@{number - STATES}").number == aged.state(state.time).number == number
    [change] = diff_states(aged.state(STATES - 1), aged.state(STATES)).edges
    assert (change.before, change.after) == ("amount * 5", "amount * 6")


def test_expired_states_are_refused_and_those_that_are_there_are_named(aged):
    expire(aged, 3)
    assert [record["number"] for record in aged.harvests()] == list(range(1, STATES + 1))
    kept = [record["number"] for record in aged.harvests() if not record["expired"]]
    assert kept == [5, 6]
    for number in kept:
        assert expressions(LineageGraph(aged.state(number))) == {f"amount * {number}"}
    for at in (1, "4", "@-2", aged.harvests()[3]["ended"]):
        with pytest.raises(NotFoundError, match=r"state [14] of the graph has expired") as caught:
            aged.state(at)
        assert "states that can be read: 5 to 6" in caught.value.hint
    for at in (0, 7, "52", "@-6", datetime.date(2001, 1, 1)):
        with pytest.raises(NotFoundError, match="the graph has no state") as caught:
            aged.state(at)
        assert "5 to 6" in caught.value.hint
    with pytest.raises(UsageError, match="not a state of the graph"):
        aged.state("tomorrow")
    assert aged.first_state().number == 5
    harvest_state(aged, 7)
    assert aged.state().number == 7
    assert diff_states(aged.first_state(), aged.state()).edges


def test_the_latest_state_outlives_compaction_and_the_hardest_expiry(aged):
    """The snapshots that its record names are gone; compactions of them have the same rows."""
    before = {spec.name: aged.state().read(spec).to_pylist() for spec in FACT_TABLES}
    expire(aged, 1)
    assert {spec.name: aged.state().read(spec).to_pylist() for spec in FACT_TABLES} == before
    assert [record["number"] for record in aged.harvests() if not record["expired"]] == [STATES]
    harvest_state(aged, 7)
    assert aged.state().number == 7
    assert expressions(LineageGraph(aged.state())) == {"amount * 7"}


def test_half_a_change_is_not_taken_for_the_state_it_follows(aged):
    rows = facts_to_arrow(facts_of(script(9)), EDGES)
    aged.table(EDGES).write(rows, commit_user="headwater-graph", commit_id="dead-edges")
    aged.table(EDGES).expire_snapshots(keep_min=1, older_than=0)
    there = aged.table(EDGES).to_arrow()
    for ask in (aged.state, aged.settle, lambda: harvest_state(aged, 7)):
        with pytest.raises(NotFoundError, match="state 6 of the graph has expired"):
            ask()
    assert aged.table(EDGES).to_arrow() == there


def test_a_tagged_state_stays(aged):
    for spec in ALL_TABLES:
        snapshot = aged.state(2).pins.get(spec.name)
        if snapshot is not None:
            aged.table(spec).create_tag("audit", snapshot)
    aged.table(HARVESTS).create_tag("audit")
    expire(aged, 1)
    assert expressions(LineageGraph(aged.state(2))) == {"amount * 2"}
    assert [record["number"] for record in aged.harvests() if not record["expired"]] == [2, STATES]
    assert aged.state("audit").number == STATES


def test_a_change_made_again_keeps_its_number(store):
    change = GraphChange(facts_of(script(1)), record={"kind": "harvest"})
    store.apply(change)
    harvest_state(store, 2)
    store.apply(change)
    assert [record["number"] for record in store.harvests()] == [1, 2]


@pytest.mark.slow
def test_every_door_means_the_same_state(tmp_path):
    folder = tmp_path / "lake"
    store = GraphStore(Warehouse(folder))
    for number in range(1, STATES + 1):
        harvest_state(store, number)
        compact(store)
    expire(store, 3)
    assert expressions(LineageGraph.open(str(folder), 5)) == {"amount * 5"}

    def run(*args, code=0):
        done = headwater(*args, "--warehouse", str(folder), cwd=tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    listed = [line.split() for line in run("harvests").splitlines()]
    assert [words[0] for words in listed[-STATES:]] == ["1", "2", "3", "4", "5", "6"]
    assert [words[-1] == "expired" for words in listed[-STATES:]] == [True] * 4 + [False] * 2
    for words in (("trace", "mart.a.cents"), ("impact", "raw.orders.amount"), ("path", "raw.orders", "mart.a")):
        assert "amount * 5" in run(*words, "--as-of", "5")
        assert "amount * 6" in run(*words, "--as-of", "6")
    assert "amount * 5 ⇒ amount * 6" in run("diff", "5..6", code=1)
    assert "amount * 5 ⇒ amount * 6" in run("diff", "..", code=1)
    refused = headwater("diff", "4..5", "--warehouse", str(folder), cwd=tmp_path)
    fails(refused, "not-found", "state 4 of the graph has expired", "5 to 6")

    with client_of(folder) as client:

        def ask(path, status=200, **query):
            answer = client.get(f"/api/v1{path}", params=query)
            assert answer.status_code == status, answer.text
            return answer.json()

        states = ask("/states")["states"]
        assert [(each["number"], each["expired"]) for each in states] == [(n, n < 5) for n in range(1, 7)]
        for number in (5, 6):
            [edge] = ask("/edge", source="raw.orders", target="mart.a", source_column="amount", at=number)["edges"]
            assert edge["expression"] == f"amount * {number}"
            assert ask("/picture", select="mart.a", at=number)["state"] == number
        changed = ask("/diff", before="5", after="6")["edges"]
        assert [(edge["before"], edge["after"]) for edge in changed] == [("amount * 5", "amount * 6")]
        assert ask("/trace", 404, name="mart.a", at="4")["error"]["code"] == "not-found"
    assert json.loads(run("harvests", "--json"))[-1]["number"] == 6
