"""Strongly connected components against reachability worked out naively."""

from __future__ import annotations

from itertools import pairwise

import naive
import numpy as np
import pytest
from graphs import assemble, chain
from hypothesis import given
from hypothesis import strategies as st

from rollwise.builders import build
from rollwise.games.pig import Pig
from rollwise.graph.lotteries import Components, ComponentSearch
from rollwise.layers import layer_of_graph, ordering_of
from rollwise.then import AGAIN, PASS, WIN

pytestmark = pytest.mark.kernels


@st.composite
def digraphs(draw):
    """Actions and outcomes as CSR arrays, with targets outside the graph among them."""
    n = draw(st.integers(1, 12))
    target = st.integers(-1, n + 1)
    action = st.lists(target, min_size=1, max_size=3)
    return draw(st.lists(st.lists(action, min_size=1, max_size=2), min_size=n, max_size=n))


def arrays_of(table):
    actions = [action for options in table for action in options]
    return (
        np.cumsum([0, *map(len, table)]).astype(np.int64),
        np.cumsum([0, *map(len, actions)]).astype(np.int64),
        np.array([t for action in actions for t in action], np.int32),
    )


def successors_of(table):
    return {
        s: {t for action in options for t in action if 0 <= t < len(table)}
        for s, options in enumerate(table)
    }


def assert_right(order, indptr, successors):
    n = len(successors)
    assert sorted(order.tolist()) == list(range(n))
    assert indptr[0] == 0
    assert indptr[-1] == n
    parts = [order[a:b].tolist() for a, b in pairwise(indptr)]
    assert {frozenset(part) for part in parts} == naive.strong_components(successors)
    done = set()
    for part in parts:  # what a component leads to stands before it
        done |= set(part)
        assert all(successors[s] <= done for s in part)


@given(digraphs())
def test_components_are_those_of_reachability(table):
    actions, outcomes, target = arrays_of(table)
    found = Components.of(outcomes[actions], target)
    assert found.position[found.order].tolist() == list(range(len(table)))
    assert found.order.dtype == np.int32
    assert found.indptr.dtype == np.int64
    assert_right(found.order, found.indptr, successors_of(table))


@given(digraphs(), st.integers(1, 5))
def test_components_found_piece_by_piece_are_the_same(table, step):
    actions, outcomes, target = arrays_of(table)
    whole, n = Components.of(outcomes[actions], target), len(table)
    search = ComponentSearch(outcomes[actions], target)
    for wanted in [*range(step, n, step), n]:
        found = search.find(wanted)
        end = search.indptr[found]
        assert found == whole.find(end)
        assert end >= wanted
        # the components found first hold no state that a later one holds
        assert search.order[:end].tolist() == whole.order[:end].tolist()
        assert search.position[search.order[:end]].tolist() == list(range(end))
    assert search.indptr[: found + 1].tolist() == whole.indptr.tolist()


def test_a_layer_ordered_piece_by_piece_is_the_same():
    graph = build(Pig(target=20))
    whole, ordering = layer_of_graph(graph), ordering_of(graph, graph.component_search())
    for wanted in range(100, graph.n_states, 100):
        ordering.advance(ordering.find(wanted))
    layer = ordering.run()
    for arrays in (
        (whole.blocks[0][1], layer.blocks[0][1]),
        ((whole.parts.ends, whole.parts.n_feedback), (layer.parts.ends, layer.parts.n_feedback)),
        ((whole.position,), (layer.position,)),
    ):
        for one, other in zip(*arrays, strict=True):
            assert np.array_equal(one, other)


def test_a_long_path_does_not_overflow_the_stack():
    n = 50_000
    table = [[(0.0, [(1, AGAIN, s + 1)])] for s in range(n - 1)] + [[(0.0, [(1, WIN, None)])]]
    components = assemble(table).components
    assert len(components) == n
    assert components.order.tolist() == list(range(n - 1, -1, -1))
    assert len(chain(1000).components) == 1


def test_within_a_component_a_state_stands_after_what_it_leads_to():
    """Only 3 -> 0 closes the cycle 0 -> 1 -> 2 -> 3; it is the one edge that looks back."""
    table = [[(0.0, [(1, AGAIN, (s + 1) % 4), (1, WIN, None)])] for s in range(4)]
    table[1].append((0.0, [(1, PASS, 3), (1, WIN, None)]))
    order = assemble(table).components.order.tolist()
    assert order == [3, 2, 1, 0]
