"""Frozen Lake: cross slippery ice to the goal, and mind the holes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.game import AGAIN, LOSE, WIN, Game, parameter, policy

SMALL = ("SFFF", "FHFH", "FFFH", "HFFG")
LARGE = (
    "SFFFFFFF",
    "FFFFFFFF",
    "FFFHFFFF",
    "FFFFFHFF",
    "FFFHFFFF",
    "FHHFFFHF",
    "FHFFHFHF",
    "FFFHFFFG",
)
LEFT, DOWN, RIGHT, UP = range(4)


class Place(NamedTuple):
    square: int  # row by row
    steps: int  # that are left; 0 without a limit


def is_hole(square: int, large: bool) -> bool:
    """Whether there is a hole; the maps of Gymnasium."""
    if large:
        return square in (19, 29, 35, 41, 42, 46, 49, 52, 54, 59)
    return square in (5, 7, 11, 12)


@dataclass(frozen=True)
class FrozenLake(Game):
    """Walk from the first square to the last. The ice leads there, or to one side, each by 1/3.

    The last square wins, and a hole loses. Under a `discount` the walk goes on after each step
    with this probability, and is lost otherwise: a reward at the goal counts as with this
    discount. With `steps` the walk is lost after so many.
    """

    large: bool = parameter(False, about="the map of 8 x 8 squares")
    discount: Fraction = parameter(  # type: ignore[misc]
        Fraction(1), at_least=0, at_most=1, about="of each step"
    )
    steps: int = parameter(0, at_least=0, about="steps at most; 0 for no limit")
    players: ClassVar = 1
    endless: ClassVar = "lose"

    @property
    def column_names(self) -> dict[str, str]:  # type: ignore[override]
        return {} if self.steps else {"steps": ""}

    action_names: ClassVar = ("left", "down", "right", "up")

    def start(self) -> Place:
        return Place(0, self.steps)

    def actions(self, s: Place) -> Iterator[int]:
        yield from range(4)

    def outcomes(self, s: Place, action: int) -> Iterator[tuple[int, int, Place]]:
        size = 8 if self.large else 4
        for turn in (-1, 0, 1):
            way = (action + turn) % 4
            row, column = s.square // size, s.square % size
            if way in (LEFT, RIGHT):
                column = min(max(column + (1 if way == RIGHT else -1), 0), size - 1)
            else:
                row = min(max(row + (1 if way == DOWN else -1), 0), size - 1)
            square = row * size + column
            if square == size * size - 1:
                yield 1, WIN, Place(square, 0)
            elif is_hole(square, self.large) or s.steps == 1:
                yield 1, LOSE, Place(square, 0)
            else:
                yield 1, AGAIN, Place(square, max(s.steps - 1, 0))

    def describe(self, s: Place) -> str:
        size = 8 if self.large else 4
        left = f", {s.steps} steps left" if s.steps else ""
        return f"row {s.square // size + 1}, column {s.square % size + 1}{left}"

    def cells(self, s: Place) -> boards.Board:
        rows = LARGE if self.large else SMALL
        return [
            [
                boards.tile("o", gone=False)
                if s.square == i * len(row) + k
                else boards.tile("" if sort in "SF" else sort, gone=sort == "H")
                for k, sort in enumerate(row)
            ]
            for i, row in enumerate(rows)
        ]

    def deed(self, s: Place, action: int) -> str:
        return f"walk {self.action_names[action]}"

    def told(self, s: Place, action: int, then: int, after: Place) -> str:
        if then == AGAIN:
            return self.describe(after)
        return "the goal" if then == WIN else "the walk is over"

    @policy
    def straight(self, s: Place) -> int:
        """Walk down to the last row, then right."""
        size = 8 if self.large else 4
        return DOWN if s.square < size * (size - 1) else RIGHT
