"""What is shown to people who wait at a terminal: layers, positions, and the time that is left."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from rollwise import Game, solve_by_layers
from rollwise.cli.progress import Pace, done_text, left_text
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.yahtzee import Yahtzee

QUICKLY = (
    "import rollwise.cli.progress as p; p.SILENCE = 0.0; from rollwise.cli import main; main()"
)


def test_the_rest_takes_as_long_as_what_was_seen() -> None:
    pace = Pace()
    pace.note(100, 400, 10.0)
    assert pace.left(10.0) is None  # nothing was seen yet
    pace.note(200, 400, 20.0)
    assert pace.left(20.0) == pytest.approx(20.0)
    assert pace.left(25.0) == pytest.approx(15.0)
    assert pace.left(90.0) == 0.0
    pace.note(300, 400, 20.0)
    assert pace.left(20.0) == pytest.approx(5.0)


def test_nothing_is_said_of_a_total_that_grows() -> None:
    pace = Pace()
    pace.note(10, None, 0.0)
    pace.note(20, None, 1.0)
    assert pace.left(1.0) is None
    pace.note(30, 100, 2.0)
    pace.note(40, 120, 3.0)
    assert pace.left(3.0) is None
    pace.note(50, 120, 4.0)
    assert pace.left(4.0) == pytest.approx(7.0)


def test_words() -> None:
    assert done_text(1234, None) == "1,234"
    assert done_text(0, None) == ""
    assert done_text(0, 1_000_000) == "0 of 1,000,000"
    assert left_text(None) == ""
    assert left_text(3725.2) == "1:02:06 left"


@pytest.mark.needs_jit
@pytest.mark.parametrize("game", [Pig(target=20), RoyalUr(pieces=2), Yahtzee(boxes=2)])
def test_reports_of_layers_go_on_to_the_end(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of layers that are swept, of ordered ones, and of those that come piece by piece."""
    for least in (0, 1 << 40):
        monkeypatch.setattr("rollwise.answer.by_layers.ORDERED", least)
        told: list[tuple[str, int, int | None]] = []
        found = solve_by_layers(game, progress=lambda *report, told=told: told.append(report))
        n_layers, n = len(found.progress), found.n_states
        finding = [report for report in told if report[0].startswith("finding layer")]
        assert finding[0][0] == "finding layer 1, positions"
        assert all(total is None for _, _, total in finding)
        solving = [report for report in told if report[0].startswith("solving layer")]
        numbers = [int(re.findall(r"\d+", stage)[0]) for stage, _, _ in solving]
        done = [done for _, done, _ in solving]
        assert numbers == sorted(numbers)
        assert done == sorted(done)
        assert (numbers[-1], done[-1]) == (n_layers, n)
        assert {re.findall(r"\d+", stage)[1] for stage, _, _ in solving} == {str(n_layers)}
        assert {total for _, _, total in solving} == {n}


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
