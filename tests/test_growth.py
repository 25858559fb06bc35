"""Fields that grow without end are named early; nothing is said of those that end.

What is looked at is the same whoever runs the rules afterwards: so these run in Python.
"""

from __future__ import annotations

import re
import warnings
from fractions import Fraction

import pytest
from cli_runner import run

from rollwise import solve
from rollwise.games import find

POT = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import AGAIN, END, Game

class Pot(NamedTuple):
    points: int

@dataclass(frozen=True)
class SixLoses(Game):
    most: int = 9
    players = 1
    objective = "maximize"
    def start(self):
        return Pot(0)
    def actions(self, s):
        yield 0
        yield 1
    def reward(self, s, action):
        return s.points if action == 0 else 0
    def outcomes(self, s, action):
        if action == 0:
            yield 1, END, s
        else:
            for face in range(1, 6):
                yield 1, AGAIN, Pot(s.points + face)
            yield 1, END, s
"""
RACE = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import AGAIN, PASS, WIN, LOSE, Game

class Place(NamedTuple):
    mine: int
    rival: int

@dataclass(frozen=True)
class Race(Game):
    def start(self):
        return Place(0, 0)
    def actions(self, s):
        yield 0
    def outcomes(self, s, action):
        for face in range(1, 7):
            yield 1, PASS, Place(s.rival, s.mine + face)
        yield 1, WIN, s
"""
# of two scores that change places, and grow with a pot that is capped
PIG = [
    ("    rival: int\n", "    rival: int\n    pot: int\n"),
    ("Place(0, 0)", "Place(0, 0, 0)"),
    ("        yield 0\n", "        yield 0\n        yield 1\n"),
    (
        "for face in range(1, 7):\n            yield 1, PASS, Place(s.rival, s.mine + face)\n",
        "if action == 1:\n            yield 6, PASS, Place(s.rival, s.mine + s.pot, 0)\n"
        "        for face in range(1, 7 - 6 * action):\n"
        "            yield 1, AGAIN, Place(s.mine, s.rival, min(s.pot + face, 20))\n",
    ),
]
CAPPED = "Pot(min(s.points + face, {most}))"
FEW_STATES = ("--mode", "interpreted", "--max-states", "20000")
GROWS = r"warning: .*the field points grows: it (rises|falls) to -?[\d,]+ in a play of [\d,]+ moves"


def sheet(tmp_path, text, *changes):
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "own.py"
    path.write_text(text)
    return str(path)


def test_a_field_without_an_end_is_named_before_the_search_ends(tmp_path):
    debt = sheet(tmp_path, POT, ("s.points + face", "s.points - face"))
    done = run("solve", debt, *FEW_STATES, "--json")
    assert done.returncode == 2
    assert not done.stdout
    first, *_, last = done.stderr.splitlines()

    assert re.search(GROWS, first)
    assert "more than 20,000 states" in last


@pytest.mark.parametrize("changes", [(), PIG], ids=["table", "turns"])
def test_a_race_without_an_end_is_refused_at_once(tmp_path, changes):
    done = run("solve", sheet(tmp_path, RACE, *changes))
    assert done.returncode == 2
    assert re.fullmatch(
        r"rollwise: race: mine and rival can rise without an end, .*: (the turn passes|no action "
        r"stops) .*from .*\. Let the game end .*\n",
        done.stderr,
    )


@pytest.mark.parametrize("most", ["5_000", "self.most"])
def test_nothing_is_said_of_a_field_that_ends(tmp_path, most):
    """At a number in the rules, or at a parameter however large it is."""
    game = sheet(tmp_path, POT, ("Pot(s.points + face)", CAPPED.format(most=most)))
    kind = find(game)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = solve(kind(most=6_000), mode="interpreted")
    # from 15 points on it's as good to stop, so the value is that of stopping there
    worth = {}
    for points in range(20, -1, -1):
        rolled = sum((worth.get(points + k, Fraction(points + k)) for k in range(1, 6)), 0)
        worth[points] = max(Fraction(points), rolled / 6)
    assert solution.value == pytest.approx(float(worth[0]), abs=1e-11)
