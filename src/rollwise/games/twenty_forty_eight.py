"""2048 on a small board: slide the tiles, and equal ones merge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

from rollwise import boards
from rollwise.errors import ParameterError
from rollwise.game import AGAIN, LOSE, WIN, Game, parameter, policy, replaced

LEFT, RIGHT, UP, DOWN, BEGIN, OVER = range(6)


class Board(NamedTuple):
    tiles: tuple[int, ...]  # row by row, as powers of 2; 0 for an empty cell


def cell(way: int, line: int, k: int, columns: int, rows: int) -> int:
    """The cell of a row or a column that is k cells from the side to which tiles slide."""
    if way == LEFT:
        return line * columns + k
    if way == RIGHT:
        return (line + 1) * columns - 1 - k
    if way == UP:
        return k * columns + line
    return (rows - 1 - k) * columns + line


def slid(tiles: tuple[int, ...], way: int, columns: int, rows: int) -> tuple[int, ...]:
    """The tiles after a move; equal neighbours merge once."""
    lines, size = (rows, columns) if way < UP else (columns, rows)
    after = list(tiles)
    for line in range(lines):
        # `last` is the tile that the next one may merge with; 0 after a merge
        filled, last = 0, 0
        for k in range(size):
            here = cell(way, line, k, columns, rows)
            tile = tiles[here]
            if tile > 0:
                after[here] = 0
                if tile == last:
                    after[cell(way, line, filled - 1, columns, rows)] = tile + 1
                    last = 0
                else:
                    after[cell(way, line, filled, columns, rows)] = tile
                    filled, last = filled + 1, tile
    return tuple(after)


def source(turn: int, k: int, columns: int, rows: int) -> int:
    """The cell from which a reflection or rotation moves the tile at k; turn 0 changes nothing."""
    down, across = k // columns, k % columns
    if turn >= 4:
        down, across = across, down
    across = columns - 1 - across if turn % 2 == 1 else across
    down = rows - 1 - down if turn // 2 % 2 == 1 else down
    return down * columns + across


def folded(tiles: tuple[int, ...], columns: int, rows: int) -> tuple[int, ...]:
    """The least of the boards that are reflections and rotations of this one."""
    best = 0
    # the first different tile decides; each board is read through its reflection
    for turn in range(1, 8 if columns == rows else 4):
        for k in range(columns * rows):
            here = tiles[source(best, k, columns, rows)]
            there = tiles[source(turn, k, columns, rows)]
            if there < here:
                best = turn
            if there != here:
                break
    least = list(tiles)
    for k in range(columns * rows):
        least[k] = tiles[source(best, k, columns, rows)]
    return tuple(least)


@dataclass(frozen=True)
class TwentyFortyEight(Game):
    """Tiles slide to one side, and equal ones merge. Then a 2 or, once in ten, a 4 appears.

    Two tiles are there at the beginning; under `even` all openings are equally likely. The
    `target` tile wins, and a full board without a move loses. Boards that are reflections of each
    other count as one. Under a `discount` each move that doesn't win ends the game with the
    probability that is missing to 1, as a loss; the beginning counts as a move too.
    """

    columns: int = parameter(2, at_least=2, at_most=4, about="columns of the board")
    rows: int = parameter(2, at_least=2, at_most=4, about="rows of the board")
    target: int = parameter(16, at_least=8, at_most=2048, about="tile that wins")
    discount: Fraction = parameter(  # type: ignore[misc]
        Fraction(1), at_least=0, at_most=1, about="of each move"
    )
    opening: str = parameter(
        "dealt", among=("dealt", "even"), variant=True, about="even: all openings alike"
    )
    name: ClassVar = "2048"
    heading: ClassVar = "2048"
    players: ClassVar = 1
    action_names: ClassVar = ("left", "right", "up", "down", "begin", "over")

    def validate(self) -> None:
        super().validate()
        if self.target & (self.target - 1):
            raise ParameterError(f"{self.name}: the target is a power of 2, not {self.target}")

    def start(self) -> Board:
        return Board((0,) * (self.columns * self.rows))

    def actions(self, s: Board) -> Iterator[int]:
        if max(s.tiles) == 0:
            yield BEGIN
        else:
            stuck = True
            for way in range(4):
                if slid(s.tiles, way, self.columns, self.rows) != s.tiles:
                    stuck = False
                    yield way
            if stuck:
                yield OVER

    def outcomes(self, s: Board, way: int) -> Iterator[tuple[int, int, Board]]:
        size = self.columns * self.rows
        if way == OVER:
            yield 1, LOSE, s
        elif way == BEGIN:
            for one in range(1, size):
                for other in range(one):
                    for first in (1, 2):
                        for second in (1, 2):
                            tiles = replaced(replaced(s.tiles, one, first), other, second)
                            ways = (9 if first == 1 else 1) * (9 if second == 1 else 1)
                            least = folded(tiles, self.columns, self.rows)
                            if self.opening == "even":
                                ways = 1 if tiles == least else 0
                            yield ways, AGAIN, Board(least)
        else:
            after = slid(s.tiles, way, self.columns, self.rows)
            if 1 << max(after) >= self.target:
                yield 1, WIN, Board(after)
            else:
                # each free cell has the weight 10: 9 for a 2, and 1 for a 4
                for k in range(size):
                    if after[k] == 0:
                        for tile in (1, 2):
                            tiles = replaced(after, k, tile)
                            ways = 9 if tile == 1 else 1
                            yield ways, AGAIN, Board(folded(tiles, self.columns, self.rows))

    def progress(self, s: Board) -> int:
        total = 0
        for tile in s.tiles:
            total += (1 << tile) & ~1
        return total

    def describe(self, s: Board) -> str:
        return " / ".join(
            " ".join(str(1 << tile) if tile else "." for tile in row) for row in self.rows_of(s)
        )

    def rows_of(self, s: Board) -> list[tuple[int, ...]]:
        """The tiles by rows."""
        return [s.tiles[k : k + self.columns] for k in range(0, len(s.tiles), self.columns)]

    def cells(self, s: Board) -> boards.Board:
        return [
            [boards.tile(str(1 << tile) if tile else " ", gone=tile == 0) for tile in row]
            for row in self.rows_of(s)
        ]

    def deed(self, s: Board, way: int) -> str:
        if way == OVER:
            return "find no move"
        return "begin" if way == BEGIN else f"slide {self.action_names[way]}"

    def told(self, s: Board, way: int, then: int, after: Board) -> str:
        return self.describe(after) if then == AGAIN else ""

    @policy
    def corner(self, s: Board) -> int:
        """Slide left or up if possible, else right, else down."""
        ways = list(self.actions(s))
        return next(way for way in (BEGIN, LEFT, UP, RIGHT, DOWN, OVER) if way in ways)
