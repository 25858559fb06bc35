"""Yahtzee, alone for the most points: throw five dice three times, and fill a box each turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import bits, dice
from rollwise.game import AGAIN, END, parameter
from rollwise.games.score_sheet import BonusSheet, Throw

ONES, SIXES, THREE, FOUR, FULL, SMALL, LARGE, YAHTZEE, CHANCE = 0, 5, 6, 7, 8, 9, 10, 11, 12


class Sheet(NamedTuple):
    filled: int  # the boxes that are filled, as a set
    upper: int  # points in the boxes of the six faces, at most 63
    bonus: int  # 1 where five of a kind bring 100 more: the box has its 50


def points(throw: Throw, box: int) -> int:
    """The score of a throw in a box, if it is no joker."""
    if box <= SIXES:
        return (box + 1) * dice.how_often(throw, box + 1)
    if box == CHANCE:
        return sum(throw)
    if box in (SMALL, LARGE):
        run = dice.longest_run(throw)
        return 40 if box == LARGE and run == 5 else 30 if box == SMALL and run >= 4 else 0
    alike = dice.most_alike(throw)
    if box == FULL:
        return 25 if alike == 3 and throw[0] == throw[1] and throw[3] == throw[4] else 0
    if box == YAHTZEE:
        return 50 if alike == 5 else 0
    return sum(throw) if alike >= (3 if box == THREE else 4) else 0


def as_joker(box: int) -> int:
    """The score of a joker in a box where it counts for more than its dice."""
    return 25 if box == FULL else 30 if box == SMALL else 40 if box == LARGE else 0


@dataclass(frozen=True)
class Yahtzee(BonusSheet):
    """Throw five dice, twice throw again any of them, then fill a box, until all are filled.

    Each box is filled once. 63 points or more in the boxes of the six faces bring 35. Once the
    yahtzee box has its 50, each further five of a kind brings 100. Five of a kind are a joker
    if the yahtzee box is filled: they count as a full house and as straights, "forced" (the
    box of their face comes first, then the lower boxes) or "free" (once the box of their face is
    filled). Otherwise there is no joker and no 100; with "house" five alike are a full house.
    """

    presets: ClassVar = {"short": {"boxes": 2}}
    joker: str = parameter("forced", among=("forced", "free", "house", "none"), about="five alike")
    boxes: int = parameter(13, at_least=1, at_most=13, about="of the sheet, the first so many")
    action_names: ClassVar = (
        *("ones", "twos", "threes", "fours", "fives", "sixes", "three of a kind"),
        *("four of a kind", "full house", "small straight", "large straight", "yahtzee", "chance"),
    )

    of_alike: ClassVar = (THREE, FOUR, FULL, YAHTZEE)

    def start(self) -> Sheet:
        return Sheet(0, 0, 0)

    def is_joker(self, s: Sheet, throw: Throw, box: int) -> bool:
        if throw[0] != throw[4]:
            return False
        if self.joker == "house":
            return box == FULL
        filled = bits.has(s.filled, YAHTZEE) and bits.has(s.filled, throw[0] - 1)
        return self.joker != "none" and filled

    def actions(self, s: Sheet, throw: Throw) -> Iterator[int]:
        again = throw[0] == throw[4] and bits.has(s.filled, YAHTZEE) and self.joker == "forced"
        if again and not bits.has(s.filled, throw[0] - 1):
            yield throw[0] - 1
        else:
            lower = again and bits.size(s.filled >> THREE) < self.boxes - THREE
            for box in range(THREE if lower else ONES, self.boxes):
                if not bits.has(s.filled, box):
                    yield box

    def outcomes(self, s: Sheet, throw: Throw, box: int) -> Iterator[tuple[int, int, Sheet]]:
        filled = bits.with_member(s.filled, box)
        made = points(throw, box)
        upper = min(s.upper + made, 63) if box <= SIXES else s.upper
        bonus = 1 if box == YAHTZEE and made > 0 and self.joker in ("forced", "free") else s.bonus
        yield 1, END if bits.size(filled) == self.boxes else AGAIN, Sheet(filled, upper, bonus)

    def made(self, throw: Throw, box: int) -> int:
        return int(points(throw, box))

    def reward(self, s: Sheet, throw: Throw, box: int) -> float:
        made = points(throw, box)
        if box <= SIXES and s.upper < 63 <= s.upper + made:
            made += 35
        if throw[0] == throw[4]:
            if self.is_joker(s, throw, box):
                made = max(made, as_joker(box))
            if s.bonus == 1:
                made += 100
        return float(made)

    def describe(self, s: Sheet) -> str:
        return super().describe(s) + (", 100 for each five of a kind" if s.bonus else "")
