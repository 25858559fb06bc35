"""Chases and contests are games like any other, from Python and on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import pytest

import rollwise
from rollwise import AGAIN, END, Chase, Duel, Game, solve
from rollwise.derive.chase import WithScore
from rollwise.errors import ParameterError
from rollwise.games import create
from rollwise.games.threes import Threes


class Stand(NamedTuple):
    left: int
    points: int


@dataclass(frozen=True)
class Booth(Game):
    """Throw a die three times, and stop after any throw; sixes spill what is held.

    The points held count when one stops.
    """

    target: int = 3
    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"
    action_names: ClassVar = ("throw", "stop")

    def start(self):
        return Stand(self.target, 0)

    def actions(self, s):
        if s.left > 0:
            yield 0
        yield 1

    def reward(self, s, action):
        return s.points if action == 1 else 0

    def outcomes(self, s, action):
        if action == 1:
            yield 1, END, s
        else:
            for face in range(1, 6):
                yield 1, AGAIN, Stand(s.left - 1, s.points + face)
            yield 1, AGAIN, Stand(s.left - 1, 0)

    @rollwise.policy
    def stop_at_once(self, s):
        """Stop before the first throw."""
        return 1


GAMES = [
    Chase(Threes(dice=2), 3),
    Duel(Threes(dice=2)),
    Chase(Booth(), 7, "draw"),
    Duel(Booth(), "first"),
]
IDS = [f"{game.form}-{game.name}" for game in GAMES]


@pytest.mark.parametrize("game", GAMES, ids=IDS)
def test_the_derived_graph_is_that_of_the_rules(game):
    derived, plain = solve(game), solve(game, mode="interpreted")
    assert derived.graph.n_outcomes == plain.graph.n_outcomes
    for s, fields in enumerate(plain.graph.states.tolist()):
        assert derived.values[derived.find(fields)] == pytest.approx(plain.values[s], abs=1e-12)


def test_forms_are_methods_of_a_game():
    assert Threes(dice=2).chase(3) == Chase(Threes(dice=2), 3)
    assert Threes(dice=2).contest("first") == Duel(Threes(dice=2), "first")
    assert Threes(dice=2).with_score() == WithScore(Threes(dice=2))


@pytest.mark.parametrize("game", [*GAMES[:2], WithScore(Threes(dice=2))], ids=lambda g: g.form)
def test_the_title_of_a_form_can_be_typed(game):
    typed = {name: str(value) for name, value in game.parameters.items()}
    assert create(Threes, typed) == game


def test_a_form_that_is_none():
    with pytest.raises(ParameterError, match="did you mean as=contest"):
        create(Threes, {"as": "contst"})
    with pytest.raises(ParameterError, match="answered by `rollwise solve` alone"):
        create(Threes, {"as": "contest", "players": "3"})
