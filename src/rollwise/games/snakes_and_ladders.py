"""Snakes and Ladders: a solitaire race without choices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from rollwise.game import AGAIN, END, Game, parameter

LAST = 100

# Where each ladder and each snake leads. The punitive board is that of K. Nagaraja
# (github.com/kalyaninagaraj/Snakes-And-Ladders), the other one is Milton Bradley's.
BOARDS = {
    "punitive": {
        **{8: 26, 21: 82, 43: 77, 50: 91, 54: 93, 62: 96, 66: 87, 80: 100},
        **{44: 22, 46: 5, 48: 9, 52: 11, 55: 7, 59: 17, 64: 36, 69: 33, 73: 1},
        **{83: 19, 92: 51, 95: 24, 98: 28},
    },
    "milton-bradley": {
        **{1: 38, 4: 14, 9: 31, 21: 42, 28: 84, 36: 44, 51: 67, 71: 91, 80: 100},
        **{16: 6, 47: 26, 49: 11, 56: 53, 62: 19, 64: 60, 87: 24, 93: 73, 95: 75, 98: 78},
    },
}


class Place(NamedTuple):
    square: int  # where the piece stands; 0 before the first throw


@dataclass(frozen=True)
class SnakesAndLadders(Game):
    """Throw until the piece stands on square 100; the score is the number of throws.

    A ladder takes the piece up, and a snake takes it down. If a throw leads beyond the
    last square, the piece stays in place, or bounces back, or has arrived (three versions).
    """

    board: str = parameter("punitive", among=tuple(BOARDS), about="where snakes and ladders are")
    beyond: str = parameter(
        "stays", among=("stays", "bounces", "ends"), about="a throw beyond the last square"
    )
    sides: int = parameter(6, at_least=2, at_most=50, about="sides of the die")
    players: ClassVar = 1
    objective: ClassVar = "minimize"
    action_names: ClassVar = ("throw",)

    def __post_init__(self) -> None:
        super().__post_init__()
        leads = np.arange(LAST + 1)
        for square, to in BOARDS[self.board].items():
            leads[square] = to
        object.__setattr__(self, "leads", leads)

    def start(self) -> Place:
        return Place(0)

    def actions(self, s: Place) -> Iterator[int]:
        yield 0

    def outcomes(self, s: Place, action: int) -> Iterator[tuple[int, int, Place]]:
        for face in range(1, self.sides + 1):
            square = s.square + face
            if square > LAST and self.beyond == "stays":
                square = s.square
            elif square > LAST and self.beyond == "bounces":
                square = 2 * LAST - square
            square = self.leads[min(square, LAST)]  # type: ignore[attr-defined]
            yield 1, END if square == LAST else AGAIN, Place(square)

    def reward(self, s: Place, action: int) -> float:
        return 1.0

    def describe(self, s: Place) -> str:
        return f"on square {s.square}" if s.square else "before the first square"

    def deed(self, s: Place, action: int) -> str:
        return "throw {}"

    def told(
        self, s: Place, action: int, then: int, after: Place, faces: Sequence[int] = ()
    ) -> str:
        if then == END:
            return f"on square {LAST}"
        square = s.square + sum(faces)
        if not faces or after.square == square:
            return self.describe(after)
        if square > LAST:
            return f"beyond the last square, {self.describe(after)}"
        way = "a ladder up" if after.square > square else "a snake down"
        return f"{way} from {square} to {after.square}"

    def throw(self, s: Place, action: int) -> tuple[int, ...]:
        return (self.sides,)
