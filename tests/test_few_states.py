"""Looking at some states alone says of them what looking at all states says."""

from __future__ import annotations

from fractions import Fraction

import naive
import numpy as np
import pytest
from graphs import ending_graphs, games_for_points, games_to_win
from hypothesis import given
from hypothesis import strategies as st
from little_games import Gambler

from rollwise import Solution, solve
from rollwise.games.craps import Craps
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Pig, Piglet
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes

GAMES = [Piglet(), Craps(), Threes(), DiceBlackjack(), SuperSix(sticks=3), Pig(target=8), Gambler()]

graphs = st.one_of(
    ending_graphs(),
    games_for_points(),
    *(games_to_win(players, endless) for players in (1, 2) for endless in ("draw", "lose")),
)


def assert_same(solution: Solution, states: np.ndarray) -> None:
    few = solution.best_actions_in(states)
    choices = solution.choices_in(states)
    assert np.array_equal(few, solution.best_actions[states])
    for name in ("regret", "is_best"):
        assert np.array_equal(getattr(choices, name), getattr(solution, name)[choices.actions])
    assert np.array_equal(choices.values, solution.action_values[choices.actions])


@given(graph=graphs, data=st.data())
def test_some_states_of_any_graph(graph, data):
    places = st.integers(0, graph.n_states - 1)
    states = np.array(data.draw(st.lists(places, max_size=5)), np.int64)
    quarters = data.draw(
        st.lists(st.integers(-8, 8), min_size=graph.n_states, max_size=graph.n_states)
    )
    values = np.array(quarters) / 4
    solution = Solution(graph, None, "drawn", values, np.zeros(graph.n_states))
    moves = naive.moves_of_graph(graph)
    exact = [Fraction(value) for value in values.tolist()]
    worth = [float(naive.worth(move, exact)) for s in states.tolist() for move in moves[s]]
    assert np.allclose(solution.choices_in(states).values, worth, rtol=0, atol=1e-12)
    assert_same(solution, states)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_some_states_of_a_game(game):
    solution = solve(game)
    states = np.random.default_rng(1).integers(0, solution.graph.n_states, 20)
    assert_same(solution, states)
    whole = solution.table()
    found = solution.states_where()
    assert solution.rows_of(found[3:7]).equals(whole[3:7])
    assert solution.cells_of(found[3:7]) == whole[3:7].to_dict(as_series=False)
    first = whole["action"][0]
    assert solution.table(f"value > 0 and action != '{first}'").equals(
        whole.filter((whole["value"] > 0) & (whole["action"] != first))
    )
    assert whole.equals(whole.sort(solution.graph.field_names))
