"""The Chasing Game: two cars on a loop, and the one that reaches the other wins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import PASS, WIN, Game, parameter
from rollwise.numbers.printed import how_many


class Gap(NamedTuple):
    gap: int  # from the mover's car to the other one ahead


@dataclass(frozen=True)
class ChasingGame(Game):
    """Two cars stand half a loop apart. In turn each moves 1, 2 or 3 squares forward.

    The car that reaches or passes the other one wins. The game has no choices.
    """

    half: int = parameter(5, at_least=1, about="squares of half the loop")
    action_names: ClassVar = ("drive",)

    def start(self) -> Gap:
        return Gap(self.half)

    def actions(self, s: Gap) -> Iterator[int]:
        yield 0

    def outcomes(self, s: Gap, action: int) -> Iterator[tuple[int, int, Gap]]:
        for squares in range(1, 4):
            left = s.gap - squares
            if left <= 0:
                yield 1, WIN, Gap(0)
            else:
                yield 1, PASS, Gap(2 * self.half - left)

    def describe(self, s: Gap) -> str:
        return f"the other car is {how_many(s.gap, 'square')} ahead"

    def cells(self, s: Gap) -> boards.Board:
        squares = range(2 * self.half)
        return [[boards.square(int(k == 0), int(k == s.gap % (2 * self.half))) for k in squares]]

    def deed(self, s: Gap, action: int) -> str:
        return "drive"

    def told(self, s: Gap, action: int, then: int, after: Gap, faces: Sequence[int] = ()) -> str:
        if then == WIN:
            return "the other car is caught"
        return how_many(s.gap - 2 * self.half + after.gap, "square")
