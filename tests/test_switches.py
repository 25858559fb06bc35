"""Tricks that can be turned off: answers stay the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import pytest

from rollwise.errors import UsageError
from rollwise.machine import switches
from rollwise.machine.pipeline import Source, Stage, pipeline

GAME = ["solve", "pig", "target=12", "--mode", "compiled", "--json"]
FAST = ["second-core", "garbage"]  # nothing is compiled anew without them


def solved(off: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rollwise", *GAME],
        capture_output=True,
        text=True,
        env={**os.environ, "ROLLWISE_OFF": off},
    )


def answer(off: str) -> dict[str, object]:
    done = solved(off)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    return {key: document[key] for key in ("value", "error_bound", "states", "outcomes")}


def test_answers_are_the_same_without_tricks():
    assert answer("") == answer(", ".join(FAST))


@pytest.mark.slow
@pytest.mark.needs_jit
def test_answers_are_the_same_where_all_is_compiled_anew_without_any_trick():
    assert answer("") == answer(",".join(switches.TRICKS))


def test_a_trick_that_is_none_is_refused_in_a_line():
    done = solved("second-core,first-uze")
    assert done.returncode == 2
    assert done.stderr.startswith("rollwise: ROLLWISE_OFF: there is no trick 'first-uze'")
    assert len(done.stderr.splitlines()) == 1
    assert all(trick in done.stderr for trick in switches.TRICKS)


def test_what_is_read_from_the_environment(monkeypatch):
    read = switches.turned_off.__wrapped__
    for text, off in (
        ("", set()),
        (" , ", set()),
        ("garbage, first-use,", {"garbage", "first-use"}),
    ):
        monkeypatch.setenv("ROLLWISE_OFF", text)
        assert read() == off
    monkeypatch.setenv("ROLLWISE_OFF", "Garbage")
    with pytest.raises(UsageError, match="no trick 'Garbage'"):
        read()


def test_without_the_second_core_all_is_done_on_the_first(monkeypatch):
    monkeypatch.setattr(switches, "turned_off", lambda: frozenset({"second-core"}))
    done = []
    stages = [Stage(lambda piece: done.append((piece, threading.get_ident())), second=0)]
    pipeline(Source(range(3), first=0), stages)
    assert done == [(piece, threading.get_ident()) for piece in range(3)]
