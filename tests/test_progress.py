"""What is shown to people who wait at a terminal: layers, positions, and the time that is left."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

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
