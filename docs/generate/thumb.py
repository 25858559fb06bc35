"""The tables of docs/thumb.md and its picture: rules of thumb of several games, found anew."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, NamedTuple

import plotly.graph_objects as go

from rollwise.analysis.losses import loss_text, spread_words
from rollwise.analysis.thumb.frontier import Frontier, RuleOfThumb, certified_rule, find_rules
from rollwise.answer.references import Policies
from rollwise.game import Game
from rollwise.games import create, find
from rollwise.numbers.printed import rounded_up
from rollwise.plot.style import GREY, LINE_COLOURS, WIDE, Picture, Sheet, axis, lettering
from rollwise.thumb.language import Rule

Clauses = Sequence[Mapping[str, str]]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "thumb.md"
PICTURE = ROOT / "docs" / "images" / "thumb.svg"
PLACE = re.compile(r"(?<=<!-- from docs/generate/thumb.py -->\n).*?(?=<!-- end -->)", re.S)
TITLE = "What rules of thumb cost, by their integers"
COLUMNS, PANEL = (2, 1), 180  # panels beside each other, and the height of each
ASIDE, BELOW = 0.2, 0.3  # what is free between them, as shares of a panel's place
SHOWN = 3  # integers of a rule in the tables
LEAST = 1e-4  # percentage points, or hundredths of a point, that the picture tells from none


class Asked(NamedTuple):
    """What is looked for: a game, how many rules are scored, and rules that people know."""

    title: str
    game: Game
    numbers: int
    evaluations: int
    known: Mapping[str, Clauses] = {}
    listed: bool = True  # whether the page has a table, or the picture only


class Found(NamedTuple):
    """The rules found for a game, and the losses of known rules."""

    is_score: bool
    frontier: Frontier
    known_names: Sequence[str]
    known: Sequence[RuleOfThumb]

    @property
    def scale(self) -> int:
        return 1 if self.is_score else 100

    @property
    def unit(self) -> str:
        return "points" if self.is_score else "percentage points"

    @property
    def most(self) -> int:
        """The integers of the last rule."""
        return self.frontier.rules[-1].numbers

    @property
    def decades(self) -> list[float]:
        """From which power of ten to which the losses reach, with some room."""
        losses = [
            max(self.scale * rule.loss, LEAST) for rule in (*self.frontier.rules, *self.known)
        ]
        return [floor(log10(min(losses))) - 0.1, ceil(log10(max(losses))) + 0.1]


def asked() -> list[Asked]:
    """The games of the page."""
    pace = [
        {"if": "max(banked, rival) >= 71", "do": "roll"},
        {"if": "8*turn + banked - rival >= 165", "do": "hold"},
        {"do": "roll"},
    ]
    pig = {"hold at 20": _until("turn >= 20"), "keep pace and end race": pace}
    sticks = create(find("super-six"), {"sticks": "40"})
    until_4 = {"throw until four stand in the lid": _until("lid >= 4", "stop", "throw")}
    return [
        Asked("Pig", create(find("pig"), {}), 5, 2000, pig),
        Asked("Super Six, 40 sticks", sticks, 4, 2000, until_4),
        Asked("Hog", create(find("hog"), {}), 4, 1000, listed=False),
        Asked("Threes", create(find("threes"), {}), 4, 2000),
    ]


def _until(condition: str, then: str = "hold", otherwise: str = "roll") -> Clauses:
    return [{"if": condition, "do": then}, {"do": otherwise}]


def write() -> None:
    """Look for the rules, and write the page and its picture."""
    found = {}
    for one in asked():
        found[one.title] = look(one)
        print(f"rules of thumb: {one.title}", flush=True)
    page = PAGE.read_text(encoding="utf-8")
    listed = {one.title: found[one.title] for one in asked() if one.listed}
    PAGE.write_text(PLACE.sub(lambda _: tables(listed), page), encoding="utf-8")
    _draw(found)


def look(one: Asked) -> Found:
    """The rules of thumb of a game, and the losses of well-known ones."""
    policies = Policies.of(one.game)
    graph = policies.graph
    frontier = find_rules(policies, one.numbers, evaluations=one.evaluations, seed=1)
    known = [
        certified_rule(policies, Rule.read({"rule": clauses}, graph, policies.game))
        for clauses in one.known.values()
    ]
    return Found(graph.is_score, frontier, list(one.known), known)


def tables(found: Mapping[str, Found]) -> str:
    """A table for each game."""
    lines = ["\n"]
    for title, each in found.items():
        rules = [*each.frontier.rules, *each.known]
        worst = rounded_up(each.scale * max(rule.error_bound for rule in rules))
        lines.append(
            f"**{title}**: losses in {each.unit}, certified ± {worst}; "
            f"{each.frontier.scored:,} rules scored.\n\n| integers | loss | rule |\n|---|---|---|\n"
        )
        named = [(rule, rule.text) for rule in each.frontier.rules if rule.numbers <= SHOWN]
        named += [
            (rule, f"*Known: {name}.*")
            for name, rule in zip(each.known_names, each.known, strict=True)
        ]
        for rule, text in named:
            loss = loss_text(rule.loss, rule.spread, each.scale)
            lines.append(f"| {rule.numbers} | {loss} | {text} |\n")
        lines.append("\n")
        said = spread_words(rule.spread for rule, _ in named)
        lines += [f"{text[0].upper()}{text[1:]}.\n\n" for text in said]
    return "".join(lines)


def figure(found: Mapping[str, Found]) -> go.Figure:
    """A panel for each game: loss by the number of integers, on a logarithmic scale."""
    picture = Picture()
    for place, each in enumerate(found.values()):
        colour = LINE_COLOURS[place % len(LINE_COLOURS)]
        picture.add_trace(_line(each, each.frontier.rules, place, colour, mode="lines+markers"))
        if each.known:
            picture.add_trace(_line(each, each.known, place, GREY, mode="markers"))
    sheet = Sheet(
        picture,
        TITLE,
        [
            "Percentage points against optimal play, or points, mean over the seats. Lines: the "
            "best rules that were found. Grey diamonds: rules that people know. Losses below "
            f"{LEAST:g} are drawn there.",
        ],
        heights=tuple(PANEL * -(-len(found) // columns) for columns in COLUMNS),
        x_title="integers to remember",
        title_lines=(1, 1),
        left=58,
        seen=_seen(found),
    )
    return sheet.finish(*(_panels(sheet, found, columns) for columns in COLUMNS))


def _line(
    each: Found, rules: Sequence[RuleOfThumb], place: int, colour: str, mode: str
) -> go.Scatter:
    return go.Scatter(
        x=[rule.numbers for rule in rules],
        y=[max(each.scale * rule.loss, LEAST) for rule in rules],
        mode=mode,
        line={"color": colour, "width": 2},
        marker={"color": colour, "size": 9, "symbol": "circle" if colour != GREY else "diamond"},
        xaxis=f"x{place + 1}",
        yaxis=f"y{place + 1}",
        showlegend=False,
    )


def _panels(sheet: Sheet, found: Mapping[str, Found], columns: int) -> dict[str, Any]:
    """The axes of the panels, from the left and from above, and their titles."""
    rows, most = -(-len(found) // columns), max(each.most for each in found.values())
    width, free = (1 - ASIDE) / columns, BELOW / rows
    height = (1 - free * (rows - 1)) / rows
    layout: dict[str, Any] = {}
    annotations = sheet.axis_titles(0, WIDE)
    for place, (title, each) in enumerate(found.items()):
        row, column = divmod(place, columns)
        left, top = column / columns, 1 - row * (height + free)
        number = str(place + 1) if place else ""  # as Plotly writes it
        across, up = [left, left + width], [max(top - height, 0.0), top]
        layout[f"xaxis{number}"] = axis(
            domain=across, anchor=f"y{number}", range=[-0.3, most + 0.3], dtick=1
        )
        layout[f"yaxis{number}"] = axis(
            domain=up, anchor=f"x{number}", type="log", range=each.decades, dtick=1, tickformat="~g"
        )
        text = f"<b>{title}</b>" + (" (points)" if each.is_score else "")
        annotations.append(lettering(text, left, top, xanchor="left", yanchor="bottom"))
    return {**layout, "annotations": annotations}


def _seen(found: Mapping[str, Found]) -> str:
    """What each panel shows, in words."""
    words = ["A panel for each game: loss (upwards, on a logarithmic scale) by integers (across)."]
    for title, each in found.items():
        ends = " to ".join(
            f"{each.scale * rule.loss:.3g} with {rule.numbers}"
            for rule in (each.frontier.rules[0], each.frontier.rules[-1])
        )
        words.append(f"{title}, in {each.unit}: {ends}.")
    return " ".join(words)


def _draw(found: Mapping[str, Found]) -> None:
    from rollwise.errors import UsageError
    from rollwise.plot.pages import write_figure

    try:
        write_figure(figure(found), PICTURE, TITLE, 900)
        print(PICTURE.relative_to(ROOT))
    except UsageError as error:
        print(f"{PICTURE.relative_to(ROOT)} is left as it was: {error}")


if __name__ == "__main__":
    write()
