"""Bozó, alone for the most points: a Brazilian score sheet, where hands of the first throw pay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rollwise import bits, dice
from rollwise.game import AGAIN, END, parameter, policy
from rollwise.games.score_sheet import ScoreSheet, Throw

SIXES, FULL, STRAIGHT, FOUR, FIVE = 5, 6, 7, 8, 9
ALL = (1 << 10) - 1
SHEETS = {"full": ALL, "three": 1 << SIXES | 1 << STRAIGHT | 1 << FIVE, "five": 1 << FIVE}


class Sheet(NamedTuple):
    filled: int  # the boxes that are filled, as a set


def points(throw: Throw, box: int) -> int:
    """The score of a throw, in ascending order, in a box; five alike are no other hand."""
    alike = dice.most_alike(throw)
    if box <= SIXES:
        return (box + 1) * dice.how_often(throw, box + 1)
    if box == FULL:
        return 20 if alike == 3 and throw[0] == throw[1] and throw[3] == throw[4] else 0
    if box == STRAIGHT:
        return 30 if dice.longest_run(throw) == 5 else 0
    if box == FOUR:
        return 40 if alike == 4 else 0
    return 50 if alike == 5 else 0


@dataclass(frozen=True)
class Bozo(ScoreSheet):
    """Throw five dice, up to twice throw again any of them, then fill a box: ten turns.

    Each box is filled once. A full house brings 20, a straight 30, four alike 40 and five alike 50.
    Such a hand brings `first` points more in the first throw of a turn. Five alike are neither a
    full house nor four alike.
    """

    heading: ClassVar = "Bozó"
    presets: ClassVar = {"short": {"sheet": "three"}}
    first: int = parameter(5, at_least=0, about="points more for a hand of the first throw")
    sheet: str = parameter(
        "full", among=tuple(SHEETS), about="all ten boxes; straight, sixes, five alike; five alike"
    )
    boxes: ClassVar[int] = 10  # type: ignore[misc]
    action_names: ClassVar = (
        *("ones", "twos", "threes", "fours", "fives", "sixes"),
        *("full house", "straight", "four alike", "five alike"),
    )
    of_alike: ClassVar = (FOUR, FIVE)

    def start(self) -> Sheet:
        return Sheet(ALL & ~SHEETS[self.sheet])

    def actions(self, s: Sheet, throw: Throw, rolls_left: int) -> Iterator[int]:
        for box in range(self.boxes):
            if not bits.has(s.filled, box):
                yield box

    def outcomes(
        self, s: Sheet, throw: Throw, rolls_left: int, box: int
    ) -> Iterator[tuple[int, int, Sheet]]:
        filled = bits.with_member(s.filled, box)
        yield 1, END if filled == ALL else AGAIN, Sheet(filled)

    def made(self, throw: Throw, box: int) -> int:
        return int(points(throw, box))

    def reward(self, s: Sheet, throw: Throw, rolls_left: int, box: int) -> float:
        made = points(throw, box)
        return float(made + (self.first if box >= FULL and made > 0 and rolls_left == 2 else 0))

    @policy
    def stop_for_hands(self, s: Sheet, throw: Throw, rolls_left: int) -> Any:
        """Fill an open box of a hand at once; otherwise keep the most frequent face."""
        hands = [box for box in self.actions(s, throw, rolls_left) if box >= FULL]
        made = max(hands, key=lambda box: points(throw, box), default=None)
        if made is not None and points(throw, made):
            return made
        return self.most_alike(s, throw, rolls_left)
