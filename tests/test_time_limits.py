"""Every method and stage looks at its time limit, also while a library does the work."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from cli_runner import run
from little_games import Ladder
from rule_faults import SOUND

from rollwise import build, hidden, solve
from rollwise.builders.rules import Rules, Situation
from rollwise.errors import RulesError
from rollwise.games.kuhn_poker import KuhnPoker
from rollwise.games.pig import Pig
from rollwise.machine import endless
from rollwise.methods import run_method
from rollwise.methods.result import Status

pytestmark = pytest.mark.slow

GAME = ("pig", "target=12")


@pytest.mark.parametrize(
    ("method", "library"),
    [
        ("linear-programming", "rollwise.methods.linear_programming.solve_with_highs"),
        ("policy-iteration", "rollwise.methods.policy_iteration.policy_values"),
        ("mixed-integer", "rollwise.methods.mixed_integer.Model.of_states"),
        ("exact", "rollwise.methods.exact.fraction_size"),
    ],
)
def test_a_library_that_looks_at_no_clock_is_left(method, library, monkeypatch):
    if method == "exact":
        pytest.importorskip("flint")
    asleep = threading.Event()
    monkeypatch.setattr(library, lambda *arguments, **options: asleep.wait(30))
    started = time.monotonic()
    done = run("solve", *GAME, "--method", method, "--set", "time_limit=0.1")
    asleep.set()
    assert time.monotonic() - started < 15
    assert done.returncode == 1
    assert "out of time" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_certificate_that_takes_too_long_is_left(monkeypatch):
    def slow(*answer, progress, begun):
        for part in range(100):
            time.sleep(0.1)
            progress(part, 100)

    monkeypatch.setattr("rollwise.answer.certified.certify_ending", slow)
    started = time.monotonic()
    solution = solve(Pig(target=5), method="value-iteration", options={"time_limit": 0.5})
    assert time.monotonic() - started < 8
    assert solution.status == "not certified"


def test_sound_iteration_looks_at_its_clock_before_it_has_bounds():
    graph = build(Ladder())
    found = run_method(graph, "value-iteration", sound=True, time_limit=0.0)
    assert found.status is Status.OUT_OF_TIME
    assert np.all(np.isinf(found.upper))
    assert found.claimed_error is None


# ---- rules with a loop that yields nothing and never ends are stopped, and the state is named


LOOP = "        while s.place == 2:\n            pass\n"
STUCK = {  # a loop in the place of what each method yields or gives
    "actions": ("        yield 0\n        yield 1\n", f"{LOOP}        yield 0\n"),
    "outcomes": ("        for face", f"{LOOP}        for face"),
    "reward": (
        "    def progress",
        f"    def reward(self, s, a):\n{LOOP}        return 1\n    def progress",
    ),
}

RUN = """
import sys
sys.path.insert(0, {folder!r})
from rollwise.builders import build
from rollwise.machine import endless
from rollwise.errors import RulesError
import stuck
endless.LOOKS, endless.SECONDS_BETWEEN = 3, 0.2
try:
    build(stuck.Own(), mode={mode!r})
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
    (tmp_path / "stuck.py").write_text(SOUND.replace(*STUCK[where]))
    # in a process of its own: what is compiled goes on until the process ends
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(folder=str(tmp_path), mode=mode)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert re.search(
        rf"^own: {where}\(\) fails in the state place=2.*: TakesTooLong: no end after .* "
        r"seconds; does a loop in it never end\? \(stuck.py, line \d+\)$",
        done.stdout,
        re.MULTILINE,
    ), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("where", "game", "ask"),
    [
        ("start", Pig, solve),
        ("roots", Pig, solve),
        ("progress", Pig, lambda game: Rules(game).progress_size),
        ("action_text", Pig, lambda game: Rules(game).name_action(Situation(game.start()), 1)),
        ("deal", KuhnPoker, hidden.solve),
        ("reward", KuhnPoker, hidden.solve),
    ],
)
def test_a_call_outside_the_search_for_states_is_stopped_once(where, game, ask, monkeypatch):
    monkeypatch.setattr(endless, "LOOKS", 3)
    monkeypatch.setattr(endless, "SECONDS_BETWEEN", 0.1)
    calls = []

    def stuck(self, *given):
        calls.append(given)
        while True:
            pass

    own = type("Own", (game,), {where: stuck})()
    with pytest.raises(
        RulesError,
        match=rf": {where}.*: TakesTooLong: no end after .* \(test_time_limits.py, line \d+\)$",
    ):
        ask(own)
    assert len(calls) == 1


def test_what_goes_on_is_left_alone(monkeypatch):
    monkeypatch.setattr(endless, "LOOKS", 2)
    monkeypatch.setattr(endless, "SECONDS_BETWEEN", 0.02)
    with endless.watched():
        for _ in range(200):
            endless.CALLS.begun += 1
            sum(range(50_000))
