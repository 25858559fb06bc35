"""Games that are played by typing, with everything that may be typed; and their reviews."""

from __future__ import annotations

import io
import json
from pathlib import Path
from unittest import mock

import pytest
from cli_runner import Done, output, refusal, run

GAMES = Path(__file__).parent / "play_games.py"
CAPTURE, ODD, PIT = (f"{GAMES}:{name}" for name in ("Capture", "Odd", "Pit"))
PIG = ("pig", "target=20", "--seed", "5")


def play(folder: Path, *arguments: str, typed: str) -> Done:
    """A game for which these lines are typed, until they end."""
    lines = io.StringIO("".join(f"{line}\n" for line in typed.split(" / ")))
    with mock.patch("sys.stdin", lines):
        return run("play", *arguments, cwd=folder)


def moves(path: Path) -> str:
    return " ".join(line for line in path.read_text().splitlines() if line[0] != "@")


# ---- what is typed is what is done


def test_a_game_that_goes_on_for_ever_can_be_stopped(tmp_path):
    """In the pit there is nothing to choose, and no end; values there are infinite."""
    done = play(
        tmp_path,
        PIT,
        "--seed",
        "3",
        "--coach",
        "mistakes",
        "--json",
        typed="stay /  / jump /  /  / q",
    )
    assert "it costs 1.000 points; better: walk" in done.stderr
    assert "it costs inf points; better: walk" in done.stderr
    assert done.stderr.count("Enter goes on> ") == 2
    document = json.loads(done.stdout)
    assert document["result"] is None
    assert len(document["moves"]) == 202
    assert "few are good" in output("review", PIT, "pit.game", cwd=tmp_path)


# ---- the coach


# ---- nothing is lost


@pytest.mark.parametrize("how", [EOFError, KeyboardInterrupt])
def test_a_kept_game_holds_every_move_however_it_ends(tmp_path, how):
    typed = iter(["roll", "roll"])

    def answer(*_):
        for line in typed:
            return line
        raise how

    with mock.patch("builtins.input", answer):
        done = run("play", *PIG, "--save", "a.game", cwd=tmp_path)
    assert done.returncode == (130 if how is KeyboardInterrupt else 0)
    assert "go on with: rollwise play pig --resume a.game" in done.stderr
    assert moves(tmp_path / "a.game") == "you: roll 5, roll 3, roll 6"
    shown = play(tmp_path, "--resume", "a.game", typed="undo")
    assert "14 at risk" in shown.stdout
    assert moves(tmp_path / "a.game") == "you: roll 5, roll 3"


# ---- reviews


@pytest.fixture
def full(tmp_path):
    """A whole game of Pig to 30, with one bad choice."""
    path = tmp_path / "full.game"
    path.write_text(
        "@game pig target=30\n"
        "Ann: roll 2, hold\nBob: roll 6, roll 6, roll 6, roll 6, hold\n"
        "Ann: roll 1\nBob: roll 6\n"
    )
    return path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pig", "target=100"), "full.game, line 1: this game was played with target=30, not"),
        (("super-six",), "full.game, line 1: this is a game of pig, not of super-six"),
        ((CAPTURE,), "full.game, line 1: this is a game of pig, not of capture"),
        (("pig", "goal=3"), "pig has no parameter 'goal'"),
        (("pig", "target=x"), "target must be a whole number"),
        (("pig", "again.game"), "full.game' isn't a parameter; write name=value"),
    ],
)
def test_a_contradiction_is_one_clear_error(full, arguments, said):
    assert said in refusal("review", *arguments, str(full), cwd=full.parent)


def test_what_play_keeps_is_reviewed(tmp_path):
    """Games with parameters, of a file, and contests; whatever had been typed."""
    play(tmp_path, "pig", "target=20", "--seed", "5", typed="r / r")
    assert "target=20" in output("review", "pig.game", cwd=tmp_path)
    mixed = "0.9*optimal+0.1*random"
    play(tmp_path, *PIG, "--against", mixed, "--save", "mixed.game", typed="r / h / r")
    assert mixed in play(tmp_path, "--resume", "mixed.game", typed="hint / h").stdout
    assert f"\n{mixed}: roll" in (tmp_path / "mixed.game").read_text()
    play(tmp_path, CAPTURE, "goal=9", "--seed", "1", typed="1 / 1 / 1")
    document = json.loads(output("review", CAPTURE, "capture.game", "--json", cwd=tmp_path))
    assert document["parameters"] == {"goal": 9}
    assert [player["player"] for player in document["by_player"]] == ["you", "optimal"]
    play(tmp_path, "threes", "dice=2", "as=contest", "ties=first", typed="hint")
    kept = tmp_path / "contest-threes.game"
    document = json.loads(output("review", str(kept), "--json"))
    assert document["game"] == "threes"
    assert document["parameters"]["as"] == "contest"
    assert document["parameters"]["ties"] == "first"
    refused = refusal("review", str(kept), "as=contest", "ties=shared")
    assert "played with ties=first, not ties=shared; leave ties out" in refused
    play(tmp_path, "threes", "dice=2", "as=chase", "target=3", typed="hint")
    shown = play(tmp_path, "--resume", "chase-threes.game", typed="hint")
    assert "chance to win" in shown.stdout
    refused = refusal("review", "chase-threes.game", "as=chase", "target=4", cwd=tmp_path)
    assert "played with target=3, not target=4; leave target out" in refused
    assert "leave as=contest out" in refusal("review", "pig.game", "as=contest", cwd=tmp_path)
    changed = kept.read_text().replace("@rules ", "@rules 0")
    kept.write_text(changed)
    assert "under other rules" in refusal("review", str(kept))
