"""Games that throw first at the table: real dice, undo, records, reviews, the ledger, a series."""

from __future__ import annotations

import io
import json
import re
from math import fsum
from pathlib import Path
from unittest import mock

import pytest
from cli_runner import Done, output, run
from throwing import OrderedDice, Runners, TwoBoxes

from rollwise.coach import Session, Table, read_records, written
from rollwise.coach.replay import replay
from rollwise.errors import UsageError

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
    assert "nobody throws 9 9 in the state open=(1, 1), left=2; the throws are 1 1, 1 2" in shown
    assert "nobody throws 3 in the state" in shown
    assert "'x' isn't what dice show" in shown
    assert "→ you throw 2 and 3" in shown  # in any order
    assert moves(tmp_path / "two-boxes.game") == "you: throw 2 3"


# ---- undo


def test_the_throw_stays_where_a_choice_is_taken_back(tmp_path):
    words = (RACE, "--against", "human", "--seed", "4")
    shown = play(tmp_path, *words, typed="back / undo / front").stdout
    first = re.search("; thrown: ([0-9])", shown).group()  # type: ignore[union-attr]
    again = shown.split("Taken back.")[1].split("> ")[0]
    assert first in again
    assert "throws" not in again
    play(tmp_path, *words, typed="front")
    taken_back, at_once = (tmp_path / name for name in ("runners.game", "runners-2.game"))
    assert moves(taken_back) == moves(at_once)


# ---- written games


@pytest.mark.parametrize("game", [Runners(), TwoBoxes(), OrderedDice()], ids=str)
def test_written_and_read_again(tmp_path, game):
    table = Table.lay(game)
    n = table.graph.players
    for seed in range(6):
        session = Session(table, ["a", "b"][:n], ["random"] * n, seed=seed)
        while not session.is_over:
            session.choose(session.machine_choice())
            session.roll()
        place = tmp_path / f"{seed}.game"
        place.write_text(written(session))
        assert "#" not in moves(place)  # a throw is written as its numbers
        again = replay(read_records(place)[0], table)
        alike = [(e.action, e.outcome, e.faces) for e in session.accounts]
        assert [(e.action, e.outcome, e.faces) for e in again.accounts] == alike
        assert written(again).splitlines()[-1] == written(session).splitlines()[-1]


def test_a_throw_can_be_written_by_its_number_or_in_any_order(tmp_path):
    table = Table.lay(TwoBoxes())
    for text in ("throw 3 2", "throw 2 3", "throw #5"):
        (tmp_path / "a.game").write_text(f"@game two-boxes\nyou: {text}, twice the lower\n")
        session = replay(read_records(tmp_path / "a.game")[0], table)
        assert session.accounts[0].faces == (2, 3)
    for text, fault in (("throw 7 7", "nobody throws 7 7"), ("throw", "what came of 'throw'")):
        (tmp_path / "a.game").write_text(f"@game two-boxes\nyou: {text}\n")
        with pytest.raises(UsageError, match=fault):
            replay(read_records(tmp_path / "a.game")[0], table)


def test_luck_lies_in_the_throw_and_skill_in_the_choice(tmp_path):
    """In these games chance has no part once a player has chosen."""
    play(tmp_path, RACE, "--against", "human", "--seed", "2", "--save", "a.game", typed="1 / " * 60)
    document = json.loads(output("review", RACE, str(tmp_path / "a.game"), "--json"))
    ledger = document["ledgers"][0]
    assert ledger["over"]
    for move in ledger["moves"]:
        thrown = move["action"] == "throw"
        assert thrown == bool(move["dice"])
        assert abs(move["skill" if thrown else "luck"]) < 1e-12
    found = fsum(move["luck"] + move["skill"] for move in ledger["moves"])
    assert ledger["start"] + found == pytest.approx(ledger["result"], abs=1e-9)
