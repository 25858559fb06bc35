"""Hare and Tortoise: a race with different choices for the two players."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import PASS, WIN, Game, parameter, policy
from rollwise.numbers.printed import how_many

STEADY, DASH = range(2)
HARE, TORTOISE = range(2)


class Race(NamedTuple):
    mover: int  # 0 the hare, 1 the tortoise
    mine: int  # steps that the mover still has to go
    theirs: int  # steps that the other one has to go


@dataclass(frozen=True)
class HareAndTortoise(Game):
    """The first to go all the steps wins. Each player has a safe and a bold way to move.

    Steady, the hare goes the number on the die. Dashing, it goes 9 on a 5 or 6, and
    falls asleep in its place on anything else. The tortoise goes 1 to 4
    steps (a die of four sides), or dashes: twice that, but not at all on a 1 or 2.
    """

    steps: int = parameter(30, at_least=1, at_most=5000, about="length of the race")
    action_names: ClassVar = ("steady", "dash")

    def start(self) -> Race:
        return Race(HARE, self.steps, self.steps)

    def actions(self, s: Race) -> Iterator[int]:
        yield STEADY
        yield DASH

    def outcomes(self, s: Race, action: int) -> Iterator[tuple[int, int, Race]]:
        for face in range(1, 7 if s.mover == HARE else 5):
            gone = face
            if action == DASH and s.mover == HARE:
                gone = 9 if face >= 5 else 0
            elif action == DASH:
                gone = 2 * face if face >= 3 else 0
            if gone >= s.mine:
                yield 1, WIN, Race(s.mover, 0, s.theirs)
            else:
                yield 1, PASS, Race(1 - s.mover, s.theirs, s.mine - gone)

    def describe(self, s: Race) -> str:
        who = "the hare" if s.mover == HARE else "the tortoise"
        return f"{who} has {how_many(s.mine, 'step')} to go, the other {s.theirs}"

    def cells(self, s: Race) -> boards.Board:
        return [
            [
                boards.seat(k),
                boards.label("hare" if (s.mover + k) % 2 == HARE else "tortoise"),
                boards.bar(self.steps - left, of=self.steps, theirs=k),
            ]
            for k, left in enumerate((s.mine, s.theirs))
        ]

    def deed(self, s: Race, action: int) -> str:
        return "dash, throwing {}" if action == DASH else "go steady, throwing {}"

    def told(self, s: Race, action: int, then: int, after: Race, faces: Sequence[int] = ()) -> str:
        who = "the hare" if s.mover == HARE else "the tortoise"
        if then == WIN:
            return f"{who} is there, the other has {how_many(s.theirs, 'step')} to go"
        if after.theirs == s.mine:
            return f"{who} {'falls asleep' if s.mover == HARE else 'stays where it is'}"
        return f"{who} has {how_many(after.theirs, 'step')} to go, the other {s.theirs}"

    def throw(self, s: Race, action: int) -> tuple[int, ...]:
        return (6 if s.mover == HARE else 4,)

    @policy
    def always_steady(self, s: Race) -> int:
        """Never dash."""
        return STEADY
