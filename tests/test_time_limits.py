"""Every method and stage looks at its time limit, also while a library does the work."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from cli_runner import output, run
from little_games import Ladder

from rollwise import build, solve
from rollwise.games.pig import Pig
from rollwise.machine.interrupts import Clock, OutOfTime
from rollwise.methods import run_method
from rollwise.methods.result import MethodResult, Status

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
    done = run("solve", *GAME, "--method", method, "--time-limit", "0.1")
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


def test_how_far_it_came():
    pytest.importorskip("flint")
    done = run("solve", *GAME, "--method", "exact", "--time-limit", "0")
    assert "out of time with 0 of" in done.stderr
    done = run("solve", *GAME, "--method", "value-iteration", "--time-limit", "0")
    assert "out of time after 1 sweeps" in done.stderr


def test_compare_says_what_each_method_had():
    text = output("compare", *GAME, "--methods", "value-iteration", "--time-limit", "1e-9")
    assert "out of time: each method had 1e-09 s (--time-limit)" in text


def test_a_picture_of_errors_falls_back_on_a_method_with_values(monkeypatch):
    pytest.importorskip("plotly")

    def out_of_time(graph, name, **options):
        if name == "value-iteration":
            return run_method(graph, name, **options)
        return MethodResult(name, np.full(graph.n_states, np.nan), 0, Status.OUT_OF_TIME)

    monkeypatch.setattr("rollwise.plot.kinds.error.run_method", out_of_time)
    drawn = solve(Pig(target=12)).plot("error")
    assert "relative error of value-iteration" in str(drawn.to_dict())
    assert "linear-programming came to no values" in str(drawn.to_dict())


def test_clocks():
    Clock(None).look()
    assert Clock(5).within(lambda x: x + 1, 1) == 2
    with pytest.raises(OutOfTime):
        Clock(0).look()
    with pytest.raises(ZeroDivisionError):
        Clock(5).within(lambda: 1 / 0)
