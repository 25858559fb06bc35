"""Games of three or more at the terminal, and their books."""

from __future__ import annotations

import io
import json
import math
from unittest import mock

import numpy as np
import pytest
from cli_runner import run

import rollwise
from rollwise.coach.session import Session
from rollwise.coach.table import Table
from rollwise.games.pig import Pig

PIG = ("pig", "players=3", "target=9")


def play(folder, *arguments, typed):
    lines = io.StringIO("".join(f"{line}\n" for line in typed.split(" / ")))
    with mock.patch("sys.stdin", lines):
        return run("play", *arguments, cwd=folder)


@pytest.fixture(scope="module")
def table():
    game = Pig(6, players=3)
    return Table(rollwise.solve(game), game)


@pytest.mark.parametrize("seed", range(5))
def test_luck_and_skill_add_up_for_every_seat(table, seed):
    session = Session(table, "ABC", ["random", "optimal", "random"], seed=seed)
    while not session.is_over:
        actions = table.actions(session.state)
        session.choose(actions[0] if len(actions) == 1 else session.machine_choice())
        session.roll()
    ledgers = [session.ledger(seat) for seat in range(3)]
    for seat, ledger in enumerate(ledgers):
        start = table.solution.equilibrium.win_probabilities[seat]
        assert ledger.start == pytest.approx(2 * start - 1, abs=1e-15)
        assert abs(ledger.discrepancy) < 1e-12
        assert ledger.skill[0] <= 1e-12  # nobody gains by leaving the equilibrium
    assert sorted(ledger.result for ledger in ledgers) == [-1, -1, 1]
    for entry in session.accounts:  # one win is shared out at every moment
        worth = np.array([entry.seen[seat] for seat in range(3)])
        assert worth.sum(axis=0) == pytest.approx(-1, abs=1e-12)
        assert entry.cost == pytest.approx(-min(entry.skill_of(entry.seat), 0), abs=1e-12)
    assert math.isclose(session.ledger(1).skill[0], 0, abs_tol=1e-12)


def test_several_people_and_policies(tmp_path):
    shown = play(
        tmp_path,
        *PIG,
        *("--seats", "human,random,human", "--seed", "3", "--coach", "always", "--save", "a.game"),
        typed="r / h / r / h / " * 30 + "quit",
    )
    assert shown.returncode == 0, shown.stderr
    assert "player 1> " in shown.stdout
    assert "player 3> " in shown.stdout
    assert "chance to win" in shown.stdout
    text = (tmp_path / "a.game").read_text()
    assert "@players player 1 = human; random = random; player 3 = human" in text
    assert "win" in shown.stdout
    review = run("review", "a.game", "--json", cwd=tmp_path)
    assert review.returncode == 0, review.stderr
    players = json.loads(review.stdout)["by_player"]
    assert [one["player"] for one in players] == ["player 1", "random", "player 3"]
    assert run("review", "a.game", cwd=tmp_path).returncode == 0
