"""Rules with a loop that yields nothing and never ends are stopped, and the state is named."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from rollwise.builders import expand

pytestmark = pytest.mark.slow

GAME = """
from typing import NamedTuple
from dataclasses import dataclass
from rollwise import AGAIN, END, Game
class Spot(NamedTuple):
    place: int
@dataclass(frozen=True)
class Stuck(Game):
    where: str = ""
    def start(self):
        return Spot(0)
    def actions(self, s):
        yield 0
        while s.place == 40 and WHERE == "actions":
            pass
    def outcomes(self, s, action):
        while s.place == 40 and WHERE == "outcomes":
            pass
        if s.place < 100:
            yield 1, AGAIN, Spot(s.place + 1)
        else:
            yield 1, END, s
    def reward(self, s, action):
        while s.place == 40 and WHERE == "reward":
            pass
        return 1.0
    players = 1
    objective = "maximize"
"""

RUN = """
import sys
sys.path.insert(0, {folder!r})
from rollwise.builders import build, expand
from rollwise.errors import RulesError
import stuck
expand.LOOKS, expand.SECONDS_BETWEEN = 3, 0.2
from rollwise.builders.compiled import explorer
explorer.LOOKS, explorer.SECONDS_BETWEEN = 3, 0.2
try:
    build(stuck.Stuck(), mode={mode!r})
except RulesError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("where", "mode"),
    [
        ("actions", "interpreted"),
        ("reward", "interpreted"),
        pytest.param("outcomes", "compiled", marks=pytest.mark.needs_jit),
    ],
)
def test_a_loop_that_yields_nothing_is_stopped(where, mode, tmp_path):
    source = GAME.replace("WHERE", repr(where)).replace('    where: str = ""\n', "")
    (tmp_path / "stuck.py").write_text(source)
    # in a process of its own: what is compiled goes on until the process ends
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(folder=str(tmp_path), mode=mode)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert re.search(
        rf"^stuck: {where}\(\) fails in the state place=40.*: TakesTooLong: no end after .* "
        r"seconds; does a loop in it never end\? \(stuck.py, line \d+\)$",
        done.stdout,
        re.MULTILINE,
    ), done.stdout + done.stderr


def test_what_goes_on_is_left_alone(monkeypatch):
    monkeypatch.setattr(expand, "LOOKS", 2)
    monkeypatch.setattr(expand, "SECONDS_BETWEEN", 0.02)
    with expand.watched():
        for _ in range(200):
            expand.CALLS.begun += 1
            sum(range(50_000))
