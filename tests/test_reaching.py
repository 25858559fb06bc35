"""The best chance of each score, by layers and from a graph: against the definition and chases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar, NamedTuple

import pytest

from rollwise import Chase, solve
from rollwise.analysis.reaching import reach, reach_by_layer
from rollwise.errors import UsageError
from rollwise.game import AGAIN, END, Game
from rollwise.games.snakes_and_ladders import SnakesAndLadders
from rollwise.games.threes import Threes
from rollwise.games.yahtzee import Yahtzee


class Stall(NamedTuple):
    left: int
    held: int


@dataclass(frozen=True)
class Fair(Game):
    """Three throws. Throw a die for its points, or take two points; a 1 ends it all.

    With `lower` it costs a point to take them.
    """

    lower: bool = False
    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self):
        return Stall(3, 0)

    def progress(self, s):
        return -s.left

    def throws(self, s) -> Iterator[tuple[int, int]]:
        for face in range(1, 7):
            yield 1, face

    def actions(self, s, throw):
        yield 0
        if s.held < 2:
            yield 1

    def reward(self, s, throw, action):
        return (-1 if self.lower else 2) if action else throw

    def outcomes(self, s, throw, action):
        after = Stall(s.left - 1, s.held + action)
        yield 2, END if s.left == 1 or throw == 1 else AGAIN, after
        yield 1, END, after


def naive(game: Fair, score: int) -> Fraction:
    """By the definition, with a policy that knows the points so far."""

    @cache
    def chance(s, gap):
        total = Fraction(0)
        for weight, throw in game.throws(s):
            best = Fraction(0)
            for action in game.actions(s, throw):
                left, value = gap - game.reward(s, throw, action), Fraction(0)
                for ways, then, after in game.outcomes(s, throw, action):
                    value += Fraction(ways, 3) * (left <= 0 if then == END else chance(after, left))
                best = max(best, value)
            total += Fraction(weight, 6) * best
        return total

    return chance(game.start(), score)


def test_layers_against_the_definition():
    game = Fair()
    found = reach_by_layer(game, 18)
    for score, chance in enumerate(found.chances.tolist()):
        assert abs(Fraction(chance) - naive(game, score)) <= found.error_bound < 1e-13


def test_a_pool_of_dice_against_the_graph():
    by_layer = reach_by_layer(Yahtzee(boxes=2), 20)
    scores = list(range(21))
    by_graph = reach(Yahtzee(boxes=2), scores)
    bound = by_layer.error_bound + by_graph.error_bound
    assert by_layer.chances == pytest.approx(by_graph.chances, abs=bound, rel=0)
    assert by_layer.chances[16] == 0
    assert by_layer.chances[0] == pytest.approx(1)


@pytest.mark.parametrize("game", [Threes(dice=2), SnakesAndLadders()], ids=str)
def test_few_points_against_chases(game):
    scores = [7, 12, 9]
    found = reach(game, scores)
    for score, chance in zip(scores, found.chances.tolist(), strict=True):
        one = solve(Chase(game, score))
        assert abs(one.win_probability - chance) <= found.error_bound + one.error_bound
    assert reach(Threes(dice=2), [-1, 99]).chances.tolist() == [0, 1]


def test_other_games_are_refused():
    with pytest.raises(UsageError, match="whole points from 0 on"):
        reach_by_layer(Fair(lower=True), 5)
    with pytest.raises(UsageError, match="one player who wants many points"):
        reach_by_layer(Threes(), 5)
