"""Rock, paper, scissors with dice: each of three dice beats the next one more often than not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, LOSE, WIN, Game, parameter

FACES = ((3, 3, 3, 3, 3, 6), (2, 2, 2, 5, 5, 5), (1, 4, 4, 4, 4, 4))


class Wins(NamedTuple):
    mine: int
    theirs: int


@dataclass(frozen=True)
class RockPaperScissorsDice(Game):
    """Both players choose one of three dice at the same time; the higher throw wins the round.

    The dice show 333336, 222555 and 144444. Rock beats scissors and scissors beat paper with 7/12,
    paper beats rock with 25/36. Equal throws are repeated, with another choice.
    """

    target: int = parameter(1, at_least=1, at_most=30, about="rounds to win")
    action_names: ClassVar = ("rock 333336", "scissors 222555", "paper 144444")

    def start(self) -> Wins:
        return Wins(0, 0)

    def together(self, s: Wins) -> tuple[range, range]:
        return range(3), range(3)

    def cells(self, s: Wins) -> boards.Board:
        return [
            [boards.seat(), boards.bar(s.mine, of=self.target)],
            [boards.seat(1), boards.bar(s.theirs, of=self.target, theirs=1)],
        ]

    def outcomes(self, s: Wins, pair: tuple[int, int]) -> Iterator[tuple[int, int, Wins]]:
        for mine, theirs in product(FACES[pair[0]], FACES[pair[1]]):
            after = Wins(s.mine + (mine > theirs), s.theirs + (mine < theirs))
            won = WIN if after.mine == self.target else LOSE
            yield 1, won if max(after) == self.target else AGAIN, after
