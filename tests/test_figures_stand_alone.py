"""Figures that stand on their own: alternative texts, legends with units, empty cells explained."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

import rollwise
from rollwise.errors import UsageError
from rollwise.game import LOSE, PASS, WIN, Game
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Pig, Piglet
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.plot import KINDS
from rollwise.plot.fields import empty_cells, view
from rollwise.plot.pages import page

pytestmark = pytest.mark.slow

pytest.importorskip("plotly")

OF_THREE = Pig(target=16, sides=3, players=3)
GAMES = (Pig(target=15), SuperSix(sticks=7), Threes(dice=2), Piglet(target=3))


class Both(NamedTuple):
    mine: int
    theirs: int


@dataclass(frozen=True)
class Steps(Game):
    """Reach ten in steps of one or two; actions without names."""

    def start(self):
        return Both(0, 0)

    def actions(self, s):
        yield 1
        yield 2

    def outcomes(self, s, action):
        for step in (action, action + 1):
            if s.mine + step >= 10:
                yield 1, (WIN if s.mine + step == 10 else LOSE), s
            else:
                yield 1, PASS, Both(s.theirs, s.mine + step)


@cache
def solved(game: Game) -> rollwise.Solution:
    return rollwise.solve(game)


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_says_in_words_what_it_shows(kind):
    drawn = 0
    for game in (*GAMES, OF_THREE):
        try:
            choices = {"games": 200} if kind == "learning" else {}
            figure = solved(game).plot(kind, **choices)
        except UsageError:
            continue  # it makes no sense for this game
        drawn += 1
        meta = figure.layout.meta
        alt = meta["alt"]
        assert alt.startswith(f"{meta['title']}. ")
        assert len(alt) > len(meta["title"]) + 40
        assert not re.search(r"<\w|&\w+;|\bnan\b|  ", alt)
        shown = figure.layout.annotations[0].text.replace("<br>", " ")
        notes = re.sub("<[^>]*>", "", shown.partition("</b>")[2]).split(". ")
        assert all(note.split("<sup>")[0].strip(" .")[:30] in alt for note in notes)
        assert f'role="figure" aria-label="{html.escape(alt)}"' in page(figure, "x")
        assert json.loads(figure.to_json())["layout"]["meta"]["alt"] == alt
    assert drawn >= 1


@pytest.mark.parametrize("game", [*GAMES[:3], DiceBlackjack(), Steps()], ids=lambda g: g.name)
@pytest.mark.parametrize("chosen", ["all", "choice", "some"])
def test_the_note_on_empty_cells_is_right(game, chosen):
    """Held against a look at every cell of every map."""
    solution = solved(game)
    graph = solution.graph
    states = np.arange(graph.n_states)
    choice = np.diff(graph.action_indptr) > 1
    if chosen == "choice":
        states = np.flatnonzero(choice)
    if chosen == "some":
        states = states[::3]
    layout = view(solution, states, solution.values[states], rollwise.plot.Choices())
    if len(layout.axes) < 2:
        pytest.skip("lines")
    known = {tuple(fields) for fields in graph.states.tolist()}
    drawn = {tuple(graph.states[s].tolist()) for panel in layout.panels for s in panel.states}
    never = left_out = 0
    along = [sorted({fields[axis] for fields in drawn}) for axis in layout.axes]
    ends = [range(line[0], line[-1] + 1) for line in along]
    # where few places along an axis are used, only those are drawn
    lines = [
        end if len(end) <= 2 * len(line) + 2 else line
        for end, line in zip(ends, along, strict=True)
    ]
    for panel in layout.panels:
        fields = graph.states[panel.states[0]].tolist()
        for x in lines[0]:
            for y in lines[1]:
                fields[layout.axes[0]], fields[layout.axes[1]] = x, y
                never += tuple(fields) not in known
                left_out += tuple(fields) in known and tuple(fields) not in drawn
    (note,) = empty_cells(solution, layout.axes, layout.panels) or [""]
    assert ("no play comes to the position" in note) == (never > 0)
    assert ("there is no choice in it" in note or "it is left out" in note) == (left_out > 0)
    if chosen == "choice" and left_out:
        assert "there is no choice in it" in note
