"""Lotteries: what actions share, spelled out and back again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import naive
import numpy as np
import pytest
from graphs import assemble, ending_graphs
from hypothesis import given
from hypothesis import strategies as st
from little_games import ALL

from rollwise import build
from rollwise.game import AGAIN, DRAW, LOSE, PASS, WIN, Game, payoff
from rollwise.games.pig import Pig
from rollwise.games.super_six import SuperSix
from rollwise.graph import ARRAYS, FACTS, SPELLED_OUT, StateGraph
from rollwise.kernels.lotteries import mixed
from rollwise.layers import layer_of_graph

pytestmark = pytest.mark.kernels

GAMES = [*ALL[:6], Pig(9), SuperSix(6)]


class Pot(NamedTuple):
    points: int


@dataclass(frozen=True)
class Points(Game):
    """Walk along a row; each place pays its own number of points, as a reward or at the end."""

    places: int
    ends: bool

    def start(self):
        return Pot(0)

    def actions(self, s):
        yield 0
        if s.points + 1 < self.places:
            yield 1

    def reward(self, s, action):
        return 4194304 + s.points if action == 0 and not self.ends else 0

    def outcomes(self, s, action):
        if action == 1:
            yield 1, AGAIN, Pot(s.points + 1)
        elif self.ends:
            yield 1, payoff(4194304 + s.points), s
        else:
            yield 1, DRAW, s


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


def test_many_lotteries():
    """More than the table begins with, so that it grows."""
    table = [[(0.0, [(s % 1500 + 1, WIN, None), (7, LOSE, None)])] for s in range(3000)]
    graph = assemble(table)
    assert len(graph.lotteries.reward) == 1500
    assert graph.action_lottery.tolist() == [s % 1500 for s in range(3000)]


@given(ending_graphs())
def test_changed_arrays(graph):
    """A graph with other points is the graph that was made with them."""
    doubled = graph.with_arrays(action_reward=2 * graph.action_reward)
    assert doubled.action_reward.tolist() == (2 * graph.action_reward).tolist()
    assert doubled.outcome_weight.tolist() == graph.outcome_weight.tolist()
    assert_shared(doubled)
    halved = doubled.with_arrays(action_reward=graph.action_reward)
    assert halved.content_hash == graph.content_hash


def test_what_tells_lotteries_apart():
    outcomes = [
        (0.0, [(1, WIN, None)]),
        (0.0, [(1, DRAW, None)]),
        (0.0, [(1, AGAIN, 1)]),
        (0.0, [(1, PASS, 1)]),
        (0.0, [(2, PASS, 1)]),
        (0.5, [(2, PASS, 1)]),
        (0.5, [(2, PASS, 1), (2, PASS, 1)]),
    ]
    graph = assemble([outcomes, [(0.0, [(1, WIN, None)])]])
    assert graph.action_lottery.tolist() == [0, 1, 2, 3, 4, 5, 6, 0]


def test_spelled_out_only_when_asked_for():
    graph = build(Pig(9))
    held = graph.nbytes
    assert not set(SPELLED_OUT) & set(vars(graph))
    assert graph.outcome_weight.sum() > graph.n_actions
    assert set(SPELLED_OUT) & set(vars(graph)) == {"outcome_weight"}
    assert graph.nbytes > held
    with pytest.raises(AttributeError, match="colour"):
        _ = graph.colour


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


@pytest.mark.needs_jit
@pytest.mark.parametrize("ends", [False, True])
def test_as_many_lotteries_as_there_are_points(ends):
    n = 300_000
    graph = build(Points(n, ends), mode="compiled")
    assert len(graph.lotteries.reward) == n + 1
    first = 2**22
    numbers = graph.lotteries.payoff if ends else graph.lotteries.reward
    assert np.array_equal(np.sort(numbers[numbers > 0]), np.arange(first, first + n))
