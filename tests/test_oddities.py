"""Rules that can be solved but can't be meant: who says so, and that nobody cries wolf."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runner import output, refusal, run

from rollwise import build
from rollwise.analysis.findings import oddities
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig, Piglet
from rollwise.games.super_six import SuperSix

RACE = """
import random
import time
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np

from rollwise import AGAIN, PASS, WIN, Game

RANDOM = random.Random(5)
CALLS = []

class State(NamedTuple):
    mine: int
    rival: int

def die():
    return random.randint(1, 2)

@dataclass(frozen=True)
class Own(Game):
    length: int = 8

    def start(self):
        return State(1, 2)

    def actions(self, s):
        yield 0
        yield 1

    def luck(self):
        return random.randint(1, 2)

    def outcomes(self, s, action):
        for face in range(1, 3 + action):
            if s.mine + face >= self.length:
                yield 1, WIN, s
            else:
                yield 1, PASS, State(s.rival, s.mine + face)
"""
SWAPPED = "State(s.rival, s.mine + face)"


def own(folder: Path, old: str = "", new: str = "") -> str:
    assert old in RACE
    (folder / "own.py").write_text(RACE.replace(old, new))
    return f"{folder / 'own.py'}:Own"


def warnings_of(game: str) -> list[str]:
    findings = json.loads(output("check", game, "--json"))["findings"]
    return [f["text"] for f in findings if f["level"] == "warning" and f["topic"] == "fields"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("State(s.mine + face, s.rival)", "the field rival is 2 in every state"),
        # captures: the rival's field changes, but a PASS doesn't exchange it
        (
            "State(s.mine + face, 0 if s.mine + face == s.rival else s.rival)",
            "a PASS leaves the field rival where it is",
        ),
    ],
)
def test_a_forgotten_swap_is_told(tmp_path, monkeypatch, written, said):
    monkeypatch.setattr("rollwise.analysis.check.compare_builders", lambda *arguments: None)
    game = own(tmp_path, SWAPPED, written)
    assert [said in text and "exchange the fields" in text for text in warnings_of(game)] == [True]
    done = run("solve", game)
    assert done.returncode == 0
    assert done.stderr.startswith(f"rollwise: check has something to say: {said}")
    assert done.stderr.endswith(f"(rollwise check {game})\n")
    assert said in json.loads(output("solve", game, "--json"))["check"][0]


def test_nothing_is_said_of_sound_rules(tmp_path):
    game = own(tmp_path)
    done = run("solve", game, "--json")
    assert json.loads(done.stdout)["check"] == []
    assert done.stderr == ""
    for sound in (Pig(10), Piglet(), SuperSix(5), Craps()):
        assert oddities(build(sound, mode="interpreted")) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "for face in range(1, 3 + action):",
            "for face in (random.randint(1, 2),):",
            "outcomes() draws with random.randint",
        ),
        ("yield 1\n", "yield die()\n", "actions() draws with random.randint"),
        ("yield 1\n", "yield self.luck()\n", "actions() draws with random.randint"),
        ("yield 1\n", "yield int(np.random.randint(3, 5))\n", "actions() draws with np.random"),
        ("yield 1\n", "yield RANDOM.randint(1, 2)\n", "actions() draws with RANDOM"),
        ("yield 1\n", "yield 1 + int(time.time()) % 2\n", "actions() reads time.time"),
        ("yield 1\n", "yield 1 + datetime.now().day % 2\n", "actions() reads datetime.now"),
        (
            "for face in range(1, 3 + action):",
            "CALLS.append(1)\n        for face in range(1, 2 + min(len(CALLS) // 60, 1)):",
            "the rules don't say the same twice in the state ",
        ),
    ],
)
def test_rules_that_differ_from_time_to_time_are_refused(tmp_path, old, new, said):
    message = refusal("solve", own(tmp_path, old, new))
    assert said in message
    assert "with its weight" in message
