"""Yatzy, alone for the most points: the Scandinavian sheet of fifteen boxes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rollwise import bits, dice
from rollwise.game import AGAIN, END, parameter
from rollwise.games.score_sheet import FACES, BonusSheet, Throw

ONES, SIXES, PAIR, TWO_PAIRS, THREE, FOUR, SMALL, LARGE, FULL, CHANCE, YATZY = 0, *range(5, 15)


class Sheet(NamedTuple):
    filled: int  # the boxes that are filled, as a set
    upper: int  # points in the boxes of the six faces, at most 63


def alike(throw: Throw, n: int, but: int) -> int:
    """The highest face with at least this count, other than `but`; 0 if there is none."""
    for face in range(6, 0, -1):
        if face != but and dice.how_often(throw, face) >= n:
            return face
    return 0


def points(throw: Throw, box: int) -> int:
    """The score of a throw, in ascending order, in a box."""
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
class Yatzy(BonusSheet):
    """Throw five dice, twice throw again any of them, then fill a box: 15 turns.

    Each box is filled once. 63 points or more in the boxes of the six faces bring 50. Pairs and
    the like bring the sum of the dice in them; a full house has two faces.
    """

    presets: ClassVar = {"short": {"boxes": 2}}
    boxes: int = parameter(15, at_least=1, at_most=15, about="of the sheet, the first so many")
    action_names: ClassVar = (
        *("ones", "twos", "threes", "fours", "fives", "sixes", "one pair", "two pairs"),
        *("three alike", "four alike", "small straight", "large straight"),
        *("full house", "chance", "yatzy"),
    )
    of_alike: ClassVar = (PAIR, TWO_PAIRS, THREE, FOUR, FULL, YATZY)

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

    def made(self, throw: Throw, box: int) -> int:
        return int(points(throw, box))

    def kept_features(self, s: Sheet, kept: Throw) -> dict[str, Any]:
        """As on other sheets, and the value of the dice for each open box below."""
        often = sorted((kept.count(face) for face in set(kept)), reverse=True)
        alike, face = (often[0], kept[0]) if len(often) == 1 else (0, 0)
        in_row = [len(kept) * (set(often) <= {1} and without not in kept) for without in (FACES, 1)]
        house = sum(min(n, 3) for n in often) if len(often) == 2 and len(kept) > 2 else 0
        two_pairs = self.is_open(s, TWO_PAIRS) * (house >= 4 and often[1] == 2)
        small, large = (
            self.is_open(s, box) * n for box, n in zip((SMALL, LARGE), in_row, strict=True)
        )
        house = self.is_open(s, FULL) * house
        yatzy = self.is_open(s, YATZY) * alike
        return {
            **super().kept_features(s, kept),
            "pair": self.is_open(s, PAIR) * face * (alike >= 2),
            "three": self.is_open(s, THREE) * face * min(alike, 3),
            "four": self.is_open(s, FOUR) * face * min(alike, 4),
            "five": (yatzy >= 3) * 1,
            "row": small + large,
            "house": house,
            "two_pairs_kept": two_pairs,
            "two_pairs_total": two_pairs * sum(kept),
            "complete": 1 * ((small == 5) | (large == 5) | (house == 5) | (yatzy == 5)),
            "any": self.is_open(s, CHANCE) * sum(kept),
        }

    def reward(self, s: Sheet, throw: Throw, box: int) -> float:
        made = points(throw, box)
        over = box <= SIXES and s.upper < 63 <= s.upper + made
        return float(made + (50 if over else 0))
