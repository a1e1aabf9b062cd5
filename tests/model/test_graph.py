from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from headwater.model.graph import Graph, Link

links = st.lists(st.builds(Link, st.integers(0, 9), st.integers(0, 9), st.just(None)), max_size=30)


def reach(links, start):
    """The slow, obvious answer."""
    found, grown = set(), {start}
    while grown:
        grown = {link.target for link in links if link.source in grown} - found
        found |= grown
    return found


@given(links, st.integers(0, 9))
def test_downstream_is_reachability(links, start):
    assert set(Graph(links).downstream(start)) == reach(links, start) - {start}


@given(links, st.integers(0, 9))
def test_upstream_mirrors_downstream(links, node):
    mirrored = Graph([Link(link.target, link.source, None) for link in links])
    assert Graph(links).upstream(node) == mirrored.downstream(node)


@given(links, st.integers(0, 9), st.integers(0, 9))
def test_path_is_connected_and_shortest(links, source, target):
    graph = Graph(links)
    way = graph.path(source, target)
    if source == target:
        assert way == []
    elif target not in graph.downstream(source):
        assert way is None
    else:
        assert len(way) == graph.downstream(source)[target]
        assert (way[0].source, way[-1].target) == (source, target)
        assert all(a.target == b.source for a, b in pairwise(way))


@given(links)
def test_cycles_are_the_nodes_that_reach_themselves(links):
    graph = Graph(links)
    in_cycles = [node for group in graph.cycles() for node in group]
    assert sorted(in_cycles) == sorted(node for node in graph if node in reach(links, node))


@given(links)
def test_order_puts_inputs_first_outside_cycles(links):
    graph = Graph(links)
    position = {node: i for i, node in enumerate(graph.order())}
    assert len(position) == len(graph)
    for link in graph.links:
        if link.source not in reach(links, link.target) and link.source != link.target:
            assert position[link.source] < position[link.target]


@given(links, st.integers(0, 9), st.integers(0, 9))
def test_between_keeps_exactly_the_ways(links, source, target):
    part = Graph(links).between(source, target)
    for link in part.links:
        assert link.source == source or link.source in reach(links, source)
        assert link.target == target or target in reach(links, link.target)


def test_depth_limits_the_walk():
    chain = Graph([Link(i, i + 1, None) for i in range(10)])
    assert chain.downstream(0, depth=2) == {1: 1, 2: 2}


def test_a_long_chain_needs_no_recursion():
    chain = Graph([Link(i, i + 1, None) for i in range(50_000)])
    assert chain.cycles() == []
    assert len(chain.upstream(50_000)) == 50_000
