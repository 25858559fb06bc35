"""Whole games in a pseudo-terminal, and all the ways of stopping one."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path

import pytest
from cli_runner import output

pexpect = pytest.importorskip("pexpect", reason="pseudo-terminals need pexpect")

COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def sit_down(folder: Path, *arguments: str):
    return pexpect.spawn(
        sys.executable,
        ["-m", "rollwise", "play", *arguments],
        cwd=str(folder),
        encoding="utf-8",
        timeout=120,
        dimensions=(50, 120),
        preexec_fn=hear,
    )


def hear():
    """Tests in the background of a shell, or under nohup, ignore signals, and so would children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def play_to_the_end(child, answer: str = "1") -> str:
    """Answer every question alike until the game is over; everything that was shown."""
    shown = ""
    while True:
        found = child.expect([r"> $", pexpect.EOF])
        shown += (child.before or "") + (child.after if found == 0 else "")
        if found == 1:
            child.close()
            return COLOUR.sub("", shown)
        child.sendline(answer)


@pytest.mark.slow
@pytest.mark.parametrize(
    "game",
    [["pig", "target=30"], ["super-six", "sticks=8"], ["threes", "as=contest"], ["dice-blackjack"]],
    ids=lambda game: game[0],
)
def test_a_whole_game_with_the_coach(tmp_path, game):
    child = sit_down(tmp_path, *game, "--coach", "--seed", "12")
    answer = "2" if game[0] in ("pig", "super-six") else "1"
    shown = play_to_the_end(child, answer)
    assert child.exitstatus == 0, shown
    assert "chance to win" in shown
    assert "coach: " in shown
    assert re.search(r"luck [+-]\d+\.\d\d, skill [+-]\d+\.\d\d percentage points", shown)
    assert "Your luck and skill: " in shown
    assert "your dice" in shown
    assert "The game again:" in shown
    assert "Traceback" not in shown
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "code"), [("q", 0), ("eof", 0), ("interrupt", 130), ("hangup", 130)]
)
def test_a_stopped_game_is_kept_and_taken_up_again(tmp_path, how, code):
    child = sit_down(tmp_path, "pig", "target=20", "--seed", "5")
    child.expect("you> ")
    child.sendline("roll")
    child.expect("you> ")
    if how == "q":
        child.sendline("q")
    elif how == "eof":
        child.sendeof()
    elif how == "hangup":
        child.kill(signal.SIGHUP)
    else:
        child.sendintr()
    child.expect("--resume pig.game")
    child.expect(pexpect.EOF)
    assert "Traceback" not in COLOUR.sub("", child.before or "")
    child.close()
    assert child.exitstatus == code
    assert "you: roll 5, roll 3" in (tmp_path / "pig.game").read_text()
    child = sit_down(tmp_path, "pig", "target=20", "--resume", "pig.game")
    child.expect("8 at risk")
    shown = play_to_the_end(child, "hold")
    assert child.exitstatus == 0, shown
    assert "The game again:" in shown
    document = json.loads(output("review", "pig", "pig.game", "target=20", "--json", cwd=tmp_path))
    assert document["ledgers"][0]["over"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "stage"),
    [("plot pig target=9", "drawing"), ("export pig target=9 --to npz", "writing")],
)
def test_slow_pictures_and_exports_tell_what_they_do(tmp_path, line, stage):
    """On a terminal after a second of silence; here at once."""
    shown = pexpect.run(
        f'{sys.executable} -c "import rollwise.cli.progress as p; p.SILENCE = 0.0; '
        f'from rollwise.cli import main; main()" {line} --out {tmp_path}/of-pig.'
        + ("html" if stage == "drawing" else "npz"),
        encoding="utf-8",
        timeout=120,
    )
    assert stage in shown
    assert "wrote " in shown
