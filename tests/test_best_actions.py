"""Which actions count as equally good, where some values are known far better than others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from little_games import RandomTable, Spot

import rollwise
from rollwise import AGAIN, END, LOSE, PASS, WIN, Game
from rollwise.answer.advice import advise
from rollwise.answer.evaluation import best_response
from rollwise.builders import build
from rollwise.games.threes import Threes
from rollwise.graph.choices import are_best, look_ahead, taken


class Place(NamedTuple):
    at: int


@dataclass(frozen=True)
class SlowCorner(Game):
    """Half of all games wait in a corner for long; the others are won, if nobody dawdles."""

    patience: int = 10**7
    more: int = 100  # times as patient is who dawdles
    action_names: ClassVar = ("dawdle", "go")

    def start(self):
        return Place(0)

    def actions(self, s):
        if s.at == 1:
            yield 0
        yield 1

    def outcomes(self, s, action):
        if s.at == 0:
            yield 1, AGAIN, Place(1)
            yield 1, AGAIN, Place(2)
        elif s.at == 2:
            yield self.patience, AGAIN, s
            yield 1, WIN, s
            yield 2, LOSE, s
        elif action == 0:
            yield self.patience * self.more, AGAIN, s
            yield 1, LOSE, s
        else:
            yield 1, WIN, s

    def progress(self, s):
        return int(s.at > 0)


class Hopeful(SlowCorner):
    """Who goes is worth as much as the corner; who dawdles gets there too, or loses at last."""

    def outcomes(self, s, action):
        if s.at == 1 and action == 1:
            yield 1, AGAIN, Place(2)
        else:
            yield from super().outcomes(s, action)


class Alike(SlowCorner):
    """Both actions lead to the corner: a tie, however wide its bounds."""

    def outcomes(self, s, action):
        if s.at == 1:
            yield 1, AGAIN, Place(2)
        else:
            yield from super().outcomes(s, action)


class ForTwo(SlowCorner):
    """The die passes to somebody who waits in the corner."""

    def outcomes(self, s, action):
        for weight, then, after in super().outcomes(s, action):
            yield weight, PASS if s.at == 0 and after.at == 2 else then, after


def obtains_its_value(game: Game) -> rollwise.Solution:
    """Optimal play against itself has the certified value, and nobody wins against it."""
    solution = rollwise.solve(game)
    found = rollwise.evaluate(solution, "optimal")
    assert found.bounds is not None
    near = solution.error_bounds + found.bounds
    assert np.all(np.abs(found.values - solution.values) <= near)
    response = best_response(solution, "optimal")
    assert response.exploitability() <= response.exploitability_bound() + 2 * solution.error_bound
    return solution


@pytest.mark.parametrize("kind", [SlowCorner, Hopeful, Alike, ForTwo])
def test_optimal_play_obtains_the_value(kind):
    obtains_its_value(kind())


class Cornered(RandomTable):
    """A random game; one can dawdle everywhere, and some of its plays come to a slow corner."""

    def actions(self, s):
        if s.place < self.size:
            yield 1
            yield from super().actions(s)
        else:
            yield 0

    def outcomes(self, s, action):
        if s.place == self.size:
            yield 10**7, AGAIN, s
            yield 1, WIN, s
            yield 2, LOSE, s
        elif action == 1:
            yield 10**9, AGAIN, s
            yield 1, (LOSE, WIN)[s.place % 2], s
        else:
            yield from super().outcomes(s, action)
            if s.place % 3 == 0:
                yield 1, AGAIN, Spot(self.size)


@given(st.integers(0, 10**6))
def test_optimal_play_obtains_the_value_of_any_game_with_a_slow_corner(seed):
    obtains_its_value(Cornered(seed=seed, size=7))


@dataclass(frozen=True)
class Dither(Game):
    """Ways to an end, with points for each step, and for waiting."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    waiting: float = 0.0

    def start(self):
        return Place(3)

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        at = s.at - action
        yield 1, AGAIN if at > 0 else END, Place(at)

    def reward(self, s, action):
        return 1.0 if action == 1 else self.waiting


@pytest.mark.parametrize("waiting", [0.0, -1.0])
def test_the_action_taken_leads_out_of_waiting_that_costs_nothing(waiting):
    """Such rules are refused as a whole; a part of a larger game may have them."""
    graph = build(Dither(waiting=waiting))
    ahead = look_ahead(graph, graph.fields[:, 0].astype(np.float64), np.zeros(graph.n_states))
    assert graph.action_label[taken(graph, ahead)].tolist() == [1, 1, 1]
    assert are_best(graph, ahead).sum() == (3 if waiting else 6)


def test_the_points_of_the_last_die_are_known_without_an_error():
    solution = rollwise.solve(Threes(dice=1))
    (only,) = advise(solution, solution.graph.view.find((0, 0, 0, 0, 0, 1, 0, 0)).index).actions
    assert (only.value, only.error_bound) == (4.0, 0.0)
