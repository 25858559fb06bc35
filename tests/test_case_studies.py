"""The case studies run on small parameters, and their key figures are right."""

from __future__ import annotations

import importlib
import re
from fractions import Fraction
from pathlib import Path

import pytest
from naive import moves_of_game, value_iteration, worth

from rollwise.games.super_six import STOP, SuperSix

pytest.importorskip("plotly")

STUDIES = Path(__file__).parent.parent / "docs" / "case-studies"
NAMES = ("super_six_value_iteration", "super_six_family", "dice_blackjack", "pig",
    "super_six_programming", "threes")  # fmt: skip


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Runs a study on small parameters, with figures as pages, and gives its page."""
    monkeypatch.syspath_prepend(str(STUDIES))

    def make(name: str) -> str:
        importlib.import_module(name).main(["--small", "--out", str(tmp_path)])
        page = (tmp_path / f"{name}.md").read_text()
        figures = re.findall(r"\[Figure: [^]]+\]\(([^)]+)\)", page)
        assert len(figures) >= 2
        for figure in figures:
            assert "rollwiseFigure" in (tmp_path / figure).read_text()
        assert not re.search(r"\b(nan|None|FALSE|NOT|NO)\b", page)
        assert "**A step further than the source:" in page.split("\n## ")[0]
        return page

    return make


def rows_of(page: str, head: str) -> dict[str, list[str]]:
    """The first table whose head begins so: its rows by their first cell, the first of each."""
    rows: dict[str, list[str]] = {}
    tables = re.findall(r"(?:^\|.*\n?)+", page, re.MULTILINE)
    table = next(table for table in tables if table.startswith(f"| {head} |"))
    for line in table.splitlines()[2:]:
        first, *rest = [cell.strip() for cell in line.strip("|").split("|")]
        rows.setdefault(first, rest)
    return rows


def nearly(moves):
    """Values to a few digits; the last positions of a game first, which needs few sweeps."""
    return value_iteration(dict(reversed(moves.items())), 60)


@pytest.mark.slow
@pytest.mark.needs_jit
def test_super_six_by_value_iteration(small):
    page = small("super_six_value_iteration")
    assert "That took 64 sweeps" in page
    assert "20 of the source's 20 actions agree, and 40 of its 40 numbers" in " ".join(page.split())
    exact = rows_of(page, "position")["3/1/1"][-1]
    assert Fraction(exact.strip("`")) == Fraction(78307, 127838)
    first = re.search(r"With (\d+) sticks it changes", page)
    assert first is not None
    turn = int(first[1])
    for sticks in (turn - 1, turn):  # with so many the strategy of 7 sticks is right, or no more
        moves = moves_of_game(SuperSix(sticks=sticks))
        values = nearly(moves)
        stops = {
            s
            for s, options in moves.items()
            if s.lid == 3 and max(options, key=lambda m: worth(m, values)).label == STOP
        }
        assert bool(stops) == (sticks == turn)
    assert all(f"{s.lid}/{s.mine}/{s.others[0]}" in page for s in stops)
