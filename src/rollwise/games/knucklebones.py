"""Knucklebones: dice in columns, where equal ones multiply and knock out the other's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rollwise import boards, dice
from rollwise.game import DRAW, LOSE, PASS, WIN, Game, parameter, policy


class Table(NamedTuple):
    mine: tuple[int, ...]  # column by column, the highest die of a column first; 0 for a free place
    theirs: tuple[int, ...]


def placed(board: tuple[int, ...], column: int, die: int, rows: int) -> tuple[int, ...]:
    """A board with another die in a column, which has room."""
    first = column * rows
    kept = board[first : first + rows - 1]
    return board[:first] + tuple(sorted((*kept, die), reverse=True)) + board[first + rows :]


def knocked_out(board: tuple[int, ...], column: int, die: int, rows: int) -> tuple[int, ...]:
    """A board without the dice of this face in a column."""
    first = column * rows
    kept = [0 if face == die else face for face in board[first : first + rows]]
    return board[:first] + tuple(sorted(kept, reverse=True)) + board[first + rows :]


def points(board: tuple[int, ...], rows: int) -> int:
    """The sum of the columns: k equal dice of a face count k times k times the face."""
    total = 0
    for k in range(len(board)):
        for other in range(k // rows * rows, k // rows * rows + rows):
            if board[other] == board[k]:
                total += board[k]
    return total


@dataclass(frozen=True)
class Knucklebones(Game):
    """Throw a die and put it into a column of your board; equal dice of a column multiply.

    k dice of a face in a column count k times their sum. Dice of the same face in the opponent's
    column are taken off. The game ends when a board is full, and more points win.
    """

    columns: int = parameter(2, at_least=1, at_most=3, about="columns of a board")
    rows: int = parameter(2, at_least=1, at_most=3, about="dice in a column")

    def start(self) -> Table:
        empty = (0,) * (self.columns * self.rows)
        return Table(empty, empty)

    def throws(self, s: Table) -> Iterator[tuple[int, int]]:
        yield from dice.one(6)

    def actions(self, s: Table, throw: int) -> Iterator[int]:
        for column in range(self.columns):
            if s.mine[column * self.rows + self.rows - 1] == 0:
                yield column

    def outcomes(self, s: Table, throw: int, column: int) -> Iterator[tuple[int, int, Table]]:
        mine = placed(s.mine, column, throw, self.rows)
        theirs = knocked_out(s.theirs, column, throw, self.rows)
        then = PASS
        if min(mine) > 0:
            lead = points(mine, self.rows) - points(theirs, self.rows)
            then = WIN if lead > 0 else LOSE if lead < 0 else DRAW
        yield 1, then, Table(theirs, mine)

    def describe(self, s: Table) -> str:
        mine, theirs = (self.columns_of(board) for board in s)
        return f"yours {mine}; the opponent's {theirs}"

    def columns_of(self, board: tuple[int, ...]) -> str:
        """The dice of a board by columns."""
        columns = [board[k : k + self.rows] for k in range(0, len(board), self.rows)]
        return ", ".join(" ".join(str(d) if d else "." for d in column) for column in columns)

    def cells(self, s: Table) -> boards.Board:
        def row(board: tuple[int, ...], k: int) -> list[boards.Cell]:
            faces = board[k :: self.rows]
            return [boards.tile(str(face or " "), gone=face == 0) for face in faces]

        theirs = [row(s.theirs, k) for k in reversed(range(self.rows))]
        middle = [boards.label(f"{points(s.theirs, self.rows)} : {points(s.mine, self.rows)}")]
        return [*theirs, middle, *(row(s.mine, k) for k in range(self.rows))]

    def action_text(self, s: Table, throw: int, column: int) -> str:
        return f"column {column + 1}"

    def throw_cells(self, throw: int) -> list[boards.Cell]:
        return [boards.die(throw)]

    def deed(self, s: Table, throw: int, column: int) -> str:
        return f"put {throw} into column {column + 1}"

    def told(self, s: Table, throw: int, column: int, then: int, after: Table) -> str:
        gone = s.theirs.count(0) < after.mine.count(0)
        return "dice are knocked out" if gone else ""

    @policy
    def greedy(self, s: Table, throw: int) -> int:
        """Take the column with the largest lead."""

        def lead(column: int) -> int:
            mine = placed(s.mine, column, throw, self.rows)
            theirs = knocked_out(s.theirs, column, throw, self.rows)
            return points(mine, self.rows) - points(theirs, self.rows)

        return max(self.actions(s, throw), key=lead)
