"""Walks over arrays against walks over a plain graph of Python objects."""

import re

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from headwater.graph import Answer, Node, Step
from headwater.graph.formats import tree
from headwater.graph.index import Direction, EdgeIndex
from headwater.graph.store import arrow_schema
from headwater.graph.tables import EDGES, WHOLE
from headwater.model.edges import InfluenceClass, Kind
from headwater.model.graph import Graph, Link

NODES = st.tuples(st.sampled_from("tuvw"), st.sampled_from(["a", "b", "c", "s", "s.x", "s.y", "s.x.z", WHOLE]))
ROWS = st.lists(st.tuples(NODES, NODES, st.sampled_from(list(Kind))), max_size=25, unique=True)


def index_of(rows):
    plain = [
        dict.fromkeys(EDGES.names)
        | {"statement": str(number), "kind": kind.value}
        | {"source": a[0], "source_column": a[1], "target": b[0], "target_column": b[1]}
        for number, (a, b, kind) in enumerate(rows)
    ]
    return EdgeIndex(pa.Table.from_pylist(plain, arrow_schema(EDGES)).select(EdgeIndex.columns()))


def related(a, b):
    """Whether one column is inside the other."""
    return a != b and WHOLE not in (a, b) and (a.startswith((f"{b}.", f"{b}[")) or b.startswith((f"{a}.", f"{a}[")))


def plain_walk(rows, starts, direction, wanted):
    """The same rules, said one node at a time."""
    nodes = {end for a, b, _ in rows for end in (a, b)}
    reached = dict.fromkeys(starts, 0)
    frontier, step = set(starts), 0
    while frontier:
        step += 1
        found = set()
        standing = frontier | {
            other for node in frontier for other in nodes if other[0] == node[0] and related(other[1], node[1])
        }
        if direction is Direction.DOWNSTREAM:
            standing |= {other for node in standing if node[1] == WHOLE for other in nodes if other[0] == node[0]}
        for a, b, kind in rows:
            if kind.influence not in wanted:
                continue
            here, there = (b, a) if direction is Direction.UPSTREAM else (a, b)
            by_whole = here[1] == WHOLE and any(node[0] == here[0] for node in standing)
            if direction is Direction.DOWNSTREAM and kind.influence is not InfluenceClass.VALUE:
                by_whole = False
            if here in standing or by_whole:
                found.add(there)
        frontier = found - reached.keys()
        reached |= dict.fromkeys(frontier, step)
    return reached


@given(ROWS, st.sets(st.sampled_from(list(InfluenceClass)), min_size=1), st.sampled_from(list(Direction)), st.data())
def test_walks_are_what_the_rules_say(rows, wanted, direction, data):
    index = index_of(rows)
    if not index.nodes:
        return
    starts = data.draw(st.sets(st.sampled_from(index.nodes), min_size=1, max_size=3))
    walk = index.walk([index.id_of(*start) for start in starts], direction, influences=wanted)
    found = {index.node(id): steps for id, steps in walk.distance.items()}
    assert found == plain_walk(rows, starts, direction, wanted)
    for row in walk.edges:
        assert index.node(int(index.sources[row])) == rows[row][0]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_without_structs_and_whole_tables_it_is_a_plain_graph(pairs):
    rows = [((f"t{a}", "c"), (f"t{b}", "c"), Kind.IDENTITY) for a, b in dict.fromkeys(pairs)]
    index = index_of(rows)
    graph = Graph([Link(a, b, None) for a, b, _ in rows])
    for node in graph:
        id = index.id_of(*node)
        for direction, expected in (
            (Direction.DOWNSTREAM, graph.downstream(node)),
            (Direction.UPSTREAM, graph.upstream(node)),
        ):
            walk = index.walk([id], direction)
            assert {index.node(i): d for i, d in walk.distance.items() if d} == expected


def test_an_empty_graph():
    index = index_of([])
    assert len(index) == 0
    assert index.nodes == []
    assert index.walk([], Direction.UPSTREAM).distance == {}


@given(ROWS, st.sets(st.sampled_from(list(InfluenceClass)), min_size=1), st.sampled_from(list(Direction)), st.data())
def test_a_tree_shows_every_node_of_an_answer(rows, wanted, direction, data):
    index = index_of(rows)
    if not len(index):
        return
    start = data.draw(st.integers(0, len(index.nodes) - 1))
    walk = index.walk([start], direction, influences=wanted)
    nodes = [Node(*index.node(id)) for id in range(len(index.nodes))]
    steps = tuple(
        Step(nodes[index.sources[row]], nodes[index.targets[row]], rows[row][2], str(row)) for row in walk.edges
    )
    answer = Answer((nodes[start],), {nodes[id]: far for id, far in walk.distance.items()}, steps, direction)
    shown = {re.sub("^[│├└─ ]*", "", line).partition("  ")[0] for line in tree(answer).splitlines()}
    assert shown == {str(node) for node in answer.distance}
