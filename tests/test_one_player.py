"""Games of one player that are won, lost or played for payoffs; games with nothing at stake."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from cli_runner import output, refusal, run
from little_games import Gambler

import rollwise
from rollwise import build
from rollwise.answer.certified import solve_and_certify
from rollwise.derive.contest import Duel
from rollwise.games import find
from rollwise.words import Narrator

SHEET = """
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
from rollwise.game import AGAIN, DRAW, END, LOSE, PASS, WIN, Game, payoff

class Total(NamedTuple):
    total: int

@dataclass(frozen=True)
class Ten(Game):
    players: ClassVar = 1
    objective: ClassVar = "win"
    action_names: ClassVar = ("once", "twice")

    def start(self):
        return Total(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        for face in range(1, 7):
            total = s.total + face * (action + 1)
            if total == 10:
                yield 1, WIN, s
            elif total > 10:
                yield 1, LOSE, s
            else:
                yield 1, AGAIN, Total(total)
"""


def sheet(folder: Path, *changes: tuple[str, str]) -> str:
    text = SHEET
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "ten.py").write_text(text)
    return f"{folder / 'ten.py'}:Ten"


def worth(won: float, lost: float) -> float:
    """By the recursion, as it stands."""

    @cache
    def value(total: int) -> float:
        if total >= 10:
            return won if total == 10 else lost
        return max(sum(value(total + face * k) for face in range(1, 7)) / 6 for k in (1, 2))

    return value(0)


def test_a_game_that_one_player_wins_or_loses(tmp_path):
    game = sheet(tmp_path)
    assert f"wins {100 * worth(1, 0):.4f} % (" in output("solve", game)
    assert "warning" not in output("check", game)
    said = output("distribution", game)
    assert re.search(rf"1 \(won\) +{100 * worth(1, 0):.4f} %", said)
    assert f"wins {100 * worth(1, 0):.4f} % (" in output("solve", game, "as=chase", "target=1")
    assert "needs a target from -1 to 1, not 5" in refusal("solve", game, "as=chase", "target=5")


def test_a_game_that_one_player_plays_for_payoffs(tmp_path):
    game = sheet(tmp_path, ("yield 1, WIN", "yield 1, payoff(5)"), ("1, LOSE", "1, payoff(-2)"))
    assert f"expected payoff from the start (total=0): {worth(5, -2):.12f}"[:-1] in output(
        "solve", game
    )
    rows = {
        row["value"]: row
        for row in json.loads(output("distribution", game, "--exact", "--json"))["policies"][0][
            "rows"
        ]
    }
    assert set(rows) == {-2, 5}
    mean = sum(value * Fraction(row["fraction"]) for value, row in rows.items())
    assert float(mean) == pytest.approx(worth(5, -2), abs=1e-15)
    assert rows[5]["probability"] == pytest.approx(float(Fraction(rows[5]["fraction"])), abs=1e-15)
    assert f"wins {100 * worth(1, 0):.4f} % (" in output("solve", game, "as=chase", "target=5")

    contest = Duel(rollwise.games.find(game)())
    by_rules, _, _ = solve_and_certify(build(contest, mode="interpreted"))
    assert rollwise.solve(contest).value == pytest.approx(by_rules.values[0], abs=1e-12)
    half = sheet(tmp_path, ("yield 1, WIN", "yield 1, payoff(0.5)"))
    assert "brings 0.5 points in the state total=" in refusal("distribution", half)


def test_a_payoff_of_nothing_is_no_draw_of_one_player(tmp_path):
    game = find(
        sheet(tmp_path, ("yield 1, WIN", "yield 1, payoff(5)"), ("1, LOSE", "1, payoff(0)"))
    )()
    graph = rollwise.solve(game).graph
    narrator = Narrator(graph, game)
    last = max(graph.view, key=lambda state: state.fields)
    told = {narrator.sentence("Ann", action.index, 0) for action in last.actions}
    assert told == {"Ann plays once: Ann wins 5", "Ann plays twice: nothing gained"}


@pytest.mark.parametrize(
    ("objective", "then", "said"),
    [
        ("win", "PASS", "(allowed: AGAIN, WIN, LOSE, DRAW, payoff(x))"),
        ("win", "END", 'payoff(x); a game for points has objective = "maximize" or "minimize")'),
        ("win", "77", "unknown `then` 77 (allowed: AGAIN, WIN, LOSE, DRAW, payoff(x))"),
        ("maximize", "PASS", "(allowed: AGAIN, END)"),
        (
            "maximize",
            "WIN",
            '(allowed: AGAIN, END; a game that is won or lost has objective = "win")',
        ),
        ("minimize", "payoff(2)", "(allowed: AGAIN, END; reward(s, action) gives points)"),
    ],
)
def test_what_may_follow_an_outcome_is_listed(tmp_path, objective, then, said):
    changes = [('"win"', f'"{objective}"'), ("yield 1, WIN", f"yield 1, {then}")]
    if objective != "win":
        changes.append(("yield 1, LOSE", "yield 1, END"))
    game = sheet(tmp_path, *changes)
    message = refusal("solve", game)
    assert said in message
    assert "ten.py, line " in message


def test_rules_with_nothing_at_stake(tmp_path, monkeypatch):
    monkeypatch.setattr("rollwise.analysis.check.compare_builders", lambda *arguments: None)
    ends = ("yield 1, WIN", "yield 1, END"), ("yield 1, LOSE", "yield 1, END")
    game = sheet(tmp_path, ('"win"', '"maximize"'), *ends)
    said = "no action brings a point, and every play is worth 0: give the points with reward("
    assert f"warning  stakes: {said}" in output("check", game)
    assert said in run("solve", game).stderr
    game = sheet(tmp_path, ("yield 1, WIN", "yield 1, LOSE"))
    assert "stakes: every play that ends is lost" in output("check", game)
    game = sheet(tmp_path, ("yield 1, WIN", "yield 1, DRAW"), ("1, LOSE", "1, DRAW"))
    assert "stakes: every play that ends is drawn" in output("check", game)
    for name in ("craps", "super-six sticks=4", "threes dice=1"):
        assert "stakes" not in run("check", *name.split()).stdout


def test_one_player_has_no_second_seat_to_be_named():
    for options in ((), ("--set", "max_sweeps=3")):
        told = output("evaluate", "frozen-lake", "--policy", "random", *options)
        assert "%" in told
        assert "moving" not in told


DRAWN = """
from typing import NamedTuple
from rollwise.game import AGAIN, DRAW, LOSE, PASS, Game

class Spot(NamedTuple):
    x: int

class Drawn(Game):
    end = DRAW

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if s.x == 0:
            yield 1, PASS, Spot(1)
        else:
            yield 1, self.end, s
"""


def test_the_balance_of_games_that_end_alike(tmp_path):
    """Without a winner, or with one and the same: nothing is decided, and no result is skill."""
    (tmp_path / "drawn.py").write_text(DRAWN)
    page = tmp_path / "page.html"
    told = output("balance", f"{tmp_path / 'drawn.py'}:Drawn", "--evaluations", "5")
    assert "never: each game is drawn" in told
    assert "no share: no variance" in told
    assert "nan" not in told
    assert "± 1.0e+02" not in told
    (tmp_path / "lost.py").write_text(DRAWN.replace("end = DRAW", "end = LOSE"))
    place = f"{tmp_path / 'lost.py'}:Drawn"
    told = output("balance", place, "--evaluations", "0", "--out", str(page))
    assert "in turn 0.00 on average" in told
    assert "no share: no variance" in told
    assert "± 1.0e+02" not in told
    output("balance", f"{tmp_path / 'drawn.py'}:Drawn", "--evaluations", "0", "--out", str(page))


def test_the_balance_counts_positions_after_throws():
    first = output("balance", "yahtzee", "boxes=1", "--evaluations", "0").splitlines()[0]
    assert first == "yahtzee joker=forced boxes=1: 1 position and 1,176 after a throw"


def test_the_balance_explains_the_features_of_its_rules():
    text = output("balance", "threes", "dice=3", "--evaluations", "100")
    assert "number: that of the action, such as 4 for take 3" in text


def test_the_only_player_isnt_called_the_first():
    assert "the player wins 50" in repr(rollwise.solve(Gambler()))
