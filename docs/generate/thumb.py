"""The tables of docs/thumb.md and its picture: rules of thumb of several games, found anew."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import plotly.graph_objects as go

from rollwise.analysis.thumb.frontier import Frontier, find_rules
from rollwise.answer.references import Policies
from rollwise.derive.contest import Duel
from rollwise.game import Game
from rollwise.games import create, find
from rollwise.numbers.printed import rounded_up
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.style import LINE_COLOURS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "thumb.md"
PICTURE = ROOT / "docs" / "images" / "thumb.svg"
PLACE = re.compile(r"(?<=<!-- from docs/generate/thumb.py -->\n).*?(?=<!-- end -->)", re.S)
LEAST = 1e-4  # percentage points, or hundredths of a point, that the picture tells from none


class Asked(NamedTuple):
    """What is looked for: a game, and how many rules are scored."""

    title: str
    game: Game
    numbers: int
    evaluations: int


def asked() -> list[Asked]:
    """The games of the page."""
    threes, small = create(find("threes"), {}), create(find("threes"), {"dice": "3"})
    return [
        Asked("Pig", create(find("pig"), {}), 5, 2000),
        Asked("Super Six, 40 sticks", create(find("super-six"), {"sticks": "40"}), 4, 2000),
        Asked("Dice blackjack", create(find("dice-blackjack"), {}), 2, 4000),
        Asked("Hog", create(find("hog"), {}), 4, 1000),
        Asked("Threes", threes, 4, 2000),
        Asked("Threes for two, three dice", Duel(small, "shared"), 4, 400),
    ]


def write() -> None:
    """Look for the rules, and write the page and its picture."""
    found = {}
    for title, game, numbers, evaluations in asked():
        policies = Policies.of(game)
        frontier = find_rules(policies, numbers, evaluations=evaluations, seed=1)
        found[title] = (policies.graph.is_score, frontier)
        print(f"rules of thumb: {title}")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(PLACE.sub(lambda _: tables(found), page), encoding="utf-8")
    _draw(found)


def tables(found: Mapping[str, tuple[bool, Frontier]]) -> str:
    """A table for each game."""
    lines = ["\n"]
    for title, (is_score, frontier) in found.items():
        scale, unit = (1, "points") if is_score else (100, "percentage points")
        worst = max(rule.error_bound for rule in frontier.rules)
        lines.append(
            f"**{title}**: losses in {unit}, certified ± {rounded_up(scale * worst)}; "
            f"{frontier.scored:,} rules scored.\n\n| integers | loss | rule |\n|---|---|---|\n"
        )
        for rule in frontier.rules:
            lines.append(f"| {rule.numbers} | {scale * rule.loss:z.4f} | {rule.text} |\n")
        lines.append("\n")
    return "".join(lines)


def figure(found: Mapping[str, tuple[bool, Frontier]]) -> go.Figure:
    """Loss by the number of integers, on a logarithmic scale."""
    lines = [
        Line(
            title + (" (points)" if is_score else ""),
            [rule.numbers for rule in frontier.rules],
            [max((1 if is_score else 100) * rule.loss, LEAST) for rule in frontier.rules],
            LINE_COLOURS[place % len(LINE_COLOURS)],
            dash="solid" if place < len(LINE_COLOURS) else "dash",
        )
        for place, (title, (is_score, frontier)) in enumerate(found.items())
    ]
    return draw_lines(
        lines,
        title="What rules of thumb cost, by their integers",
        notes=[
            "Percentage points of the win probability against optimal play, mean over the seats; "
            "points where the legend says so. The best rules that were found.",
            f"What loses less than {LEAST:g} is drawn there.",
        ],
        x_title="integers to remember",
        y_title="loss",
        log=True,
    )


def _draw(found: Mapping[str, tuple[bool, Frontier]]) -> None:
    from rollwise.errors import UsageError
    from rollwise.plot.pages import write_figure

    try:
        write_figure(figure(found), PICTURE, "What rules of thumb cost, by their integers", 900)
        print(PICTURE.relative_to(ROOT))
    except UsageError as error:
        print(f"{PICTURE.relative_to(ROOT)} is left as it was: {error}")


if __name__ == "__main__":
    write()
