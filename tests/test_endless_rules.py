"""Rules that never end: at a terminal one sees what they are at, and Ctrl-C stops them."""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pexpect
import pytest
from rule_faults import SOUND

from rollwise import build
from rollwise.games import find
from rollwise.machine.interrupts import hear_in_callbacks
from rollwise.machine.switches import jit_disabled

# The loop comes after some states, and yields nothing.
ENDLESS = SOUND.replace(
    "        for face in range(1, 3 + action):\n",
    "        k = 0\n"
    "        while s.place == 2 and k >= 0:\n"
    "            k = (k + 1) % 7\n"
    "        for face in range(1, 3 + action):\n",
)


def stopped(folder: Path, *arguments: str) -> str:
    """What is said when it is stopped, once it has said what it is at."""
    (folder / "own.py").write_text(ENDLESS)
    words = ["-m", "rollwise", arguments[0], f"{folder / 'own.py'}:Own", *arguments[1:]]
    run = pexpect.spawn(
        sys.executable,
        words,
        encoding="utf-8",
        timeout=60,
        dimensions=(24, 200),
        # where the tests run in the background, Ctrl-C is ignored, and that is inherited
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    run.expect("exploring")
    run.sendintr()
    run.expect("rollwise: (stopped.*)\r\n")
    said = str(run.match[1])
    run.expect(pexpect.EOF)
    run.close()
    assert run.exitstatus == 130
    return said


def test_interpreted(tmp_path):
    said = stopped(tmp_path, "solve")
    assert re.fullmatch(
        r"stopped in outcomes\(\) in the state place=2, rival=\d with the action walk "
        r"\(own\.py, line 4\d\)",
        said,
    )


@pytest.mark.needs_jit
def test_compiled(tmp_path):
    (tmp_path / "sound.py").write_text(SOUND)
    build(find(f"{tmp_path / 'sound.py'}:Own")(), mode="compiled")  # so that kernels are there
    said = stopped(tmp_path, "solve", "--mode", "compiled")
    assert said.startswith("stopped in the state place=")


# ---- ctrl-C is heard also where an exception can't be raised


SECONDS = 30  # within which it is heard, on a busy machine too


@pytest.mark.skipif(jit_disabled(), reason="nothing is compiled")
@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need this thread"
)
def test_ctrl_c_in_a_callback_of_compiled_code_is_heard(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    hear_in_callbacks()  # as modules that compile do; other tests may have replaced the hook

    @ctypes.CFUNCTYPE(None)
    def callback() -> None:
        signal.raise_signal(signal.SIGINT)
        time.sleep(0)

    def call() -> None:
        callback()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            time.sleep(0.01)

    # where a shell started the tests in the background, the signal is ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        signal.signal(signal.SIGINT, before)


# ---- what is shown to people who wait at a terminal: layers, positions, and the time that is left


QUICKLY = (
    "import rollwise.cli.progress as p; p.SILENCE = 0.0; from rollwise.cli import main; main()"
)


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.skipif(sys.platform == "win32", reason="no terminals of this kind there")
def test_a_terminal_shows_layers_and_what_is_left() -> None:
    """On stderr, of 80 characters; and with --json stdout has the document alone."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    words = ["solve", "pig", "target=40", "--by-layer", "--no-cache", "--json"]
    run = subprocess.Popen(
        [sys.executable, "-c", QUICKLY, *words],
        stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # the end, on Linux
        pass
    assert run.stdout is not None
    document = json.loads(run.stdout.read())
    run.stdout.close()
    assert run.wait() == 0
    os.close(ours)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    layers, states = document["layers"], document["states"]
    assert re.search(
        rf"solving layer \d+ of {layers}, positions [\d,]+ of {states:,} +[\d:]+ [\d:]+ left", plain
    )
