"""Yahtzee, alone for the most points: throw five dice three times, and fill a box each turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar, NamedTuple

from rollwise import bits, dice
from rollwise.game import AGAIN, END, Game, parameter, policy, rule

ONES, SIXES, THREE, FOUR, FULL, SMALL, LARGE, YAHTZEE, CHANCE = 0, 5, 6, 7, 8, 9, 10, 11, 12
NAMES = (
    *("ones", "twos", "threes", "fours", "fives", "sixes", "three of a kind", "four of a kind"),
    *("full house", "small straight", "large straight", "yahtzee", "chance"),
)


class Sheet(NamedTuple):
    filled: int  # the boxes that are filled, as a set
    upper: int  # points in the boxes of the six faces, at most 63
    bonus: int  # 1 where five of a kind bring 100 more: the box has its 50


@rule
def has_run(throw: tuple[int, ...], length: int) -> bool:
    """Whether so many faces in a row were thrown."""
    shown = 0
    for face in throw:
        shown |= 1 << face
    for _ in range(length - 1):
        shown &= shown >> 1
    return shown > 0


@rule
def points(throw: tuple[int, ...], box: int, joker: bool) -> int:
    """What a throw brings in a box; five of a kind as a joker bring what the box can."""
    a, b, c, d, e = throw  # ascending
    if box <= SIXES:
        return (box + 1) * dice.how_often(throw, box + 1)
    if box == FULL:
        return 25 if joker or (a == b and d == e and (b == c) != (c == d)) else 0
    if box == SMALL:
        return 30 if joker or has_run(throw, 4) else 0
    if box == LARGE:
        return 40 if joker or has_run(throw, 5) else 0
    if box == YAHTZEE:
        return 50 if a == e else 0
    three, four = a == c or b == d or c == e, a == d or b == e
    return a + b + c + d + e if box == CHANCE or four or (three and box == THREE) else 0


@dataclass(frozen=True)
class Yahtzee(Game):
    """Throw five dice, twice throw again those that you don't keep, then fill a box: 13 turns.

    Each box is filled once. 63 points or more in the boxes of the six faces bring 35. Where the
    yahtzee box has its 50, each further five of a kind brings 100. Five of a kind are a joker
    where the yahtzee box is filled: they count as a full house and as straights, "forced" (the
    box of their face comes first, then the lower boxes) or "free" (once the box of their face is
    filled). With "none" there is neither a joker nor the 100.
    """

    joker: str = parameter("forced", among=("forced", "free", "none"), about="five of a kind again")
    boxes: int = parameter(13, at_least=1, at_most=13, about="of the sheet, the first so many")
    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = NAMES

    def start(self) -> Sheet:
        return Sheet(0, 0, 0)

    def throws(self, s: Sheet) -> dice.Pool:
        return dice.pool(5, sides=6, rerolls=2)

    def is_joker(self, s: Sheet, throw: tuple[int, ...]) -> bool:
        again = throw[0] == throw[4] and bits.has(s.filled, YAHTZEE)
        return again and self.joker != "none" and bits.has(s.filled, throw[0] - 1)

    def actions(self, s: Sheet, throw: tuple[int, ...]) -> Iterator[int]:
        again = throw[0] == throw[4] and bits.has(s.filled, YAHTZEE) and self.joker == "forced"
        if again and not bits.has(s.filled, throw[0] - 1):
            yield throw[0] - 1
        else:
            lower = again and bits.size(s.filled >> THREE) < self.boxes - THREE
            for box in range(THREE if lower else ONES, self.boxes):
                if not bits.has(s.filled, box):
                    yield box

    def outcomes(
        self, s: Sheet, throw: tuple[int, ...], box: int
    ) -> Iterator[tuple[int, int, Sheet]]:
        filled = bits.with_member(s.filled, box)
        made = points(throw, box, False)
        upper = min(s.upper + made, 63) if box <= SIXES else s.upper
        bonus = 1 if box == YAHTZEE and made > 0 and self.joker != "none" else s.bonus
        yield 1, END if bits.size(filled) == self.boxes else AGAIN, Sheet(filled, upper, bonus)

    def reward(self, s: Sheet, throw: tuple[int, ...], box: int) -> float:
        made = points(throw, box, self.is_joker(s, throw))
        over = box <= SIXES and s.upper < 63 <= s.upper + made
        again = s.bonus == 1 and throw[0] == throw[4]
        return float(made + (35 if over else 0) + (100 if again else 0))

    def progress(self, s: Sheet) -> int:
        return bits.size(s.filled)

    def describe(self, s: Sheet) -> str:
        left = [name for box, name in enumerate(NAMES[: self.boxes]) if not bits.has(s.filled, box)]
        more = ", 100 for each five of a kind" if s.bonus else ""
        return f"open: {', '.join(left)}; {s.upper} of 63 above{more}"

    def show(self, s: Sheet) -> str:
        rows = [
            f"[{'x' if bits.has(s.filled, box) else ' '}] {name}"
            for box, name in enumerate(NAMES[: self.boxes])
        ]
        pairs = zip_longest(rows[: SIXES + 1], rows[SIXES + 1 :], fillvalue="")
        return "\n".join(f"{left:14}{right}".rstrip() for left, right in pairs)

    def deed(self, s: Sheet, throw: tuple[int, ...], box: int) -> str:
        return f"fill {NAMES[box]}"

    def told(self, s: Sheet, throw: tuple[int, ...], box: int, then: int, after: Sheet) -> str:
        made = self.reward(s, throw, box)
        return "1 point" if made == 1 else f"{made:g} points"

    @policy
    def most_alike(self, s: Sheet, throw: tuple[int, ...], rolls_left: int) -> Any:
        """Keep the face that shows most often, the highest of several; fill what brings most."""
        if rolls_left:
            face = max(throw, key=lambda face: (throw.count(face), face))
            return (face,) * throw.count(face)
        return max(self.actions(s, throw), key=lambda box: self.reward(s, throw, box))
