"""A page of a game with hidden dice or simultaneous choices: play, a coach, and both strategies.

The coach shows the probabilities and payoffs of the player's own situation. The opponent draws from
its strategy. The page is one file.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rollwise.documents.model import Rows, html_of
from rollwise.errors import TooManyStates
from rollwise.hidden import Answer
from rollwise.hidden.answer import StochasticAnswer, TreeAnswer

HERE = Path(__file__).parent
MOST = 30_000  # situations or choices of a page that plays


def page_of(answer: Answer, blocks: Iterable[str | Rows], *, plays: bool) -> str:
    """The page as HTML.

    Parameters
    ----------
    blocks : iterable
        The answer and the strategies, as lines and tables.
    plays : bool
        Whether the page plays; else it is a report.

    Raises
    ------
    TooManyStates
    """
    title = html.escape(answer.game.heading)
    described = answer.game.description.split("\n\n")
    rules = "".join(f"<p>{html.escape(part)}</p>" for part in described if part)
    parts = [
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{title}</title>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<style>{(HERE / 'page.css').read_text(encoding='utf-8')}",
        "td:not(.text) { white-space: nowrap; }</style></head><body>",
        f"<header><h1>{title}</h1></header><main>{rules}",
    ]
    if plays:
        data = json.dumps(_data(answer), separators=(",", ":")).replace("<", "\\u003c")
        script = (HERE / "hidden.js").read_text(encoding="utf-8")
        parts += [
            "<section id='table' class='panel' aria-label='The game'></section>",
            f"<script>const DATA={data};\n{script}</script>",
        ]
    parts += [f"<h2>The answer</h2>{html_of(blocks, 'strategies')}</main></body></html>"]
    return "\n".join(parts) + "\n"


def _data(answer: Answer) -> dict[str, Any]:
    """The positions, and the strategies by situation."""
    positions = answer.positions
    n_choices = len(positions.rewards)
    sets: list[dict[str, Any]] = [{}, {}]
    if n_choices > MOST or not isinstance(answer, TreeAnswer | StochasticAnswer):
        raise TooManyStates(f"{positions.title} is too large for a page that plays")
    if isinstance(answer, TreeAnswer):
        if sum(len(seat.parents) for seat in answer.tree.seats) > MOST:
            raise TooManyStates(f"{positions.title} has too many situations for a page that plays")
        for seat, side in enumerate(answer.tree.seats):
            for (last, sight), number in side.numbers.items():
                one = answer.situation(seat, number)
                row = [int(side.first[number]), *_numbers(one)]
                sets[seat][f"{last},{sight}"] = row
    else:
        for one in answer.situations():
            sets[one.seat][str(one.position)] = [0, *_numbers(one)]
    told = positions.told()
    return {
        "hidden": positions.is_hidden,
        "sets": sets,
        "positions": [
            {
                "kind": kind,
                "sight": sight,
                "sees": positions.visible(place),
                "told": told.get(sight, ""),
                "all": positions.text(place),
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
    }


def _numbers(situation: Any) -> list[Any]:
    shares = [round(float(p), 9) for p in situation.probabilities]
    values = [None if math.isnan(v) else round(float(v), 9) for v in situation.values]
    return [shares, values]
