"""Yatzy, alone for the most points: the Scandinavian sheet of fifteen boxes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import bits, dice
from rollwise.game import AGAIN, END, parameter, rule
from rollwise.games.score_sheet import ScoreSheet, Throw

ONES, SIXES, PAIR, TWO_PAIRS, THREE, FOUR, SMALL, LARGE, FULL, CHANCE, YATZY = 0, *range(5, 15)


class Sheet(NamedTuple):
    filled: int  # the boxes that are filled, as a set
    upper: int  # points in the boxes of the six faces, at most 63


@rule
def alike(throw: Throw, n: int, but: int) -> int:
    """The highest face that shows so often, another than `but`; 0 if there is none."""
    for face in range(6, 0, -1):
        if face != but and dice.how_often(throw, face) >= n:
            return face
    return 0


@rule
def points(throw: Throw, box: int) -> int:
    """What a throw, in ascending order, brings in a box."""
    if box <= SIXES:
        return (box + 1) * dice.how_often(throw, box + 1)
    if box in (SMALL, LARGE):
        in_order = dice.longest_run(throw) == 5
        return sum(throw) if in_order and throw[0] == (1 if box == SMALL else 2) else 0
    if box == CHANCE:
        return sum(throw)
    if box == YATZY:
        return 50 if dice.most_alike(throw) == 5 else 0
    n = 3 if box in (THREE, FULL) else 4 if box == FOUR else 2
    high = alike(throw, n, 0)
    low = alike(throw, 2, high) if box in (TWO_PAIRS, FULL) else 0
    if high == 0 or (low == 0 and box in (TWO_PAIRS, FULL)):
        return 0
    return n * high + 2 * low


@dataclass(frozen=True)
class Yatzy(ScoreSheet):
    """Throw five dice, twice throw again those that you don't keep, then fill a box: 15 turns.

    Each box is filled once. 63 points or more in the boxes of the six faces bring 50. Pairs and
    the like bring the dice that make them; a full house has two faces.
    """

    boxes: int = parameter(15, at_least=1, at_most=15, about="of the sheet, the first so many")
    action_names: ClassVar = (
        *("ones", "twos", "threes", "fours", "fives", "sixes", "one pair", "two pairs"),
        *("three alike", "four alike", "small straight", "large straight"),
        *("full house", "chance", "yatzy"),
    )

    def start(self) -> Sheet:
        return Sheet(0, 0)

    def actions(self, s: Sheet, throw: Throw) -> Iterator[int]:
        for box in range(self.boxes):
            if not bits.has(s.filled, box):
                yield box

    def outcomes(self, s: Sheet, throw: Throw, box: int) -> Iterator[tuple[int, int, Sheet]]:
        filled = bits.with_member(s.filled, box)
        upper = min(s.upper + points(throw, box), 63) if box <= SIXES else s.upper
        yield 1, END if bits.size(filled) == self.boxes else AGAIN, Sheet(filled, upper)

    def is_open(self, s: Sheet, box: int) -> int:
        """Whether a box is on the sheet and open, 1 or 0; of each position in an array."""
        return 1 - (s.filled >> box & 1) if box < self.boxes else 0

    def action_features(self, s: Sheet, throw: Throw, box: int) -> dict[str, int]:
        """Which box it is, and by how much it is beyond three dice of its face."""
        boxes = {name.replace(" ", "_"): 0 for name in self.action_names[: self.boxes]}
        boxes[self.action_names[box].replace(" ", "_")] = 1
        beyond = points(throw, box) - 3 * (box + 1) if box <= SIXES else 0
        return {**boxes, "beyond": beyond}

    def kept_features(self, s: Sheet, kept: Throw) -> dict[str, int]:
        """What the dice are good for in open boxes: those of one face, in a row, in pairs."""
        often = [dice.how_often(kept, face) for face in range(1, 7)]
        most = max(often)
        face = max(face for face in range(1, 7) if often[face - 1] == most) if kept else 0
        alone = most if most == len(kept) else 0  # dice of one face, and no others
        faces = sum(n > 0 for n in often)
        pairs = sum(n // 2 * 2 for n in often if n < 4) if faces == 2 else 0
        in_row = [len(kept) if most <= 1 and not often[other - 1] else 0 for other in (6, 1)]
        house = sum(min(n, 3) for n in often) if faces == 2 and len(kept) > 2 else 0
        above = self.is_open(s, face - 1) if alone else 0
        return {
            "total": sum(kept),
            "alike": alone,
            "above": above * alone,
            "points_above": above * alone * face,
            "pair": self.is_open(s, PAIR) * face * (alone >= 2),
            "three": self.is_open(s, THREE) * face * min(alone, 3),
            "four": self.is_open(s, FOUR) * face * min(alone, 4),
            "five": self.is_open(s, YATZY) * max(alone - 1, 0),
            "low_row": self.is_open(s, SMALL) * in_row[0],
            "high_row": self.is_open(s, LARGE) * in_row[1],
            "two_pairs_kept": self.is_open(s, TWO_PAIRS) * (pairs == 4),
            "house": self.is_open(s, FULL) * house,
            "low_ready": self.is_open(s, SMALL) * (in_row[0] >= 4),
            "high_ready": self.is_open(s, LARGE) * (in_row[1] >= 4),
            "any": self.is_open(s, CHANCE) * sum(kept),
        }

    def reward(self, s: Sheet, throw: Throw, box: int) -> float:
        made = points(throw, box)
        over = box <= SIXES and s.upper < 63 <= s.upper + made
        return float(made + (50 if over else 0))
