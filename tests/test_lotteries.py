"""Lotteries: what actions share, spelled out and back again."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from graphs import ending_graphs
from hypothesis import given
from hypothesis import strategies as st
from little_games import ALL

from rollwise import build
from rollwise.games.pig import Pig
from rollwise.games.super_six import SuperSix
from rollwise.graph import ARRAYS, FACTS, StateGraph
from rollwise.kernels.lotteries import mixed
from rollwise.layers import layer_of_graph

pytestmark = pytest.mark.kernels

GAMES = [*ALL[:6], Pig(9), SuperSix(6)]


def lotteries_one_by_one(graph: StateGraph) -> list[tuple]:
    """The naive twin: the lottery of each action, written out."""
    found = []
    for a in range(graph.n_actions):
        part = slice(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
        found.append(
            (
                graph.action_reward[a],
                *zip(
                    graph.outcome_weight[part].tolist(),
                    (graph.outcome_state[part] < 0).tolist(),
                    graph.outcome_passes[part].tolist(),
                    graph.outcome_payoff[part].tolist(),
                    strict=True,
                ),
            )
        )
    return found


def assert_shared(graph: StateGraph) -> None:
    twin = lotteries_one_by_one(graph)
    numbers = {lottery: i for i, lottery in enumerate(dict.fromkeys(twin))}
    assert graph.action_lottery.tolist() == [numbers[lottery] for lottery in twin]
    found = graph.lotteries
    assert len(found.reward) == len(numbers)
    for lottery, i in numbers.items():
        part = slice(found.indptr[i], found.indptr[i + 1])
        assert lottery == (
            found.reward[i],
            *zip(
                found.weight[part].tolist(),
                found.over[part].tolist(),
                found.passes[part].tolist(),
                found.payoff[part].tolist(),
                strict=True,
            ),
        )


@given(ending_graphs())
def test_of_random_graphs(graph):
    assert_shared(graph)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_of_games(game):
    built = build(game, mode="interpreted")
    assert_shared(built)
    again = StateGraph.of_arrays(**{name: getattr(built, name) for name in (*ARRAYS, *FACTS)})
    assert_shared(again)
    assert again.content_hash == built.content_hash
    for one, other in zip(again.lotteries, built.lotteries, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


@given(ending_graphs())
def test_changed_arrays(graph):
    """A graph with other points is the graph that was made with them."""
    doubled = graph.with_arrays(action_reward=2 * graph.action_reward)
    assert doubled.action_reward.tolist() == (2 * graph.action_reward).tolist()
    assert doubled.outcome_weight.tolist() == graph.outcome_weight.tolist()
    assert_shared(doubled)
    halved = doubled.with_arrays(action_reward=graph.action_reward)
    assert halved.content_hash == graph.content_hash


@given(ending_graphs(n_border=2))
def test_a_layer_in_solving_order_is_the_same_graph(graph):
    """Solving order moves positions, and endings have places of their own; nothing else changes."""
    layer = layer_of_graph(graph)
    (_, block), tables, first = layer.blocks[0], layer.tables, layer.first_outcomes()
    sign = -1 if graph.objective == "minimize" else 1
    moves = naive.moves_of_graph(graph)
    order = [*layer.order.tolist(), *range(graph.n_states, graph.n_states + graph.n_border)]
    for i in range(layer.n):
        begin, end = block.first[i : i + 2, 1].tolist()
        assert end - begin == len(moves[order[i]])
        for a, move in zip(range(begin, end), moves[order[i]], strict=True):
            number = int(block.lottery[a])
            together: dict[int, float] = {}
            constant, o = float(tables.reward[number]), int(first[a])
            for c in tables.coefficient[slice(*tables.indptr[number : number + 2])].tolist():
                t = int(block.target[o])
                o += 1
                if t < len(order):
                    together[order[t]] = together.get(order[t], 0.0) + c
                else:
                    constant += c * layer.endings[t - len(order)]
            expected = {t: float(x) for t, x in move.coefficients.items()}
            assert together == pytest.approx(expected, abs=1e-15)
            assert constant == pytest.approx(sign * float(move.constant), abs=1e-15)


@given(
    st.integers(0, 2**53),
    st.integers(1, 2**20),
    st.booleans(),
    st.integers(0, 32),
)
def test_keys_in_sequence_spread_over_a_table(start, step, as_doubles, shift):
    n = 1 << 12
    numbers = np.array([start + step * k for k in range(n)], np.uint64)
    if as_doubles:  # whole numbers as doubles have no lower bits
        numbers = numbers.astype(np.float64).view(np.uint64)
    numbers = np.unique(numbers << np.uint64(shift))
    with np.errstate(over="ignore"):
        slots = {int(mixed(np.uint64(number))) % (2 * n) for number in numbers.tolist()}
    # chance alone leaves 1 - exp(-1/2) of 8,192 slots taken, which is 0.787 of 4,096
    assert len(slots) > 0.7 * len(numbers) or len(numbers) < n // 4
