"""Craps: the pass line, a game of chance without a choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import dice
from rollwise.game import AGAIN, LOSE, WIN, Game


class Point(NamedTuple):
    point: int  # the number to roll again; 0 before the first roll


@dataclass(frozen=True)
class Craps(Game):
    """7 or 11 wins at once, 2, 3 or 12 loses; else that number must come before a 7."""

    players: ClassVar = 1
    action_names: ClassVar = ("roll",)

    def start(self) -> Point:
        return Point(0)

    def actions(self, s: Point) -> Iterator[int]:
        yield 0

    def outcomes(self, s: Point, action: int) -> Iterator[tuple[int, int, Point]]:
        for ways, total in dice.total(2, 6):
            if s.point == 0:
                if total == 7 or total == 11:
                    yield ways, WIN, s
                elif total == 2 or total == 3 or total == 12:
                    yield ways, LOSE, s
                else:
                    yield ways, AGAIN, Point(total)
            elif total == s.point:
                yield ways, WIN, s
            elif total == 7:
                yield ways, LOSE, s
            else:
                yield ways, AGAIN, s

    def describe(self, s: Point) -> str:
        return f"the point is {s.point}" if s.point else "the come-out roll"

    def deed(self, s: Point, action: int) -> str:
        return "roll {}"

    def told(
        self, s: Point, action: int, then: int, after: Point, faces: Sequence[int] = ()
    ) -> str:
        if then == AGAIN:
            return f"the point stays {s.point}" if s.point else f"{after.point} is the point"
        if then == WIN:
            return "the point is made" if s.point else "a natural"
        return "a seven before the point" if s.point else "craps"

    def throw(self, s: Point, action: int) -> tuple[int, ...]:
        return (6, 6)
