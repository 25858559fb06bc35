"""Figures that rest on which of several best actions is taken say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import AGAIN, DRAW, END, PASS, WIN, Game, solve
from rollwise.games.pig import Piglet
from rollwise.graph.policies import Policy, ties_in_play

TIES = "several actions are equally good; another optimal policy may have other figures"


class Place(NamedTuple):
    place: int


@dataclass(frozen=True)
class Fork(Game):
    """Take 5 for sure, or 0 or 10 by a coin, or go where nothing is to be chosen."""

    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"
    action_names: ClassVar = ("sure", "coin", "poor")
    better: int = 0

    def start(self):
        return Place(0)

    def actions(self, s):
        yield 0
        if s.place == 0:
            yield 1
            yield 2

    def reward(self, s, action):
        if s.place == 1:
            return 10
        return 5 + self.better if s.place == 0 and action == 0 else 0

    def outcomes(self, s, action):
        if s.place == 0 and action == 1:
            yield 1, AGAIN, Place(1)
        yield 1, END, s


class Coin(NamedTuple):
    tossed: int


@dataclass(frozen=True)
class Calls(Game):
    """Call either side of a coin: two players, and it makes no difference."""

    def start(self):
        return Coin(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        yield 1, WIN, s
        if s.tossed < 3:
            yield 1, PASS, Coin(s.tossed + 1)
        else:
            yield 1, DRAW, s


def test_states_with_several_best_actions_are_counted():
    solution = solve(Fork())
    found = ties_in_play(solution.graph, solution.policy)
    assert (found.states, found.reached) == (1, 1)  # "sure" comes first, and ends the play
    solution = solve(Fork(better=1))
    assert ties_in_play(solution.graph, solution.policy) is None
    assert ties_in_play(solution.graph, Policy.uniform(solution.graph)) is None


def test_games_of_two():
    solution = solve(Calls())
    found = ties_in_play(solution.graph, solution.policy)
    assert (found.states, found.reached) == (4, 4)
    assert TIES in found.text
    exact = solve(Piglet(target=5))
    assert ties_in_play(exact.graph, exact.policy) is None
