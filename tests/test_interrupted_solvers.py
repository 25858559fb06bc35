"""Ctrl-C ends a command in a line, with exit code 130, also in solvers that look for no signal."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.needs_jit]

SECONDS = 5  # after which all of these are in a solver, on a machine that isn't busy


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """So that Ctrl-C doesn't fall into Numba's compiler."""
    for words in ("solve pig", "solve pig target=60", "compare pig target=5"):
        subprocess.run([sys.executable, "-m", "rollwise", *words.split()], stdout=subprocess.PIPE)


@pytest.mark.parametrize(
    "command",
    [
        "solve pig --method linear-programming",
        "solve pig target=60 --method mixed-integer --set solver=scip",
        "compare pig target=60 --methods linear-programming,mixed-integer --json",
    ],
)
def test_a_solver_is_interrupted(command):
    """Each takes a minute or more if it isn't."""
    started = subprocess.Popen(
        [sys.executable, "-m", "rollwise", *command.split()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    time.sleep(SECONDS)
    started.send_signal(signal.SIGINT)
    try:
        printed, said = started.communicate(timeout=20)
    finally:
        started.kill()
    assert printed == ""
    assert said.startswith("rollwise: stopped")
    assert len(said.splitlines()) == 1
    assert started.returncode == 130
