"""Figures that stand on their own: alternative texts, legends with units, empty cells explained."""

from __future__ import annotations

import html
import json
import re
from functools import cache

import pytest

import rollwise
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.games.pig import Pig, Piglet
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.plot import KINDS
from rollwise.plot.pages import page

pytestmark = pytest.mark.slow

pytest.importorskip("plotly")

OF_THREE = Pig(target=16, sides=3, players=3)
GAMES = (Pig(target=15), SuperSix(sticks=7), Threes(dice=2), Piglet(target=3))


@cache
def solved(game: Game) -> rollwise.Solution:
    return rollwise.solve(game)


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_says_in_words_what_it_shows(kind):
    drawn = 0
    for game in (*GAMES, OF_THREE):
        try:
            rough = {"methods": ("value-iteration:epsilon=0.01",)}
            own = {"learning": {"games": 200}, "error": rough, "residual": rough}
            choices = own.get(kind, {})
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
