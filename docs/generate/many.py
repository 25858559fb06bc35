"""The table of docs/many-seats.md, Pig for two to five, and its picture: two rivals changed."""

from __future__ import annotations

import re
from pathlib import Path

import rollwise
from rollwise.games.pig import Pig
from rollwise.many.equilibrium import Equilibrium
from rollwise.numbers.printed import rounded_up
from rollwise.plot.pages import write_figure

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "many-seats.md"
PICTURE = ROOT / "docs" / "images" / "rivals.svg"
PLACE = re.compile(r"(?<=<!-- from docs/generate/many.py -->\n).*?(?=<!-- end -->)", re.S)
TARGETS = {
    2: (5, 10, 15, 20, 30, 50, 100),
    3: (5, 10, 15, 20, 30, 40),
    4: (5, 10, 15, 20),
    5: (5, 8, 10),
}
SEATS = max(TARGETS)
COLUMNS = (
    "players",
    "points",
    *(f"seat {seat + 1}" for seat in range(SEATS)),
    "error at most",
    "gain at most",
    "states",
    "that mix",
)


def write() -> None:
    """Solve the games, and write the table."""
    rows = []
    for players, targets in TARGETS.items():
        for target in targets:
            rows.append(row(rollwise.equilibrium(Pig(target, players=players))))
            print(rows[-1], end="", flush=True)
    page = PAGE.read_text(encoding="utf-8")
    head = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
    table = "\n" + head + "".join(rows) + "\n"
    PAGE.write_text(PLACE.sub(lambda _: table, page), encoding="utf-8")
    draw()


def draw() -> None:
    """The picture, for three scores of the mover's own."""
    found = rollwise.equilibrium(Pig(60, players=3))
    figure = found.plot("rivals", where="banked == 0 or banked == 4 or banked == 10")
    title = "Where to hold: how much higher than with the two rivals in each other's places"
    write_figure(figure, PICTURE, title)


def row(found: Equilibrium) -> str:
    """The figures of a game."""
    shares = [f"{share:.9f}" for share in found.win_probabilities]
    cells = [
        str(found.players),
        str(found.game.target),  # type: ignore[attr-defined]
        *shares,
        *[""] * (SEATS - len(shares)),
        rounded_up(found.error_bound),
        rounded_up(found.deviation_gain),
        f"{found.graph.n_states:,}",
        f"{len(found.mixing):,}",
    ]
    return f"| {' | '.join(cells)} |\n"
