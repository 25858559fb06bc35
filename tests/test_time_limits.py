"""Every method and stage looks at its time limit, also while a library does the work."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from cli_runner import run
from little_games import Ladder

from rollwise import build, solve
from rollwise.games.pig import Pig
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
