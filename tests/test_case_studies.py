"""The case studies run on small parameters, and their key figures are right."""

from __future__ import annotations

import importlib
import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from naive import moves_of_game, value_iteration, worth

from rollwise import dice
from rollwise.games.dice_blackjack import DiceBlackjack
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


def chance(text: str) -> float:
    return float(text.removesuffix(" %")) / 100


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


@pytest.mark.slow
@pytest.mark.needs_jit
def test_dice_blackjack(small):
    page = small("dice_blackjack")
    assert rows_of(page, "dice")["2"][:3] == ["3", "1", "0.555556"]
    assert rows_of(page, "game")["Game 3"][-1] == "the same"

    @cache
    def wins(mine: int, theirs: int) -> Fraction:
        best = Fraction(0)
        for n in (1, 2):
            total = Fraction(0)
            for ways, points in dice.total(n, 6):
                after = mine + points
                total += ways * (1 - wins(theirs, after) if after < 15 else int(after <= 17))
            best = max(best, total / 6**n)
        return best

    assert f"{float(wins(0, 0)):.13f}" in page
    assert DiceBlackjack().low == 15
    assert "1 time in 1,048,576" in page


@pytest.mark.slow
@pytest.mark.needs_jit
def test_pig(small):
    page = small("pig")
    target = 50
    wins = np.zeros((target, target, target + 6))  # by the mover's points, the rival's, at risk
    for _ in range(40):
        for i in range(target):
            wins[i, :, target - i :] = 1
            for k in range(target - i - 1, -1, -1):
                ahead = sum(wins[i, :, k + face] for face in range(2, 7))
                roll = (1 - wins[:, i, 0] + ahead) / 6
                wins[i, :, k] = np.maximum(roll, 1 - wins[:, i + k, 0]) if k else roll
    first = wins[0, 0, 0]
    found = rows_of(page, "who plays")["optimal against itself"]
    assert chance(found[0]) == pytest.approx(first, abs=1e-6)
    assert chance(found[2]) == 0.5
    rules = rows_of(page, "rule")
    assert all(float(loss) <= float(exploited) for loss, exploited in rules.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_page_that_is_kept_is_whole(name):
    page = (STUDIES / f"{name}.md").read_text()
    for target in re.findall(r"\]\((?!https:)([^)#]+)\)", page):
        assert (STUDIES / target).exists(), target
    assert f"({name}.md)" in (STUDIES / "README.md").read_text()
    files = {path.name for path in STUDIES.glob(f"{name.replace('_', '-')}-*")}
    assert files == set(re.findall(r"!\[[^]]+\]\(([^)]+)\)", page))
