"""Whole games in a pseudo-terminal, and all the ways of stopping one."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runner import output, refusal

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
        # tests that run in the background of a shell are deaf to Ctrl-C, and so their children
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


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
    [
        ["pig", "target=30"],
        ["super-six", "sticks=8"],
        ["threes", "--contest"],
        ["dice-blackjack"],
    ],
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
    assert "The game again:" in shown
    assert "Traceback" not in shown
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_nonsense_help_and_illegal_moves_are_answered(tmp_path):
    child = sit_down(tmp_path, "pig", "target=20", "--seed", "5")
    child.expect("you> ")
    for typed, said in (("fly", "can't be done here"), ("?", "lose"), ("9", "can't be done here")):
        child.sendline(typed)
        child.expect(said)
        child.expect("you> ")
    child.sendline("ho")
    child.expect("hold")
    child.close()


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
def test_dice_by_hand(tmp_path):
    child = sit_down(tmp_path, "pig", "target=20", "--dice", "by-hand", "--against", "human")
    for typed, said in (("7", "faces 1 to 6"), ("six", "type numbers"), ("3 3", "throws 1 die")):
        child.expect("the die shows> ")
        child.sendline(typed)
        child.expect(said)
    child.expect("the die shows> ")
    child.sendline("6")
    child.expect("6 at risk")
    child.expect("player 1> ")
    child.sendline("roll")
    child.expect("the die shows> ")
    child.sendline("1")
    child.expect("player 2")
    child.close()


def test_bad_input_is_one_line(tmp_path):
    assert "must be here or by-hand" in refusal("play", "pig", "--dice", "loaded")
    assert "must be first or second" in refusal("play", "pig", "--seat", "third")
    assert "has no policy" in refusal("play", "pig", "target=10", "--against", "nobody")
    assert "is a game for one" in refusal("play", "craps", "--against", "optimal")
    assert "can't be read" in refusal("play", "pig", "--resume", str(tmp_path / "none"))
    kept = tmp_path / "kept.game"
    kept.write_text("@format 2\n@game pig\n")
    assert "another version" in refusal("play", "pig", "--resume", str(kept))
    kept.write_text("@format 1\n@rules 00\n@seed 1\n@players a = human; b = optimal\na: roll 4\n")
    assert "other rules" in refusal("play", "pig", "target=10", "--resume", str(kept))
    kept.write_text("a: roll 4\n")
    assert "has no line @format" in refusal("play", "pig", "--resume", str(kept))
    kept.write_bytes(b"\xff\xfe\x00")
    assert "isn't text" in refusal("play", "pig", "--resume", str(kept))
    kept.write_text("A: roll 4, hold\nB: roll 7\n")
    message = refusal("review", "pig", str(kept), "target=10")
    assert "line 2: a die shows 7" in message


def test_review_and_export_print_json(tmp_path):
    game = tmp_path / "one.game"
    game.write_text("A: roll 4, hold\nB: roll 6, roll 6\n\nB: roll 2, roll 1\nA: roll 6, roll 6\n")
    document = json.loads(output("review", "pig", str(game), "target=10", "--json"))
    players = {player["player"]: player for player in document["players"]}
    assert players["A"]["games"] == 2
    assert document["games"] == 2
    for ledger in document["ledgers"]:
        total = ledger["luck"] + ledger["skill"]
        assert total == pytest.approx(ledger["result"] - ledger["start"], abs=1e-9)
    text = output("review", "pig", str(game), "target=10")
    assert "±" in text
    assert output("export", "piglet", "target=3", "--to", "prism").startswith("// piglet target=3")
    out = tmp_path / "pig.npz"
    told = json.loads(
        output("export", "piglet", "target=3", "--to", "npz", "--out", str(out), "--json")
    )
    assert told["file"] == str(out)
    assert out.stat().st_size > 0
    assert "needs --out" in refusal("export", "pig", "--to", "npz")
    assert "no format" in refusal("export", "pig", "--to", "xml")
    assert "two players who choose" in refusal("export", "piglet", "target=3", "--to", "drn")


@pytest.mark.slow
def test_input_that_ends_at_once_keeps_the_game(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "rollwise", "play", "threes", "dice=2", "--json", "--seed", "1"],
        cwd=tmp_path,
        input="",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["over"] is False
    assert "Traceback" not in done.stderr
    assert (tmp_path / "threes.game").exists()
