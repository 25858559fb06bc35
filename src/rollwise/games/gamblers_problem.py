"""The gambler's problem: stake on coins to reach a goal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, LOSE, WIN, Game, parameter, policy


class Capital(NamedTuple):
    capital: int


@dataclass(frozen=True)
class GamblersProblem(Game):
    """Stake part of your capital on a coin, up to the sum needed for the goal.

    Heads doubles the stake, tails loses it. The goal wins, and an empty purse loses.
    """

    capital: int = parameter(50, at_least=1, about="capital at the start")
    goal: int = parameter(100, at_least=2, about="capital that wins")
    p: Fraction = parameter(Fraction(2, 5), at_least=0, at_most=1, about="chance of heads")
    heading: ClassVar = "Gambler's Problem"
    players: ClassVar = 1
    action_unit: ClassVar = ("coin", "coins")

    def start(self) -> Capital:
        return Capital(min(self.capital, self.goal - 1))

    def actions(self, s: Capital) -> Iterator[int]:
        yield from range(1, min(s.capital, self.goal - s.capital) + 1)

    def outcomes(self, s: Capital, stake: int) -> Iterator[tuple[int, int, Capital]]:
        heads = self.p.numerator
        more, less = s.capital + stake, s.capital - stake
        yield heads, WIN if more == self.goal else AGAIN, Capital(more)
        yield self.p.denominator - heads, LOSE if less == 0 else AGAIN, Capital(less)

    def describe(self, s: Capital) -> str:
        return f"{s.capital} of {self.goal} coins"

    def cells(self, s: Capital) -> boards.Board:
        return [[boards.bar(s.capital, of=self.goal)]]

    def deed(self, s: Capital, stake: int) -> str:
        return f"stake {stake}"

    def told(self, s: Capital, stake: int, then: int, after: Capital) -> str:
        if then == AGAIN:
            return "heads" if after.capital > s.capital else "tails"
        return "the goal" if then == WIN else "ruin"

    @policy
    def bold(self, s: Capital) -> int:
        """Stake all, or what is needed."""
        return min(s.capital, self.goal - s.capital)

    @policy
    def timid(self, s: Capital) -> int:
        """Stake one coin."""
        return 1
