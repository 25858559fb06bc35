"""Modules beside a rule sheet: found by it, read as they are now, and its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_runner import output, refusal, run

SHEET = """
from dataclasses import dataclass
import odds, random
from more import deep
from typing import NamedTuple
from rollwise import LOSE, WIN, Game
{more}
class State(NamedTuple):
    place: int

@dataclass(frozen=True)
class Toss(Game):
    players = 1
    def start(self):
        return State(0)
    def actions(self, s):
        yield 0
    def outcomes(self, s, action):
        import late
        yield late.ONE, WIN, s
        yield odds.LOST + deep.NOTHING, LOSE, s
"""


@pytest.fixture
def sheet(tmp_path):
    return written(tmp_path / "one", 3)


def written(folder: Path, lost: int, more: str = "") -> Path:
    (folder / "more").mkdir(parents=True)
    (folder / "toss.py").write_text(SHEET.format(more=more))
    (folder / "odds.py").write_text(f"from late import ONE\nLOST = {lost} * ONE\n")
    (folder / "late.py").write_text("ONE = 1\n")
    (folder / "random.py").write_text("raise RuntimeError('it has the name of one of Python')\n")
    (folder / "more" / "__init__.py").touch()
    (folder / "more" / "deep.py").write_text("from .zero import NOTHING\n")
    (folder / "more" / "zero.py").write_text("NOTHING = 0\n")
    return folder / "toss.py"


def chance(sheet: Path) -> float:
    return float(json.loads(output("solve", str(sheet), "--json"))["win_probability"])


def test_they_are_found_and_read_anew(sheet):
    assert chance(sheet) == 0.25
    sheet.with_name("odds.py").write_text("LOST = 1 * 1    + 0\n")
    assert chance(sheet) == 0.5
    sheet.with_name("late.py").write_text("ONE = 3\n")
    assert chance(sheet) == 0.75
    assert "odds" not in sys.modules


def test_a_name_of_python_is_not_a_neighbour(sheet):
    done = run("solve", str(sheet))
    assert f"import random means the module of Python, not {sheet.with_name('random.py')}" in (
        done.stderr
    )
    assert "give that file another name" in done.stderr


def test_faults_of_neighbours_are_told(sheet):
    sheet.with_name("odds.py").write_text("LOST = = 3\n")
    assert "odds.py, line 1: invalid syntax" in refusal("solve", str(sheet))
    sheet.with_name("odds.py").write_text("import nothing_of_that_name\n")
    assert "No module named 'nothing_of_that_name'" in refusal("solve", str(sheet))
    sheet.with_name("odds.py").unlink()
    assert "No module named 'odds'" in refusal("solve", str(sheet))
