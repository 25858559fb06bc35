"""Decisions as small boards: the drawn position, its dice, and the cells changed by the best move.

A set, such as the open tiles of a box, has no place along an axis. Pictures of positions with such
a field are boards of a few positions instead. A board is an SVG on white, for a figure, a report
and a printed sheet alike.
"""

from __future__ import annotations

import base64
import html
import textwrap
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import accumulate, product
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise import boards
from rollwise.answer.solution import Solution
from rollwise.boards import KINDS, Board, Cell
from rollwise.graph.choices import outcome_action
from rollwise.graph.naming import field_label
from rollwise.numbers.printed import with_minus
from rollwise.plot.fields import field_text, often_met
from rollwise.plot.style import BLUE, FONT, GREY, NARROW, ORANGE, WIDE, Picture, Sheet
from rollwise.words import Narrator
from rollwise.words.next_view import as_next_sees

Marks = set[tuple[int, int]]  # cells of a board, by row and column
Way = Callable[[Board, Board], Marks]  # the cells that change between two boards

MOST, MOST_TRIED = 12, 1_000  # boards of a figure, and positions looked at
PASSES = 200  # of turns, from which it is read how opponents see a board
SIDE, LETTER, LINE = 26, 7.2, 17  # of a cell, of a letter, and between lines: pixels
CARD = 264  # width of a board with its text
PIPS = {
    1: (4,),
    2: (2, 6),
    3: (2, 4, 6),
    4: (0, 2, 6, 8),
    5: (0, 2, 4, 6, 8),
    6: (0, 2, 3, 5, 6, 8),
}
STICK, STICKS = 8, 20  # pixels of a stick in a pile, and most of them
PAPER, INK = "#ffffff", "#222222"


def draw_boards(
    solution: Solution,
    states: NDArray[np.int64],
    caption: Callable[[int], str],
    *,
    title: str,
    notes: Sequence[str] = (),
    weights: NDArray[np.float64] | None = None,
) -> go.Figure:
    """Boards of positions with much weight, the heaviest first, as a figure.

    Parameters
    ----------
    states : (n,) int64
    caption : callable
        The bold line beneath a board.
    weights : (n,) float64, optional
        The number of visits in a game played best, unless given.
    """
    met = often_met(solution)[states] if weights is None else weights
    shown = different(solution, states[np.argsort(-met, kind="stable")], caption)
    cards = Cards(solution)
    drawn = [cards.card(s, caption(s)) for s in shown]
    tall = max(height for _, height in drawn)
    order = "come up most often" if weights is None else "matter most"
    left = len(states) - len(shown)
    more = [f"{len(shown)} of the positions that {order}; {left:,} are left out."] if left else []
    columns = (4, 1)
    heights = tuple(float(-(-len(drawn) // n) * tall) for n in columns)
    sheet = Sheet(
        Picture(),
        title,
        [
            *more,
            *notes,
            *(["Orange: the cells that the best move changes."] if cards.marks else []),
        ],
        heights=(heights[0], heights[1]),
        left=16,
        bottom=12,
        seen=" ".join(f"{cards.words(s)}: {caption(s)}." for s in shown),
    )
    hidden = {"visible": False, "range": [0, 1], "fixedrange": True}
    coded = [base64.b64encode(_svg(svg, tall, "").encode()).decode() for svg, _ in drawn]
    layouts = []
    for n, height, width in zip(columns, heights, (WIDE - 40, NARROW - 20), strict=True):
        images = [
            {
                "source": f"data:image/svg+xml;base64,{svg}",
                "xref": "paper",
                "yref": "paper",
                "x": k % n / n,
                "y": 1 - k // n * tall / height,
                "sizex": min(CARD / width, 1 / n),
                "sizey": tall / height,
                "sizing": "contain",
                "xanchor": "left",
                "yanchor": "top",
            }
            for k, svg in enumerate(coded)
        ]
        layouts.append({"images": images, "xaxis": hidden, "yaxis": hidden})
    return sheet.finish(*layouts)


def different(
    solution: Solution,
    states: NDArray[np.int64],
    caption: Callable[[int], str],
    most: int = MOST,
) -> list[int]:
    """The first states, of those with one answer after different throws only one."""
    graph = solution.graph
    own = [f for f, name in enumerate(graph.columns) if name not in graph.throw_names]
    found: dict[Any, int] = {}
    for s in states[:MOST_TRIED].tolist():
        # throws with one best move in one position are one entry
        found.setdefault((caption(s), *graph.rows[s, own].tolist()), s)
        if len(found) == most:
            break
    return list(found.values())


def _svg(inside: str, tall: float, label: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {CARD} {tall:.0f}" width="{CARD}" '
        f'height="{tall:.0f}" role="img" aria-label="{html.escape(label)}" '
        f'font-family="{FONT}" font-size="13">{inside}</svg>'
    )


class Cards:
    """The boards of positions; with `hints` the cells that the best move changes are marked."""

    def __init__(self, solution: Solution, *, hints: bool = True) -> None:
        self.solution, self.hints = solution, hints
        self.narrator = Narrator(solution.graph, solution.game)
        self.marks = False  # whether a drawn board has marked cells

    def words(self, state: int) -> str:
        """A position and its throw in words."""
        return self.narrator.position(state)

    def html(self, state: int, caption: str) -> str:
        """A board as a piece of a page."""
        inside, tall = self.card(state, caption)
        return _svg(inside, tall, f"{self.words(state)}: {caption}")

    def card(self, state: int, caption: str) -> tuple[str, float]:
        """A board under the position's words and above the caption: its inside and height."""
        parts: list[str] = []
        y = 22.0
        for line in textwrap.wrap(self.words(state), int((CARD - 24) / LETTER)):
            parts.append(_text(12, y, line))
            y += LINE
        board = boards.numbered(self.narrator.cells(state), self.solution.graph.players)
        board = board or self._fields(state)
        has_dice = any(cell.kind == "die" for row in board for cell in row)
        throw = () if has_dice else self.solution.graph.view[state].throw
        thrown = _board([self.narrator.throw_cells(throw)], set())
        marked = self._marked(state, board) if self.hints else set()
        self.marks |= bool(marked)
        for drawing, width, height in (thrown, _board(board, marked)):
            if width:
                scale = min(1.0, (CARD - 24) / width)
                parts.append(
                    f'<g transform="translate(12 {y:.0f}) scale({scale:.3f})">{drawing}</g>'
                )
                y += height * scale + 8
        y += 12
        for line in textwrap.wrap(caption, int((CARD - 24) / LETTER / 1.08)):
            parts.append(_text(12, y, line, "bold"))
            y += LINE
        frame = (
            f'<rect x="1" y="1" width="{CARD - 8}" height="{y - 6:.0f}" rx="6" '
            f'fill="{PAPER}" stroke="{GREY}"/>'
        )
        return frame + "".join(parts), y + 4

    def _fields(self, state: int) -> Board:
        """The fields of a position of rules without cells: bars, and the members of sets."""
        graph, named = self.solution.graph, self.solution.graph.view[state].named
        rows: list[list[Cell]] = []
        for field, name in enumerate(graph.field_names):
            if name in graph.throw_names or len(rows) == boards.MOST_FIELDS:
                continue
            low, high = self._ranges[0][field], self._ranges[1][field]
            if low == high:
                continue
            number = int(named[name])
            text = field_text(self.solution, name, number)
            row = [boards.label(field_label(name)), boards.label(text)]
            if text == str(number):
                row.insert(1, boards.bar(number - low, of=high - low))
            rows.append(row)
        return rows

    @cached_property
    def _ranges(self) -> tuple[list[int], list[int]]:
        """The ends of the scale of each field; fields with the same number of players share one."""
        graph = self.solution.graph
        low, high = graph.fields.min(axis=0), graph.fields.max(axis=0)
        game = self.solution.game
        if graph.players > 1 and (game is None or game.base_game is game):
            seen = as_next_sees(graph)
            for field in range(len(seen)):
                group = [field]
                while seen[group[-1]] not in (field, -1):
                    group.append(seen[group[-1]])
                low[group], high[group] = low[group].min(), high[group].max()
        return low.tolist(), high.tolist()

    def _marked(self, state: int, board: Board) -> Marks:
        """The cells that the best move changes, by row and column."""
        action = self.solution.graph.view.action(self.solution.best_actions[state])
        outcomes = list(action.outcomes)
        if not board or len(outcomes) != 1 or outcomes[0].is_over:
            return set()
        target = outcomes[0].target
        if outcomes[0].passes:
            way, cells = self._across
            return way(board, cells(target))
        return _differing(board, self.narrator.cells(target))

    @cached_property
    def _across(self) -> tuple[Way, Callable[[int], Board]]:
        """How opponents see a board: the way that explains most passes, plain ways first.

        Pieces may change sides, and rows and columns their order: from behind, by halves, or any.
        One position can't tell which way this is: on an empty board, many ways change one cell.
        The last way exchanges the fields of the players instead of parts of the board.

        Returns
        -------
        way : callable
            The cells changed at a PASS, from the boards before and after it.
        cells : callable
            The board after it.
        """
        graph, cells = self.solution.graph, self.narrator.cells
        passes = np.flatnonzero((graph.outcome_passes > 0) & (graph.outcome_state >= 0))
        passes = passes[:: max(1, len(passes) // PASSES)]
        befores = graph.action_state[outcome_action(graph)[passes]].tolist()
        afters = graph.outcome_state[passes].tolist()
        pairs = [(cells(s), t) for s, t in zip(befores, afters, strict=True)]
        both, turns = (True, False), (_as_is, _from_behind, _by_halves)
        changed: list[Way] = [
            partial(_changed_across, *how) for how in product(both, both, turns, (False, True))
        ]
        ways = [(way, cells) for way in changed]
        if min(self.narrator.seen_by_next) >= 0:
            ways.append((_differing, self.narrator.cells_seen_back))
        return min(ways, key=lambda way: sum(len(way[0](one, way[1](t))) for one, t in pairs))


def _differing(board: Board, other: Board, *, in_order: bool = True) -> Marks:
    """The cells of a board without their like in another; rows may stand elsewhere in that one."""
    left = [list(row) for row in other]
    rows = list(enumerate(map(list, board)))
    # rows that stand elsewhere in the other board are no change
    if not in_order:
        for i, row in list(rows):
            if row in left:
                left.remove(row)
                rows.remove((i, row))
    return {
        (i, j)
        for (i, row), changed in zip(rows, left, strict=False)
        for j, (cell, after) in enumerate(zip(row, changed, strict=False))
        if cell != after
    }


def _changed_across(
    in_order: bool,
    swaps: bool,
    turned: Callable[[Sequence[Any]], list[Any]],
    mirrors: bool,
    board: Board,
    after: Board,
) -> Marks:
    rows = [[_other_side(cell) if swaps else cell for cell in row] for row in turned(after)]
    return _differing(board, [row[::-1] if mirrors else row for row in rows], in_order=in_order)


def _as_is(rows: Sequence[Any]) -> list[Any]:
    return list(rows)


def _from_behind(rows: Sequence[Any]) -> list[Any]:
    return list(rows[::-1])


def _by_halves(rows: Sequence[Any]) -> list[Any]:
    half = len(rows) // 2
    return [*rows[half:], *rows[:half]]


def _other_side(cell: Cell) -> Cell:
    numbers = cell.numbers
    if cell.kind in ("square", "point"):
        numbers = (numbers[1], numbers[0], *numbers[2:])
    if cell.kind in ("bar", "pile"):
        numbers = (*numbers[:-1], 1 - numbers[-1])
    if cell.kind == "seat":
        numbers = (1 - numbers[0],)
    return cell._replace(numbers=numbers)


def _text(x: float, y: float, text: str, weight: str = "normal", anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{INK}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{html.escape(with_minus(text))}</text>'
    )


def _die(cell: Cell, width: float) -> str:
    face, sides, kept = cell.numbers
    parts = [_rect(0, 0, SIDE, SIDE, "#dcecf7" if kept else PAPER, BLUE if kept else INK, 5)]
    if face not in PIPS or sides > 6:
        return parts[0] + (_text(SIDE / 2, SIDE - 8, str(face), "bold", "middle") if face else "")
    for pip in PIPS[face]:
        at = 6 + pip % 3 * 7, 6 + pip // 3 * 7
        parts.append(f'<circle cx="{at[0]}" cy="{at[1]}" r="2.3" fill="{INK}"/>')
    return "".join(parts)


def _tip(cell: Cell, width: float) -> str:
    mark = f'<circle cx="13" cy="9" r="4" fill="{INK}"/>' if cell.numbers[0] else ""
    return f'<polygon points="13,2 25,24 1,24" fill="{PAPER}" stroke="{INK}"/>{mark}'


def _rect(
    x: float, y: float, width: float, height: float, fill: str, stroke: str, round_: float = 2
) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{round_}" '
        f'fill="{fill}" stroke="{stroke}"/>'
    )


def _board(board: Board, marked: Marks) -> tuple[str, float, float]:
    """The cells of a board, and its width and height."""
    columns = range(max(map(len, board), default=0))
    widths = [max(_width(row[k]) for row in board if k < len(row)) for k in columns]
    # each column is as wide as its widest cell
    lefts = [0.0, *accumulate(width + 3 for width in widths)]
    parts = []
    for i, row in enumerate(board):
        for j, cell in enumerate(row):
            y = i * (SIDE + 3)
            parts.append(
                f'<g transform="translate({lefts[j]:.1f} {y})">{_cell(cell, widths[j])}</g>'
            )
            if (i, j) in marked:
                parts.append(
                    f'<rect x="{lefts[j] - 1:.1f}" y="{y - 1}" width="{widths[j] + 2:.1f}" '
                    f'height="{SIDE + 2}" rx="3" fill="none" stroke="{ORANGE}" stroke-width="3"/>'
                )
    return "".join(parts), lefts[-1], len(board) * (SIDE + 3)


def _width(cell: Cell) -> float:
    if cell.kind == "bar":
        return 160
    text = "" if cell.kind in ("square", "point", "die", "tip", "hole", "pile") else _written(cell)
    if cell.kind == "pile":
        return max(SIDE, 8 + STICK * cell.numbers[0]) if cell.numbers[0] <= STICKS else 2 * SIDE
    room = LETTER * len(text) + 8
    return max(room, 8 if cell.kind == "label" else SIDE)


def _written(cell: Cell) -> str:
    """A cell as text, as a terminal writes it."""
    return str(KINDS[cell.kind](cell.text, *cell.numbers)).strip()


def _cell(cell: Cell, width: float) -> str:
    if cell.kind in CELLS:
        return CELLS[cell.kind](cell, width)
    return _text(2, SIDE - 8, _written(cell))


def _square(cell: Cell, width: float) -> str:
    mine, theirs, *marked = cell.numbers
    back = "#fdeccb" if marked and marked[0] else "#f3f3f3"
    piece = ""
    if mine or theirs:
        middle = width / 2, SIDE / 2
        fill, ink = (BLUE, "#ffffff") if mine else (PAPER, INK)
        piece = (
            f'<circle cx="{middle[0]:.1f}" cy="{middle[1]}" r="9" fill="{fill}" stroke="{INK}"/>'
        )
        text = cell.text or (str(mine + theirs) if mine + theirs > 1 else "")
        piece += (
            f'<text x="{middle[0]:.1f}" y="{middle[1] + 4.5}" text-anchor="middle" '
            f'fill="{ink}">{html.escape(text)}</text>'
        )
    return _rect(0, 0, width, SIDE, back, GREY) + piece


def _tile(cell: Cell, width: float) -> str:
    if cell.numbers[0]:
        return _rect(0, 0, width, SIDE, "#e4e4e4", "#e4e4e4")
    return _rect(0, 0, width, SIDE, PAPER, INK) + _text(
        width / 2, SIDE - 8, cell.text, "bold", "middle"
    )


def _box(cell: Cell, width: float) -> str:
    cross = '<path d="M3 9 l8 8 m0 -8 l-8 8" stroke="#222222" stroke-width="2"/>'
    box = _rect(1, 7, 12, 12, PAPER, INK) + (cross if cell.numbers[0] else "")
    return box + _text(20, SIDE - 8, cell.text)


def _hole(cell: Cell, width: float) -> str:
    full, through = cell.numbers
    dash = ' stroke-dasharray="3 2"' if through else ""
    ring = f'<circle cx="13" cy="13" r="10" fill="#f3f3f3" stroke="{INK}"{dash}/>'
    return ring + (f'<circle cx="13" cy="13" r="6" fill="{BLUE}"/>' if full else "")


def _pile(cell: Cell, width: float) -> str:
    n, theirs = cell.numbers
    if n > STICKS:
        return _text(2, SIDE - 8, str(n))
    fill = GREY if theirs else BLUE
    return "".join(_rect(4 + STICK * k, 3, 4, SIDE - 6, fill, "none") for k in range(n))


def _bar(cell: Cell, width: float) -> str:
    kept, risked, of, theirs = cell.numbers
    step = width / max(of, 1)
    return (
        _rect(0, 5, width, SIDE - 10, "#f3f3f3", GREY)
        + _rect(0, 5, step * kept, SIDE - 10, INK if theirs else BLUE, "none")
        + _rect(step * kept, 5, step * risked, SIDE - 10, "#9CD3F5", "none")
    )


CELLS: dict[str, Callable[[Cell, float], str]] = {
    "label": lambda cell, width: _text(width / 2, SIDE - 8, cell.text, anchor="middle"),
    "square": _square,
    "point": _square,
    "die": _die,
    "tip": _tip,
    "hole": _hole,
    "pile": _pile,
    "tile": _tile,
    "box": _box,
    "bar": _bar,
}
