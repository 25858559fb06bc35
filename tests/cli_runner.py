"""The command line, run in this process: starting Python for every test would take minutes."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from rollwise.cli import main


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str, cwd: Path | None = None) -> Done:
    """Run ``rollwise`` with these arguments: exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with (
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["rollwise", *arguments]),
        warnings.catch_warnings(),
    ):
        try:
            main()
        except SystemExit as ending:
            code = ending.code
    return Done(int(code or 0), out.getvalue(), err.getvalue())


def play(folder: Path, *arguments: str, typed: str) -> Done:
    """A game at the terminal for which these lines are typed, until they end."""
    lines = io.StringIO("".join(f"{line}\n" for line in typed.split(" / ")))
    with mock.patch("sys.stdin", lines):
        return run("play", *arguments, cwd=folder)


def output(*arguments: str, cwd: Path | None = None) -> str:
    done = run(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refusal(*arguments: str, cwd: Path | None = None, code: int = 2) -> str:
    """The one line with which wrong use is refused."""
    done = run(*arguments, cwd=cwd)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("rollwise: warning")]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("rollwise: ")
    return lines[0]


def python(code: str, **environment: str) -> str:
    """What code prints in a Python of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by(arguments: list[str], modules: list[str]) -> list[str]:
    """Which of the modules a command imports."""
    code = f"""
import contextlib, io, json, sys
from rollwise.cli import main
sys.argv = ["rollwise", *{arguments}]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
print(json.dumps([name for name in {modules} if name in sys.modules]))
"""
    found: list[str] = json.loads(python(code))
    return found
