"""Boards as rows of cells, drawn by the terminal and the browser.

A rule sheet with a board returns the cells from ``cells(s)``, from the view of the mover::

    def cells(self, s):
        return [[boards.tile(str(k), gone=not bits.has(s.open, k)) for k in range(1, 10)]]

A board has the same kinds of cells at the same places in every position.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

LONGEST = 40  # bar in a terminal
MOST_FIELDS = 6  # of a position without cells, drawn instead
WIDE = ("bar", "box", "pile")  # kinds as wide as there is room, in columns of their own


class Cell(NamedTuple):
    """A cell of a board: make one with the functions of this module.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    text : str
        The text on the cell.
    numbers : tuple of int
        Further contents, as described by the functions of this module.
    """

    kind: str
    text: str = ""
    numbers: tuple[int, ...] = ()


Board = Sequence[Sequence[Cell]]


def label(text: str = "") -> Cell:
    """Text without a frame; without text a gap."""
    return Cell("label", text)


def seat(after: int = 0) -> Cell:
    """The name of a player, so many seats after the mover."""
    return Cell("seat", "", (int(after),))


def square(mine: int = 0, theirs: int = 0, *, marked: bool = False, text: str = "") -> Cell:
    """A square of a track with pieces of the mover and of the opponent; it may be marked.

    `text` is the name of an only piece.
    """
    return Cell("square", text, (int(mine), int(theirs), int(marked)))


def point(mine: int = 0, theirs: int = 0) -> Cell:
    """A point of backgammon with its piled pieces."""
    return Cell("point", "", (int(mine), int(theirs)))


def tile(text: str, *, gone: bool = False) -> Cell:
    """A tile, present or gone."""
    return Cell("tile", text, (int(gone),))


def box(text: str, *, filled: bool = False) -> Cell:
    """A box of a score sheet, with its name."""
    return Cell("box", text, (int(filled),))


def die(face: int = 0, *, sides: int = 6, kept: bool = False) -> Cell:
    """A die with a face; 0 is a die before its throw. A kept die isn't thrown again."""
    return Cell("die", "", (int(face), sides, int(kept)))


def tip(marked: bool) -> Cell:
    """A four-sided die of which two corners are marked; a marked or a plain corner is on top."""
    return Cell("tip", "", (int(marked),))


def hole(full: bool, *, through: bool = False) -> Cell:
    """A hole for a stick, full or empty; a stick falls `through` it."""
    return Cell("hole", "", (int(full), int(through)))


def pile(n: int, *, theirs: int = 0) -> Cell:
    """Sticks, cards or chips of the mover, or of the player so many seats after."""
    return Cell("pile", "", (int(n), int(theirs)))


def bar(kept: int, risked: int = 0, *, of: int, theirs: int = False) -> Cell:
    """Steps of a column or points of a bank, some at risk; `theirs` as in `pile`."""
    return Cell("bar", "", (int(kept), int(risked), int(of), int(theirs)))


def numbered(board: Board, players: int) -> Board:
    """A board of three or more players, where the seats after the mover have numbers."""
    if players < 3:
        return board
    return [
        [
            label(f"player {cell.numbers[0] + 1}")
            if cell.kind == "seat" and cell.numbers[0]
            else cell
            for cell in row
        ]
        for row in board
    ]


def with_names(board: Board, names: Sequence[str]) -> Board:
    """A board for the terminal with the names of the players, from the mover on, at their seats."""
    return [
        [
            cell._replace(text=names[cell.numbers[0]]) if cell.kind == "seat" else cell
            for cell in row
        ]
        for row in board
    ]


def swapped(board: Board) -> Board:
    """A board of two players as the opponent sees it, drawn like the board of the mover.

    Seats, pieces, bars and piles change sides. Rows with seats change places, tracks are turned,
    and other boards exchange the bars within each row.
    """
    rows = [[_swapped(cell) for cell in row] for row in board]
    seated = [k for k, row in enumerate(rows) if has_kind([row], "seat")]
    if seated:
        moved = [rows[k] for k in reversed(seated)]
        for k, row in zip(seated, moved, strict=True):
            rows[k] = row
    elif has_kind(rows, "square", "point"):
        rows.reverse()
    else:
        for row in rows:
            bars = [k for k, cell in enumerate(row) if cell.kind == "bar"]
            for k, cell in zip(bars, [row[k] for k in reversed(bars)], strict=True):
                row[k] = cell
    return rows


def has_kind(board: Board, *kinds: str) -> bool:
    """Whether a board has a cell of one of these kinds."""
    return any(cell.kind in kinds for row in board for cell in row)


def _swapped(cell: Cell) -> Cell:
    numbers = cell.numbers
    if cell.kind in ("square", "point"):
        mine, theirs, *others = numbers
        return cell._replace(numbers=(theirs, mine, *others))
    if cell.kind in ("seat", "pile", "bar"):  # the last number is a seat
        return cell._replace(numbers=(*numbers[:-1], 1 - numbers[-1]))
    return cell


def text_board(board: Board) -> str:
    """A board in lines of text: o and # are the mover's, x the opponent's."""
    lines = []
    for _, group in groupby(board, lambda row: has_kind([row], *WIDE)):
        cells = list(group)
        rows = [[_text(cell) for cell in row] for row in cells]
        columns = range(max(map(len, rows), default=0))
        widths = [max(len(row[k]) for row in rows if k < len(row)) for k in columns]
        lines += [
            " ".join(
                text.rjust(width)
                if cell.kind in ("label", "square", "point")
                else text.ljust(width)
                for cell, text, width in zip(row, texts, widths, strict=False)
            ).rstrip()
            for row, texts in zip(cells, rows, strict=True)
        ]
    return "\n".join(lines)


def _text(cell: Cell) -> str:
    text: str = KINDS[cell.kind](cell.text, *cell.numbers)
    return text


def _square(text: str, mine: int, theirs: int, marked: int) -> str:
    return f"{_pile(mine, theirs)}{text}" or (MARKED if marked else EMPTY)


def _pile(mine: int, theirs: int) -> str:
    if mine + theirs <= 3:
        return "o" * mine + "x" * theirs
    return "".join(f"{n}{sign}" for n, sign in ((mine, "o"), (theirs, "x")) if n)


def _bar(text: str, kept: int, risked: int, of: int, theirs: int) -> str:
    scale = max(1.0, of / LONGEST)
    kept_to, risked_to, end = (round(n / scale) for n in (kept, kept + risked, of))
    steps = ("x" if theirs else "#") * kept_to + "o" * (risked_to - kept_to)
    return steps.ljust(end, EMPTY)


EMPTY, MARKED = ".", "*"
KINDS: dict[str, Any] = {  # how each is written in a terminal
    "label": lambda text: text,
    "seat": lambda text, after: text or ("you", "opponent", f"player {after + 1}")[min(after, 2)],
    "die": lambda text, face, sides, kept: f"({face or ' '})" if kept else f"[{face or ' '}]",
    "tip": lambda text, marked: "▲" if marked else "△",
    "hole": lambda text, full, through: "|" if full else "v" if through else "_",
    "pile": lambda text, n, theirs: "|" * n if n <= LONGEST else f"{n} |",
    "square": _square,
    "point": lambda text, mine, theirs: (_pile(mine, theirs) or EMPTY).rjust(3),
    "tile": lambda text, gone: "-" * len(text) if gone else text,
    "box": lambda text, filled: f"[{'x' if filled else ' '}] {text}   ",
    "bar": _bar,
}
