"""Games one after the other: the tally, the file that keeps them, and scores that people made."""

from __future__ import annotations

import math
import re
from statistics import mean, stdev

import pytest
from cli_runner import play, refusal
from small_games import played

from rollwise.coach import Table
from rollwise.coach.tally import tally
from rollwise.games.pig import Pig

pytestmark = pytest.mark.slow

PIGS = ("pig", "target=12", "--seed", "5", "--games", "3")


# ---- the tally


def test_a_tally_is_what_counting_gives():
    """Wins, losses and costs, counted from the moves alone."""
    table = Table.lay(Pig(target=12))
    sessions = [played(table, seed) for seed in range(12)]
    found = tally(sessions, "Bob")
    last = [(session.accounts[-1].seat, session.accounts[-1]) for session in sessions]
    assert found.win_rate is not None
    assert found.win_rate.wins == sum(seat == 1 for seat, _ in last)  # in Pig the last one wins
    assert found.win_rate.draws == 0
    costs = [
        sum(
            max(table.solution.action_values[a] for a in table.actions(entry.state))
            - table.solution.action_values[entry.action]
            for entry in session.accounts
            if entry.seat == 1
        )
        for session in sessions
    ]
    assert found.loss.mean == pytest.approx(mean(costs), abs=1e-12)
    assert found.loss.standard_error == pytest.approx(stdev(costs) / math.sqrt(12), abs=1e-12)
    assert found.start == pytest.approx(-table.solution.value, abs=1e-12)
    assert found.score is None
    others = tally(sessions, "Ann")
    assert others.win_rate is not None
    assert others.win_rate.mean + found.win_rate.mean == pytest.approx(1)
    # luck and skill of both make the result
    total = found.start + found.luck - found.loss.mean + others.loss.mean
    assert 2 * found.win_rate.mean - 1 == pytest.approx(total, abs=1e-9)


# ---- the command


def test_a_series_is_played_and_added_up(tmp_path):
    done = play(tmp_path, *PIGS, "--against", "hold-at-20", typed=" / ".join(["hold"] * 40))
    shown = done.stdout
    assert [f"Game {n} of 3, seed {4 + n}" in shown for n in (1, 2, 3)] == [True] * 3
    assert shown.count("Type a choice") == 1
    assert "Game 2 of 3, seed 6; so far you won " in shown
    head = re.search(r"3 games: you won (\d), drew (\d), lost (\d)", shown)
    assert sum(map(int, head.groups())) == 3
    assert re.search(r"lost by choice a game \(percentage points\) +\d+\.\d\d ± \d+\.\d\d", shown)
    assert not list(tmp_path.iterdir())
    assert done.returncode == 0


def test_a_series_is_taken_up_where_it_stopped(tmp_path):
    whole = play(tmp_path, *PIGS, "--save", "w.game", typed=" / ".join(["roll"] * 60))
    moves = whole.stdout.count("you> ")
    for stop in (1, moves // 2, moves - 1):
        name = f"{stop}.game"
        part = play(tmp_path, *PIGS, "--save", name, typed=" / ".join(["roll"] * stop))
        go_on = re.search(r"the games are kept, go on with: rollwise (.*)", part.stderr)[1]
        assert go_on == f"play pig target=12 --resume {name} --games 3".replace(" target=12", "")
        rest = play(tmp_path, *go_on.split()[1:], typed=" / ".join(["roll"] * (moves - stop)))
        assert rest.stdout.split("3 games: ")[1] == whole.stdout.split("3 games: ")[1]
        assert (tmp_path / name).read_text() == (tmp_path / "w.game").read_text()
    over = refusal("play", "--resume", "w.game", "--games", "3", cwd=tmp_path)
    assert "the last of 3 games in w.game is over; `rollwise review`" in over
    assert "holds 3 games" in refusal("play", "--resume", "w.game", cwd=tmp_path)
    assert "--games N goes on" in refusal("play", "--resume", "w.game", cwd=tmp_path)
    more = play(tmp_path, "--resume", "w.game", "--games", "4", typed="q").stdout
    assert "Game 4 of 4, seed 8; so far you won " in more
