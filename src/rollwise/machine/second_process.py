"""A second process that works beside this one, for which others may wait."""

from __future__ import annotations

import subprocess
import sys

_process: subprocess.Popen[bytes] | None = None


def begin(module: str) -> None:
    """Run a module in a second process, unless there is one already.

    The first part of its work is done when it says a line (`wait_until_ready`). It goes on even
    when this process has ended. If it fails, nobody waits.
    """
    global _process
    if _process is None:
        nowhere = subprocess.DEVNULL
        command = [sys.executable, "-P", "-m", module]  # nothing of the current folder
        _process = subprocess.Popen(command, stdin=nowhere, stdout=subprocess.PIPE, stderr=nowhere)


def wait_until_ready() -> None:
    """Wait until the second process, if there is one, says a line, or ends.

    Nobody waits a second time: its output is closed after the line, or when the wait was
    interrupted.
    """
    said = _process.stdout if _process is not None else None
    if said is not None and not said.closed:
        with said:
            said.readline()
