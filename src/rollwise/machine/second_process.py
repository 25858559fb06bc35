"""A second process that works beside this one, for which others may wait."""

from __future__ import annotations

import subprocess
import sys

_process: subprocess.Popen[bytes] | None = None  # as long as somebody may wait for it
_ready = True  # whether it has done what everybody waits for


def begin(module: str) -> None:
    """Run a module in a second process, unless there is one already.

    What it does first is done when it says a line (`wait_until_ready`), all of it when it ends
    (`wait_until_done`); it goes on even when this process has ended. If it fails, nobody waits.
    """
    global _process, _ready
    if _process is None:
        nowhere = subprocess.DEVNULL
        command = [sys.executable, "-P", "-m", module]  # nothing of the current folder
        _process = subprocess.Popen(command, stdin=nowhere, stdout=subprocess.PIPE, stderr=nowhere)
        _ready = False


def wait_until_ready() -> None:
    """Wait until the second process, if there is one, says a line, or ends."""
    global _ready
    process = _process
    if process is not None and not _ready:
        assert process.stdout is not None
        with process.stdout as said:
            said.readline()
        _ready = True


def wait_until_done() -> None:
    """Wait until it ends. Two threads may come here."""
    global _process
    process = _process
    if process is not None:
        wait_until_ready()
        process.wait()
        _process = None
