"""Drop Dead: throw until every die has shown a 2 or a 5."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards, dice
from rollwise.game import AGAIN, END, Game, parameter
from rollwise.numbers.printed import how_many


class Table(NamedTuple):
    dice: int  # that are still thrown


@dataclass(frozen=True)
class DropDead(Game):
    """Throw the dice. Dice with a 2 or a 5 are dead: they are out, and the throw scores nothing.

    A throw without 2 and 5 scores its sum. The game is over without dice. It has no choices.
    """

    dice: int = parameter(5, at_least=1, at_most=12, about="dice")
    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = ("go on",)

    def start(self) -> Table:
        return Table(self.dice)

    def throws(self, s: Table) -> Iterator[tuple[int, tuple[int, int]]]:
        for ways, shown in dice.counts(s.dice, 6):
            left = s.dice - int(shown[2] + shown[5])
            total = 0
            if left == s.dice:
                for face in range(1, 7):
                    total += face * int(shown[face])
            yield ways, (left, total)

    def actions(self, s: Table, throw: tuple[int, int]) -> Iterator[int]:
        yield 0

    def outcomes(
        self, s: Table, throw: tuple[int, int], action: int
    ) -> Iterator[tuple[int, int, Table]]:
        yield 1, AGAIN if throw[0] > 0 else END, Table(throw[0])

    def reward(self, s: Table, throw: tuple[int, int], action: int) -> float:
        return throw[1]

    def progress(self, s: Table) -> int:
        return self.dice - s.dice

    def describe(self, s: Table) -> str:
        return how_many(s.dice, "die", "dice")

    def cells(self, s: Table) -> boards.Board:
        return [[boards.tile(str(k + 1), gone=k >= s.dice) for k in range(self.dice)]]

    def throw_text(self, s: Table, throw: tuple[int, int]) -> str:
        left, total = throw
        dead = how_many(s.dice - left, "dead die", "dead dice")
        return how_many(total, "point") if left == s.dice else dead

    def deed(self, s: Table, throw: tuple[int, int], action: int) -> str:
        return "go on"

    def told(self, s: Table, throw: tuple[int, int], action: int, then: int, after: Table) -> str:
        return "no dice are left" if then == END else self.describe(after)
