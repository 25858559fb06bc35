"""Games that throw first at the table: real dice, undo, records, reviews, the ledger, a series."""

from __future__ import annotations

import io
from pathlib import Path
from unittest import mock

from cli_runner import Done, run

HERE = Path(__file__).parent
RACE, BOXES = f"{HERE / 'throwing.py'}:Runners", f"{HERE / 'throwing.py'}:TwoBoxes"


def play(folder: Path, *arguments: str, typed: str) -> Done:
    """A game for which these lines are typed, until they end."""
    lines = io.StringIO("".join(f"{line}\n" for line in typed.split(" / ")))
    with mock.patch("sys.stdin", lines):
        return run("play", *arguments, cwd=folder)


def moves(path: Path) -> str:
    return " ".join(line for line in path.read_text().splitlines() if line[0] != "@")


# ---- real dice


def test_what_real_dice_show_is_typed_as_the_throw(tmp_path):
    words = (RACE, "--against", "human", "--dice", "by-hand")
    shown = play(tmp_path, *words, typed="3 / front / 0 / 1 / back").stdout
    assert shown.count("throw: what was thrown> ") == 4
    assert "→ player 1 throws 3" in shown
    assert "→ player 2 throws 0" in shown
    assert moves(tmp_path / "runners.game") == (
        "player 1: throw 3, front player 2: throw 0, wait player 1: throw 1, back"
    )


def test_a_throw_that_nobody_throws_is_refused_with_those_that_are(tmp_path):
    shown = play(tmp_path, BOXES, "--dice", "by-hand", typed="9 9 / 3 / x / 3, 2").stdout
    shown = " ".join(shown.split())
    assert "no throw is 9 9 in the state open=(1, 1), left=2; the throws are 1 1, 1 2" in shown
    assert "no throw is 3 in the state" in shown
    assert "'x' isn't a face of a die" in shown
    assert "→ you throw 2 and 3" in shown  # in any order
    assert moves(tmp_path / "two-boxes.game") == "you: throw 2 3"


# ---- undo


# ---- written games
