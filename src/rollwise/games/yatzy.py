"""Yatzy, alone for the most points: the Scandinavian sheet of fifteen boxes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar, NamedTuple

from rollwise import bits, dice
from rollwise.game import AGAIN, END, Game, parameter, policy, rule

ONES, SIXES, PAIR, TWO_PAIRS, THREE, FOUR, SMALL, LARGE, FULL, CHANCE, YATZY = 0, *range(5, 15)
NAMES = (
    *("ones", "twos", "threes", "fours", "fives", "sixes", "one pair", "two pairs"),
    *("three alike", "four alike", "small straight", "large straight"),
    *("full house", "chance", "yatzy"),
)


class Sheet(NamedTuple):
    filled: int  # the boxes that are filled, as a set
    upper: int  # points in the boxes of the six faces, at most 63


@rule
def alike(throw: tuple[int, ...], n: int, but: int) -> int:
    """The highest face that shows so often, another than `but`; 0 if there is none."""
    for face in range(6, 0, -1):
        if face != but and dice.how_often(throw, face) >= n:
            return face
    return 0


@rule
def points(throw: tuple[int, ...], box: int) -> int:
    """What a throw, in ascending order, brings in a box."""
    a, b, c, d, e = throw
    if box <= SIXES:
        return (box + 1) * dice.how_often(throw, box + 1)
    if box == PAIR:
        return 2 * alike(throw, 2, 0)
    if box == TWO_PAIRS:
        high = alike(throw, 2, 0)
        low = alike(throw, 2, high)
        return 2 * (high + low) if low > 0 else 0
    if box == THREE:
        return 3 * alike(throw, 3, 0)
    if box == FOUR:
        return 4 * alike(throw, 4, 0)
    if box in (SMALL, LARGE):
        in_a_row = b == a + 1 and c == b + 1 and d == c + 1 and e == d + 1
        return a + b + c + d + e if in_a_row and a == (1 if box == SMALL else 2) else 0
    if box == FULL:
        high = alike(throw, 3, 0)
        low = alike(throw, 2, high)
        return 3 * high + 2 * low if high > 0 and low > 0 else 0
    if box == CHANCE:
        return a + b + c + d + e
    return 50 if a == e else 0


@dataclass(frozen=True)
class Yatzy(Game):
    """Throw five dice, twice throw again those that you don't keep, then fill a box: 15 turns.

    Each box is filled once. 63 points or more in the boxes of the six faces bring 50. Pairs and
    the like bring the dice that make them; a full house has two faces.
    """

    boxes: int = parameter(15, at_least=1, at_most=15, about="of the sheet, the first so many")
    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = NAMES

    def start(self) -> Sheet:
        return Sheet(0, 0)

    def throws(self, s: Sheet) -> dice.Pool:
        return dice.pool(5, sides=6, rerolls=2)

    def actions(self, s: Sheet, throw: tuple[int, ...]) -> Iterator[int]:
        for box in range(self.boxes):
            if not bits.has(s.filled, box):
                yield box

    def outcomes(
        self, s: Sheet, throw: tuple[int, ...], box: int
    ) -> Iterator[tuple[int, int, Sheet]]:
        filled = bits.with_member(s.filled, box)
        upper = min(s.upper + points(throw, box), 63) if box <= SIXES else s.upper
        yield 1, END if bits.size(filled) == self.boxes else AGAIN, Sheet(filled, upper)

    def reward(self, s: Sheet, throw: tuple[int, ...], box: int) -> float:
        made = points(throw, box)
        over = box <= SIXES and s.upper < 63 <= s.upper + made
        return float(made + (50 if over else 0))

    def progress(self, s: Sheet) -> int:
        return bits.size(s.filled)

    def describe(self, s: Sheet) -> str:
        left = [name for box, name in enumerate(NAMES[: self.boxes]) if not bits.has(s.filled, box)]
        return f"open: {', '.join(left)}; {s.upper} of 63 above"

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
