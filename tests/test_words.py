"""The words of a rule sheet: their defaults, and which outcome thrown dice bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import AGAIN, END, Game
from rollwise.coach import Table


class Spot(NamedTuple):
    place: int


@dataclass(frozen=True)
class Walk(Game):
    """A throw of two dice, once; the outcomes are told apart by where they lead."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    weights: ClassVar = (1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1)

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        if s.place:
            yield 1, END, s
        else:
            for number, weight in enumerate(self.weights):
                yield weight, AGAIN, Spot(1 + number)

    def throw(self, s, action):
        return () if s.place else (6, 6)


def reached(game: Game, *faces: int) -> int:
    """Where a throw leads."""
    table = Table.lay(game)
    number = table.narrator.fall_of(0, faces)
    return int(table.graph.states[table.graph.outcome_state[number]][0])


def test_outcomes_follow_the_total_of_the_dice():
    assert [reached(Walk(), 1, 1), reached(Walk(), 3, 4), reached(Walk(), 6, 6)] == [1, 6, 11]
