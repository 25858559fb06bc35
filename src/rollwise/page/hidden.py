"""A page of a game with hidden dice or simultaneous choices: play, a coach, and both strategies.

The coach shows the probabilities and worths of the player's own situation, and the board shows no
hidden field before the game is over. The opponent draws from its strategy. The page is one file.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from rollwise.boards import Board, label, seat, tile
from rollwise.documents.hidden import has_draws, unit_of
from rollwise.documents.model import Rows, html_of
from rollwise.documents.served import MOST_ON_TILE
from rollwise.errors import PolicyError, TooManyStates
from rollwise.game import Game
from rollwise.graph import title_of
from rollwise.graph.naming import field_label
from rollwise.hidden import Answer
from rollwise.hidden.answer import TreeAnswer
from rollwise.hidden.positions import Positions, named_fields
from rollwise.hidden.reading import read
from rollwise.hidden.whole import HiddenAnswer
from rollwise.page import assembled
from rollwise.page.document import (
    MADE_BY,
    about_policy,
    bound_text,
    paragraphs,
    parameters_of,
    warn_of_failing,
)
from rollwise.plot.pages import resource, shell

MOST = 30_000  # situations or choices of a page that plays
COUNTED = {"bar", "pile"}  # kinds of cells without a look of their own for an unknown number


def report_of(answer: Answer, blocks: Iterable[str | Rows]) -> str:
    """A page that shows the answer and the strategies, as HTML.

    Parameters
    ----------
    blocks : iterable
        The answer and the strategies, as lines and tables.
    """
    title, paid = answer.game.heading, unit_of(answer) != "win probability"
    rules = "".join(f"<p>{html.escape(part)}</p>" for part in paragraphs(answer.game, paid=paid))
    more = "main > p { max-width: 46rem; } td:not(.text) { white-space: nowrap; }"
    return shell(
        title,
        f"<style>{resource('page', 'page.css')}{more}</style>\n",
        f"<header><h1>{html.escape(title)}</h1></header>\n<main>{rules}\n"
        f"<h2>The answer</h2>{html_of(blocks, 'strategies')}</main>",
    )


def page_of(answer: Answer, blocks: Iterable[str | Rows]) -> str:
    """A page that plays, coaches and shows the answer, as HTML.

    Raises
    ------
    TooManyStates
    """
    known = json.dumps(data_of(answer, blocks), ensure_ascii=False, separators=(",", ":"))
    title = answer.positions.title
    return assembled(answer.game.heading, title, known.encode(), "hidden")


def require_size(positions: Positions) -> None:
    """Refuse a game that is too large for a page that plays; it needn't be solved for that.

    Raises
    ------
    TooManyStates
    """
    if len(positions.rewards) > MOST:
        raise _too_large(positions.title, f"it has {len(positions.rewards):,} choices")


def read_for_page(game: Game, max_states: int | None = None) -> None:
    """Read the positions of a game, and refuse it if it is too large for a page that plays.

    Parameters
    ----------
    max_states : int, optional
        The most positions; a page has at most 30,000 of them.

    Raises
    ------
    RulesError, UsageError, TooManyStates
    """
    most = MOST if max_states is None else min(max_states, MOST)
    try:
        positions = read(game, most)
    except TooManyStates as error:
        if most == max_states:
            raise
        title = title_of(game.name, game.parameters)
        raise _too_large(title, f"it has more than {MOST:,} positions") from error
    require_size(positions)


def _too_large(title: str, why: str) -> TooManyStates:
    return TooManyStates(
        f"{title} is too large for a page that plays, which has at most {MOST:,} positions, "
        f"choices and situations: {why}; take fewer dice, cards or sides"
    )


def data_of(answer: Answer, blocks: Iterable[str | Rows]) -> dict[str, Any]:
    """The data of the page, as `hidden.js` reads them."""
    positions, game = answer.positions, answer.game
    require_size(positions)
    boards = _Boards(positions)
    told = positions.told()
    policies, failed = _policies(answer)
    is_chance = unit_of(answer) == "win probability"
    return {
        "made_by": MADE_BY,
        "about": paragraphs(game, paid=not is_chance),
        "parameters": parameters_of(game, game.parameters),
        "is_chance": is_chance,
        "has_draws": has_draws(answer),
        "stake": positions.stake,
        "bound": bound_text(answer.error_bound, not is_chance) if answer.error_bound else "0",
        "hidden": positions.is_hidden,
        "endless": game.endless == "draw",
        "sets": _sets(answer),
        "rounds": [int(one.places[0]) for one in positions.rounds],
        "policies": policies,
        "failed": failed,
        "positions": [
            {
                "kind": kind,
                "sight": sight,
                "told": told.get(sight, ""),
                "board": boards.number(place),
                "whole": boards.number(place, whole=True),
                "menus": [
                    [positions.action_name(a, place) for a in menu]
                    for menu in positions.menus[place]
                ],
                "choices": [
                    [
                        float(positions.rewards[c]),
                        [[float(w), float(p), t, u] for w, p, t, u in positions.outcomes(c)],
                    ]
                    for c in positions.choices(place)
                ],
            }
            for place, (kind, sight) in enumerate(
                zip(positions.kinds.tolist(), positions.sights.tolist(), strict=True)
            )
        ],
        "boards": boards.found,
        "blocks": [
            block
            if isinstance(block, str)
            else {"heads": list(block.heads), "rows": [list(row) for row in block.cells]}
            for block in blocks
        ],
    }


def _sets(answer: Answer) -> list[list[dict[str, Any]]]:
    """By round, player and situation: the first sequence, and each action's share and worth.

    Player 0 is the first mover of the round; with simultaneous choices the mover.
    """
    stake = answer.positions.stake
    if not isinstance(answer, HiddenAnswer):
        sets: list[dict[str, Any]] = [{}, {}]
        for one in answer.situations():
            sets[one.seat][str(one.position)] = [0, *_numbers(one, stake)]
        return [sets]
    trees = [part.tree for part, _ in answer.parts if isinstance(part, TreeAnswer)]
    if len(trees) < len(answer.parts):
        raise _too_large(answer.positions.title, "its histories fit into no list")
    if answer.n_situations > MOST:
        raise _too_large(answer.positions.title, f"it has {answer.n_situations:,} situations")
    found: list[list[dict[str, Any]]] = [[{}, {}] for _ in answer.parts]
    for one in answer.situations():
        seat = trees[one.round].seats[one.seat]
        key = f"{seat.parents[one.number]},{answer.positions.sights[one.position]}"
        found[one.round][one.seat][key] = [int(seat.first[one.number]), *_numbers(one, stake)]
    return found


def _policies(answer: Answer) -> tuple[list[dict[str, Any]], list[str]]:
    """The opponents besides the optimal strategy, and the names of policies that fail.

    `lost` is what an opponent loses to the optimal strategy, on average over both seats. `picks`
    has the index of the action for each position and side; it is empty for random play.
    """
    positions, found, failed = answer.positions, [], list[str]()
    for name, function in [*type(answer.game).policies().items(), ("random", None)]:
        try:
            picks = [] if function is None else _picks(positions, name)
            first, _ = answer.evaluate(("optimal", name))
            second, _ = answer.evaluate((name, "optimal"))
        except PolicyError as error:
            warn_of_failing(name, error)
            failed.append(name)
            continue
        about = about_policy(function) if function is not None else ""
        found.append({"name": name, "about": about, "lost": (first - second) / 2, "picks": picks})
    return found, failed


def _picks(positions: Positions, name: str) -> list[list[int]]:
    """The index of the action that a policy takes in each position, on each side with a choice."""
    return [
        [
            menu.index(positions.action_by(name, place, side))
            for side, menu in enumerate(menus)
            if menu
        ]
        for place, menus in enumerate(positions.menus)
    ]


def _numbers(situation: Any, stake: float) -> list[Any]:
    """The shares of a situation's actions, and their worths in nine digits of the stake."""
    digits = 9 - math.floor(math.log10(stake or 1))
    shares = [round(float(p), 9) for p in situation.probabilities]
    values = [None if math.isnan(v) else round(float(v), digits) for v in situation.values]
    return [shares, values]


class _Boards:
    """The different boards of a game, numbered as they are found."""

    def __init__(self, positions: Positions) -> None:
        self._positions = positions
        self._numbers: dict[str, int] = {}
        self._has_cells = type(positions.game).cells is not Game.cells
        self._unknown = self._hidden_cells() if self._has_cells else {}
        self.found: list[Any] = []

    def _hidden_cells(self) -> dict[int, set[tuple[int, int]]]:
        """By sights, the cells with a count that the mover doesn't see: their rows and columns."""
        positions = self._positions
        found: dict[int, set[tuple[int, int]]] = {}
        for place, sight in enumerate(positions.sights.tolist()):
            hidden = _differing(positions.cells(place), positions.cells(place, whole=True))
            found.setdefault(sight, set()).update(hidden)
        return found

    def number(self, place: int, *, whole: bool = False) -> int:
        """The number of the board of a position, as its mover sees it or as a whole."""
        positions = self._positions
        if self._has_cells:
            board = positions.cells(place, whole=whole)
            if not whole:
                board = _covered(board, self._unknown[int(positions.sights[place])])
        else:
            state = positions.states[place]
            seen = named_fields(positions.game, state) if whole else positions.visible(place)
            board = _fields(state._fields, seen)
        rows = [[list(cell) for cell in row] for row in board]
        text = json.dumps(rows)
        if text not in self._numbers:
            self._numbers[text] = len(self.found)
            self.found.append(rows)
        return self._numbers[text]


def _differing(one: Board, other: Board) -> set[tuple[int, int]]:
    """The cells with a count that differ between two boards."""
    return {
        (r, c)
        for r, (row, also) in enumerate(zip(one, other, strict=False))
        for c, (cell, beside) in enumerate(zip(row, also, strict=False))
        if cell != beside and cell.kind in COUNTED
    }


def _covered(board: Board, unknown: set[tuple[int, int]]) -> Board:
    """A board with a question mark in some cells."""
    return [
        [cell._replace(text="?") if (r, c) in unknown else cell for c, cell in enumerate(row)]
        for r, row in enumerate(board)
    ]


def _fields(names: Iterable[str], seen: Mapping[str, Any]) -> Board:
    """A board from the fields of a state: a row for each, with a question mark if it is hidden."""
    rows = []
    for name in names:
        value = seen.get(name, "?")
        texts = [str(x) for x in (value if isinstance(value, tuple) else (value,))]
        head = seat() if name == "mine" else seat(1) if name == "theirs" else None
        rows.append(
            [
                head or label(field_label(name)),
                *((tile if len(text) <= MOST_ON_TILE else label)(text) for text in texts),
            ]
        )
    return rows
