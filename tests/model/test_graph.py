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


def test_depth_limits_the_walk():
    chain = Graph([Link(i, i + 1, None) for i in range(10)])
    assert chain.downstream(0, depth=2) == {1: 1, 2: 2}


def test_a_long_chain_needs_no_recursion():
    chain = Graph([Link(i, i + 1, None) for i in range(50_000)])
    assert len(chain.upstream(50_000)) == 50_000
