"""EinStein würfelt nicht: throw a die and move the piece of its number, corner to corner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rollwise import boards, dice
from rollwise.errors import ParameterError
from rollwise.game import PASS, WIN, Game, parameter, policy, replaced

OFF = -1  # the square of a captured piece
LEFT, AHEAD, RIGHT = range(3)
WAYS = ("left", "ahead", "right")


class Table(NamedTuple):
    mine: tuple[int, ...]  # the square of each of the mover's pieces
    theirs: tuple[int, ...]  # of the opponent's, as the mover counts the squares


@dataclass(frozen=True)
class Einstein(Game):
    """Throw a die, move the piece of its number; the far corner or the last capture wins.

    The board is a square seen from its corner. A piece moves a square ahead, or along a side of
    the board, left or right. It captures a piece on its new square, of either player. If the piece
    of the number was captured, the player moves the piece with the next lower or the next higher
    number. Both players' pieces stand in `rows` rows at their corner, number 1 in the corner. The
    game for people has `size` 5 and `rows` 3, too large to solve, and players place their numbers
    as they like.
    """

    heading: ClassVar = "EinStein würfelt nicht"
    size: int = parameter(3, at_least=2, at_most=5, about="squares along a side of the board")
    rows: int = parameter(2, at_least=1, at_most=3, about="rows of pieces of a player")

    @property
    def pieces(self) -> int:
        """How many pieces a player has, and sides the die."""
        return self.rows * (self.rows + 1) // 2

    def validate(self) -> None:
        super().validate()
        if self.rows >= self.size:
            raise ParameterError(f"{self.name}: rows is {self.rows}; it is less than size")

    def start(self) -> Table:
        # A square is up * size + right: steps along both sides of the board, from the own corner.
        mine = [
            right + (row - right) * self.size
            for row in range(self.rows)
            for right in range(row + 1)
        ]
        return Table(tuple(mine), tuple(self.across(square) for square in mine))

    def across(self, square: int) -> int:
        """A square as the other player counts it: near is far, and left stays left."""
        if square == OFF:
            return OFF
        up, right = square // self.size, square % self.size
        return (self.size - 1 - right) * self.size + self.size - 1 - up

    def throws(self, s: Table) -> Iterator[tuple[int, int]]:
        yield from dice.one(self.rows * (self.rows + 1) // 2)

    def actions(self, s: Table, throw: int) -> Iterator[int]:
        low, high = throw - 1, throw - 1
        while low >= 0 and s.mine[low] == OFF:
            low -= 1
        while high < len(s.mine) and s.mine[high] == OFF:
            high += 1
        for piece in range(len(s.mine)):
            if piece in (low, high):
                up, right = s.mine[piece] // self.size, s.mine[piece] % self.size
                if up < self.size - 1:
                    yield 3 * piece + LEFT
                if up < self.size - 1 and right < self.size - 1:
                    yield 3 * piece + AHEAD
                if right < self.size - 1:
                    yield 3 * piece + RIGHT

    def outcomes(self, s: Table, throw: int, action: int) -> Iterator[tuple[int, int, Table]]:
        piece, to = action // 3, self.moved(s, action)
        mine = tuple(OFF if square == to else square for square in s.mine)
        theirs = tuple(OFF if square == to else square for square in s.theirs)
        mine = replaced(mine, piece, to)
        if to == self.size * self.size - 1 or max(theirs) == OFF:
            yield 1, WIN, Table(mine, theirs)
        else:
            yield (
                1,
                PASS,
                Table(
                    tuple(self.across(square) for square in theirs),
                    tuple(self.across(square) for square in mine),
                ),
            )

    def moved(self, s: Table, action: int) -> int:
        """The square to which an action leads."""
        return s.mine[action // 3] + (self.size, self.size + 1, 1)[action % 3]

    def progress(self, s: Table) -> int:
        gone, end = 0, 2 * self.size - 1  # the steps of a captured piece
        for square in s.mine:
            gone += end if square == OFF else square // self.size + square % self.size
        for square in s.theirs:
            other = self.across(square)
            gone += end if square == OFF else other // self.size + other % self.size
        return gone

    def cells(self, s: Table) -> boards.Board:
        n, rows = (
            self.size,
            [[boards.label()] * (2 * self.size - 1) for _ in range(2 * self.size - 1)],
        )
        for square in range(n * n):
            up, right = square // n, square % n
            names = [str(side.index(square) + 1) for side in s if square in side]
            rows[2 * n - 2 - up - right][right - up + n - 1] = boards.square(
                square in s.mine,
                square in s.theirs,
                marked=square in (0, n * n - 1),
                text="".join(names),
            )
        return rows

    def describe(self, s: Table) -> str:
        mine, theirs = (
            " ".join(str(k + 1) for k, square in enumerate(side) if square != OFF) for side in s
        )
        return f"pieces {mine}; the opponent's {theirs}"

    def field_text(self, name: str, number: int) -> str:
        return (
            "captured" if number == OFF else f"{number // self.size + 1}-{number % self.size + 1}"
        )

    def action_text(self, s: Table, throw: int, action: int) -> str:
        return f"{action // 3 + 1} {WAYS[action % 3]}"

    def throw_cells(self, throw: int) -> list[boards.Cell]:
        return [boards.die(throw, sides=max(6, self.pieces))]

    def deed(self, s: Table, throw: int, action: int) -> str:
        return f"move {self.action_text(s, throw, action)}"

    def told(self, s: Table, throw: int, action: int, then: int, after: Table) -> str:
        to = self.moved(s, action)
        if to in s.mine:
            return f"it captures the own piece {s.mine.index(to) + 1}"
        text = f"it captures {s.theirs.index(to) + 1}" if to in s.theirs else ""
        return "; ".join(filter(None, (text, "the far corner" if to == self.size**2 - 1 else "")))

    def action_features(self, s: Table, throw: int, action: int) -> dict[str, int]:
        to = self.moved(s, action)
        return {"captures": int(to in s.theirs), "own": int(to in s.mine)}

    @policy
    def capture_or_run(self, s: Table, throw: int) -> int:
        """Win if you can, else capture, else spare your own pieces, and move ahead."""

        def worth(action: int) -> tuple[bool, bool, bool, bool]:
            to = self.moved(s, action)
            corner = to == self.size**2 - 1
            return corner, to in s.theirs, to not in s.mine, action % 3 == AHEAD

        return max(self.actions(s, throw), key=worth)
