"""Ctrl-C ends a command in a line, with exit code 130, also in solvers that look for no signal.

A simulated tournament plays no further pair.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_runner import output

pytestmark = [pytest.mark.slow, pytest.mark.needs_jit]

BUSY = 3.0  # seconds of processor time, after which all of these are in a solver


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """So that Ctrl-C doesn't fall into Numba's compiler."""
    for words in ("solve pig", "compare pig target=5"):
        output(*words.split())


def wait_until_it_is_busy(process: int) -> None:
    tick, spent = os.sysconf("SC_CLK_TCK"), 0.0
    while spent < BUSY:
        time.sleep(0.02)
        numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        spent = (int(numbers[11]) + int(numbers[12])) / tick


@pytest.mark.parametrize(
    "command",
    [
        "solve pig --method linear-programming",
        "compare pig target=60 --methods mixed-integer --json",
        "tournament piglet --policies optimal,random --no-exact --games 1000000000 --json",
    ],
)
def test_a_solver_is_interrupted(command):
    """Each takes a minute or more if it isn't."""
    printed, said, code = interrupted(command)
    assert printed == ""
    assert said.startswith("rollwise: stopped")
    assert len(said.splitlines()) == 1
    assert code == 130


def test_interrupted_simulation_prints_the_games_played_so_far():
    printed, said, code = interrupted("simulate piglet --policy optimal --games 1000000000 --json")
    games = json.loads(printed)
    assert 0 < games["games"] < games["games_asked"] == 1_000_000_000
    assert said == "rollwise: stopped; these are the games played so far\n"
    assert code == 130


def interrupted(command):
    """The output, the errors and the exit code of a command that Ctrl-C ends."""
    started = subprocess.Popen(
        [sys.executable, "-m", "rollwise", *command.split()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    wait_until_it_is_busy(started.pid)
    started.send_signal(signal.SIGINT)
    try:
        printed, said = started.communicate(timeout=20)
    finally:
        started.kill()
    return printed, said, started.returncode
