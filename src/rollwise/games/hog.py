"""Hog: throw as many dice as you dare, once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards, dice
from rollwise.errors import ParameterError
from rollwise.game import PASS, WIN, Game, parameter, policy
from rollwise.numbers.printed import how_many

MOST_DICE = 23
MOST_WAYS = 2**62  # that a weight can count


class Score(NamedTuple):
    mine: int  # the mover's points
    theirs: int  # the other player's


@dataclass(frozen=True)
class Hog(Game):
    """Choose how many dice to throw, once a turn; a 1 on any of them scores nothing.

    Dice without a 1 score their sum. The first to reach the target wins.
    """

    presets: ClassVar = {"short": {"target": 50}}
    target: int = parameter(100, at_least=1, at_most=30_000, about="points that win")
    dice: int = parameter(10, at_least=1, at_most=MOST_DICE, about="dice at most")
    sides: int = parameter(6, at_least=2, at_most=100, about="sides of each die")
    action_unit: ClassVar = ("die", "dice")
    action_names: ClassVar = {
        n: "1 die" if n == 1 else f"{n} dice" for n in range(1, MOST_DICE + 1)
    }

    def validate(self) -> None:
        super().validate()
        if self.sides**self.dice > MOST_WAYS:
            raise ParameterError(
                f"hog: {self.dice} dice of {self.sides} sides fall in more ways than a weight can "
                "count; take fewer dice"
            )

    def start(self) -> Score:
        return Score(0, 0)

    def actions(self, s: Score) -> Iterator[int]:
        yield from range(1, self.dice + 1)

    def outcomes(self, s: Score, n: int) -> Iterator[tuple[int, int, Score]]:
        yield self.sides**n - (self.sides - 1) ** n, PASS, Score(s.theirs, s.mine)
        # A die that shows no 1 is a die with a side less, and a point more.
        for ways, total in dice.total(n, self.sides - 1):
            if s.mine + total + n >= self.target:
                yield ways, WIN, Score(s.mine + total + n, s.theirs)
            else:
                yield ways, PASS, Score(s.theirs, s.mine + total + n)

    def progress(self, s: Score) -> int:
        return s.mine + s.theirs

    def describe(self, s: Score) -> str:
        return f"{how_many(s.mine, 'point')} to {s.theirs}"

    def cells(self, s: Score) -> boards.Board:
        return [
            [boards.seat(), boards.bar(s.mine, of=self.target)],
            [boards.seat(1), boards.bar(s.theirs, of=self.target, theirs=True)],
        ]

    def deed(self, s: Score, n: int) -> str:
        return "throw {}"

    def told(self, s: Score, n: int, then: int, after: Score, faces: Sequence[int] = ()) -> str:
        if then == WIN:
            return f"{s.mine + sum(faces)} to {s.theirs}" if faces else ""
        gained = after.theirs - s.mine
        points = f"{gained} point{'' if gained == 1 else 's'}" if gained else "nothing gained"
        return f"{points}; {after.theirs} to {s.theirs}"

    def throw(self, s: Score, n: int) -> tuple[int, ...]:
        return (self.sides,) * n

    def fallen(self, s: Score, n: int, faces: Sequence[int]) -> int:
        return 0 if 1 in faces else 1 + sum(faces) - 2 * n

    @policy
    def five_dice(self, s: Score) -> int:
        """Throw five dice: with six sides this scores the most on average, as six dice do."""
        return min(5, self.dice)
