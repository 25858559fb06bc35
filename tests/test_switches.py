"""Tricks that can be turned off: answers stay the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from rollwise.machine import switches

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


def test_a_trick_that_is_none_is_refused_in_a_line():
    done = solved("second-core,first-uze")
    assert done.returncode == 2
    assert done.stderr.startswith("rollwise: ROLLWISE_OFF: there is no trick 'first-uze'")
    assert len(done.stderr.splitlines()) == 1
    assert all(trick in done.stderr for trick in switches.TRICKS)
