"""`learn`, `simulate` and `tournament` on the command line."""

from __future__ import annotations

import _thread
import json
import threading

import numpy as np
import pytest
from cli_runner import output, refusal, run

from rollwise.learn import Learner

SMALL = ("dice-blackjack", "sides=3", "low=6", "high=7")


def test_learning_to_beat_a_policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("learn", *SMALL, "--games", "4000", "--seed", "1", "--against", "one-die")
    document = json.loads(output(*words, "--save", "mine.csv", "--json"))
    beside = document["against"]
    assert beside["policy"] == "one-die"
    assert 0.5 < beside["gets"] <= beside["best_response"] + 1e-12
    worth = ("--policy", "mine.csv", "--against", "one-die", "--json")
    again = json.loads(output("evaluate", *SMALL, *worth))
    seats = (again["win_probability"], again["win_probability_second"])
    assert sum(seats) / 2 == pytest.approx(beside["gets"], abs=1e-12)
    assert "a best response has" in output(*words)
    assert refusal(*words, "--compare").strip().endswith("which --against isn't")
    assert "must end in .csv or .parquet" in refusal(*words, "--save", "mine.npz")
    alone = ("learn", "threes", "dice=2", "--games", "9", "--against", "random")
    assert "no opponent to learn against" in refusal(*alone)


def test_a_run_that_goes_on_ends_as_an_unbroken_one(tmp_path):
    first, second, whole = (str(tmp_path / f"{name}.npz") for name in ("a", "b", "c"))
    output("learn", *SMALL, "--games", "300", "--seed", "1", "--save", first)
    output("learn", *SMALL, "--games", "800", "--resume", first, "--save", second)
    output("learn", *SMALL, "--games", "800", "--seed", "1", "--save", whole)
    with np.load(second) as one, np.load(whole) as other:
        assert all(np.array_equal(one[name], other[name]) for name in one.files)
    text = output("simulate", *SMALL, "--policy", second, "--against", "optimal", "--games", "100")
    assert "b.npz wins" in text
    refused = refusal("learn", *SMALL, "--games", "800", "--resume", second)
    assert "holds 800 games already" in refused
    refused = refusal("learn", *SMALL, "--games", "900", "--resume", second, "--seed", "2")
    assert "--seed 1, not 2" in refused
    refused = refusal("learn", "dice-blackjack", "--games", "900", "--resume", second)
    assert "was learned on" in refused


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_keeps_what_was_learned(tmp_path, monkeypatch, workers):
    kept = tmp_path / "kept.npz"
    play = Learner.play

    def interrupted(self, games, **options):
        threading.Timer(0.3, _thread.interrupt_main).start()
        play(self, games, **options)

    arguments = ("learn", *SMALL, "--seed", "1", "--workers", workers)
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "play", interrupted)
        done = run(*arguments, "--games", str(10**10), "--save", str(kept))
    assert done.returncode == 130
    with np.load(kept) as archive:
        games = json.loads(archive["facts"].tobytes())["games"]
    assert f"{kept} holds {games:,} games" in done.stderr
    goal, again, whole = str(games + 10_000), str(tmp_path / "b.npz"), str(tmp_path / "c.npz")
    output("learn", *SMALL, "--games", goal, "--resume", str(kept), "--save", again)
    output(*arguments, "--games", goal, "--save", whole)
    with np.load(again) as one, np.load(whole) as other:
        assert all(np.array_equal(one[name], other[name]) for name in one.files)
