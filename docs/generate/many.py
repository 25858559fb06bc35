"""The table of docs/many-seats.md, Pig for three to five, and its picture: two rivals exchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
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
TARGETS = {3: (20, 60), 4: (20,), 5: (12,)}
# Too large to be solved for a page: `make test-large` writes down what it finds of them.
MEASURED = ROOT / "benchmarks" / "large.json"
LARGE = {(3, 100): "pig-three"}
SEATS = max(TARGETS)
UNKNOWN = "not recorded"
COLUMNS = (
    "players",
    "points",
    *(f"seat {seat + 1}" for seat in range(SEATS)),
    "gain at most",
    "states",
)


def write() -> None:
    """Solve the games, and write the table."""
    rows = []
    for players, targets in TARGETS.items():
        for target in targets:
            rows.append(row(rollwise.equilibrium(Pig(target, players=players))))
            print(rows[-1], end="", flush=True)
        rows += [measured_row(*place) for place in LARGE if place[0] == players]
    page = PAGE.read_text(encoding="utf-8")
    head = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
    table = "\n" + head + "".join(rows) + "\n"
    PAGE.write_text(PLACE.sub(lambda _: table, page), encoding="utf-8")
    draw()


def draw() -> None:
    """The picture, for three scores of the mover's own."""
    found = rollwise.solve(Pig(60, players=3))
    figure = found.plot("rivals", where="banked == 0 or banked == 4 or banked == 10")
    title = "Where to hold: how much higher than with the two rivals exchanged"
    write_figure(figure, PICTURE, title)


def row(found: Equilibrium) -> str:
    """The figures of a game."""
    return _row(
        found.players,
        found.game.target,  # type: ignore[attr-defined]
        found.win_probabilities,
        found.deviation_gain,
        found.graph.n_states,
    )


def measured_row(players: int, target: int) -> str:
    """The figures of a game that was solved by `make test-large`."""
    found = json.loads(MEASURED.read_text(encoding="utf-8"))[LARGE[players, target]]
    return _row(
        players,
        target,
        found.get("win_probabilities", [found["value"], *found.get("others_as_printed", ())]),
        found.get("deviation_gain", found["certified"]),
        found["states"],
    )


def _row(
    players: int,
    target: int,
    worth: Sequence[float | str],
    gain: float,
    states: int,
) -> str:
    shares = [share if isinstance(share, str) else f"{share:.9f}" for share in worth]
    cells = [
        str(players),
        str(target),
        *shares,
        *[UNKNOWN] * (players - len(shares)),
        *[""] * (SEATS - players),
        rounded_up(gain),
        f"{states:,}",
    ]
    return f"| {' | '.join(cells)} |\n"
