"""Tricks that can be turned off: answers stay the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys

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
