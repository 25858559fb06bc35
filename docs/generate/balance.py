"""The table of docs/design.md: what eight games do to their players."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from rollwise.analysis.balance import Balance, balance
from rollwise.analysis.second_aims import length_ranges
from rollwise.derive.contest import Duel
from rollwise.game import Game
from rollwise.games import create, find

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "design.md"
PLACE = re.compile(r"(?<=<!-- from docs/generate/balance.py -->\n).*?(?=<!-- end -->)", re.S)
COLUMNS = (
    "game",
    "first player",
    "luck",
    "turns",
    "lead changes",
    "decided in turn",
    "comebacks",
    "decisions",
    "that matter",
    "skill",
    "best rule of 2 integers loses",
)


class Asked(NamedTuple):
    """A game of the table."""

    title: str
    game: Game


def asked() -> list[Asked]:
    """The games of the table."""
    kinds = {
        "Pig": ("pig", {}),
        "Hog": ("hog", {}),
        "Super Six, 40 sticks": ("super-six", {"sticks": "40"}),
        "Dice blackjack": ("dice-blackjack", {}),
        "Royal Ur, 2 pieces": ("royal-ur", {"pieces": "2"}),
        "Threes": ("threes", {}),
        "Shut the box": ("shut-the-box", {}),
    }
    games = [Asked(title, create(find(name), values)) for title, (name, values) in kinds.items()]
    return [
        *games,
        Asked("Threes for two, three dice", Duel(create(find("threes"), {"dice": "3"}))),
    ]


def write() -> None:
    """Work out the figures, and write the table."""
    rows = []
    for title, game in asked():
        rows.append(row(title, balance(game)))
        print(f"balance: {title}")
    page = PAGE.read_text(encoding="utf-8")
    head = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
    table = "\n" + head + "".join(rows) + "\n"
    PAGE.write_text(PLACE.sub(lambda _: table, page), encoding="utf-8")


def row(title: str, found: Balance) -> str:
    """The figures of a game."""
    graph, drama, chosen = found.solution.graph, found.drama, found.decisions
    chance = graph.view.win_probability(found.value.value)
    cells = [
        title,
        f"{found.value.value:.3f} points" if chance is None else f"{100 * chance:.3f} %",
        f"{found.luck.value:.3f}",
        _turns(found) if graph.players == 2 else "",
    ]
    if drama is None:
        cells += ["", "", ""]
    else:
        cells += [f"{drama.lead_changes.value:.2f}", f"{drama.decided.mean:.2f}"]
        cells.append(f"{100 * drama.comebacks.value:.2f} %")
    cells += [f"{chosen.in_a_game.value:.2f}", f"{chosen.matter_in_a_game.value:.2f}"]
    cells.append("" if found.skill is None else f"{100 * found.skill.share.value:.2f} %")
    scale, unit = (1, "points") if graph.is_score else (100, "percentage points")
    loss = ""
    if found.rules is not None:
        rule = found.rules.rules[-1]
        assert rule.spread is None, "the range belongs into the table"
        loss = f"{scale * rule.loss:z.3f} {unit}"
    return "| " + " | ".join([*cells, loss]) + " |\n"


def _turns(found: Balance) -> str:
    """The mean number of turns, or its range over all optimal policies."""
    ranges = length_ranges(found.solution, ["turns"])
    ends = [found.turns.value] if ranges is None else [ranges[0].least, ranges[0].most]
    return " to ".join(dict.fromkeys(f"{end:.2f}" for end in ends))


if __name__ == "__main__":
    write()
