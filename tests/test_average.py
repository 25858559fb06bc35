"""The best average of play without an end: all policies of small games, and published answers."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from cli_runner import output, refusal

import rollwise
from rollwise.answer.average import average_of, with_best_rate
from rollwise.answer.verify import verify
from rollwise.derive.average import Average
from rollwise.errors import ParameterError, RulesError
from rollwise.game import AGAIN, Game
from rollwise.games.farkle import Zilch

SHEET = """
from dataclasses import dataclass
import json
from fractions import Fraction
from typing import NamedTuple

from rollwise.game import AGAIN, Game, parameter


class Capital(NamedTuple):
    rest: int  # of the capital, divided by 3


@dataclass(frozen=True)
class Parrondo(Game):
    loss: Fraction = parameter(Fraction(1, 200), at_least=0, at_most=1)
    players = 1
    objective = "average"
    action_names = ("coin A", "coin B")

    def start(self):
        return Capital(0)

    def actions(self, s):
        yield 0
        yield 1

    def chance(self, s, action):
        if action == 0:
            return Fraction(1, 2) - self.loss
        return (Fraction(1, 10) if s.rest == 0 else Fraction(3, 4)) - self.loss

    def outcomes(self, s, action):
        p = self.chance(s, action)
        yield p, AGAIN, Capital((s.rest + 1) % 3)
        yield 1 - p, AGAIN, Capital((s.rest - 1) % 3)

    def reward(self, s, action):
        return 2 * self.chance(s, action) - 1
"""


class Age(NamedTuple):
    age: int


class Machine(Game):
    """A machine wears out; a repair takes three days, a new one a day."""

    players, objective = 1, "average"

    def start(self) -> Age:
        return Age(0)

    def actions(self, s: Age):
        if s.age < 4:
            yield 0
        yield from (1, 2)

    def outcomes(self, s: Age, action: int):
        if action:
            yield 1, AGAIN, Age(0 if action == 2 else s.age // 2)
        else:
            yield 3, AGAIN, Age(s.age + 1)
            yield 1, AGAIN, Age(4)

    def reward(self, s: Age, action: int) -> float:
        return (10 - 3 * s.age, -1, -20)[action]

    def duration(self, s: Age, action: int) -> float:
        return (1, 3, 1)[action]


class Stock(NamedTuple):
    stock: int


class Store(Game):
    """The demand is thrown first; a sale needs stock."""

    players, objective = 1, "average"

    def start(self) -> Stock:
        return Stock(0)

    def throws(self, s: Stock):
        for demand in (0, 1, 2):
            yield 1 + demand, demand

    def actions(self, s: Stock, demand: int):
        yield from range(4 - s.stock)

    def outcomes(self, s: Stock, demand: int, bought: int):
        yield 1, AGAIN, Stock(max(s.stock - demand, 0) + bought)

    def reward(self, s: Stock, demand: int, bought: int) -> float:
        return 5 * min(s.stock, demand) - 2 * bought - (1 if bought else 0) - s.stock / 4


def best_of_all_policies(game: Game) -> Fraction:
    """The largest ratio of reward and duration in the long run, over all policies."""
    states = [game.start()]
    moves: list[list[tuple[Fraction, list]]] = []  # of a state: chance of a throw, its ways
    for s in states:
        thrown = list(game.throws(s)) if type(game).throws is not Game.throws else [(1, None)]
        total = sum(weight for weight, _ in thrown)
        moves.append([])
        for weight, throw in thrown:
            at = (s,) if throw is None else (s, throw)
            ways = []
            for action in game.actions(*at):
                outcomes = list(game.outcomes(*at, action))
                states += [after for _, _, after in outcomes if after not in states]
                ways.append((game.reward(*at, action), game.duration(*at, action), outcomes))
            moves[-1].append((Fraction(weight, total), ways))
    best = Fraction(-(10**9))
    sizes = [len(ways) for throws in moves for _, ways in throws]
    for picks in product(*map(range, sizes)):
        pick = iter(picks)
        n = len(states)
        chances, gains = np.zeros((n, n)), np.zeros((n, 2))
        for i, throws in enumerate(moves):
            for chance, ways in throws:
                reward, duration, outcomes = ways[next(pick)]
                gains[i] += float(chance) * np.array([reward, duration])
                for weight, _, after in outcomes:
                    part = float(chance) * weight / sum(w for w, _, _ in outcomes)
                    chances[i, states.index(after)] += part
        lazy = (chances + np.eye(n)) / 2  # without a period
        share = np.linalg.matrix_power(lazy, 2**20)[0]
        reward, duration = share @ gains
        best = max(best, Fraction(reward / duration))
    return best


class Away(Machine):
    """The start isn't seen again."""

    def outcomes(self, s: Age, action: int):
        for weight, then, after in Machine.outcomes(self, s, action):
            yield weight, then, after if after.age else Age(1)


class Hill(Machine):
    """A 1 of the die leads to the foot; the start isn't seen again."""

    def start(self) -> Age:
        return Age(-1)

    def actions(self, s: Age):
        yield from (0, 1)[: 1 + (s.age >= 0)]

    def outcomes(self, s: Age, action: int):
        if s.age < 0 or action:
            yield 1, AGAIN, Age(max(0, s.age - 1))
        else:
            for face in range(1, 7):
                yield 1, AGAIN, Age(0 if face == 1 else min(8, s.age + face))

    def reward(self, s: Age, action: int) -> float:
        return max(s.age, 0) * action

    def duration(self, s: Age, action: int) -> float:
        return 1


def test_a_home_that_was_asked_for_stays() -> None:
    average, bound = average_of(rollwise.solve(Hill()))
    solution = rollwise.solve(with_best_rate(Average(Hill(), home=3)))
    assert solution.game.home == 3
    assert average_of(solution)[0] == pytest.approx(average, abs=bound + 1e-11)
    with pytest.raises(ParameterError, match="no position 99"):
        with_best_rate(Average(Hill(), home=99))
    with pytest.raises(RulesError, match="doesn't return to the position 9"):
        with_best_rate(Average(Hill(), home=9))


@pytest.mark.parametrize("game", [Machine(), Store(), Away()], ids=["machine", "store", "away"])
def test_no_policy_is_better_and_one_is_as_good(game: Game, tmp_path: Path) -> None:
    solution = rollwise.solve(game)
    average, bound = average_of(solution)
    assert bound < 1e-11
    assert average == pytest.approx(float(best_of_all_policies(game)), abs=1e-11)
    solution.save(tmp_path / "kept.rollwise")
    assert verify(tmp_path / "kept.rollwise", solution.game, exact=True).verified


def test_a_published_average(tmp_path: Path) -> None:
    """Parrondo's game with the loss 0.003: GALLERY, by horizons."""
    (tmp_path / "parrondo.py").write_text(SHEET)
    solved = json.loads(output("solve", "parrondo.py", "loss=0.003", "--json", cwd=tmp_path))
    assert solved["average"] == pytest.approx(0.3184209745, abs=5e-11)
    assert solved["average_bound"] < 1e-13
    assert "average in the long run" in output("solve", "parrondo.py", cwd=tmp_path)
    assert output("table", "parrondo.py", cwd=tmp_path).count("coin B") == 2
    output("report", "parrondo.py", "--out", "report.html", cwd=tmp_path)
    assert "average of best play in the long run" in (tmp_path / "report.html").read_text()
    output("solve", "parrondo.py", "--save", "kept.rollwise", cwd=tmp_path)
    checked = output("verify", "kept.rollwise", "parrondo.py", "--exact", cwd=tmp_path)
    assert "verified" in checked


@pytest.mark.needs_jit
def test_the_average_of_zilch() -> None:
    """M. Busche (2010), Maximizing Expected Scores in the Game of Zilch: 620.855 points a turn."""
    solution = rollwise.solve(Zilch(most=10_000))
    average, bound = average_of(solution)
    assert bound < 1e-9
    assert average == pytest.approx(620.855, abs=5e-4)


def test_the_average_of_a_policy(tmp_path: Path) -> None:
    """Coin A alone loses 1/200 a throw on each side; coin B alone loses, too."""
    (tmp_path / "parrondo.py").write_text(
        SHEET
        + """
    from rollwise.game import policy

    @policy
    def coin_a(self, s):
        return 0

    @policy
    def coin_b(self, s):
        return 1
"""
    )
    for name, average in (
        ("coin-a", -0.01),
        ("coin-b", -0.00869528669),
        ("optimal", 0.3144856613545),
    ):
        told = output("evaluate", "parrondo.py", "--policy", name, "--json", cwd=tmp_path)
        found = json.loads(told)
        assert found["average"] == pytest.approx(average, abs=1e-7)
        assert found["average_bound"] < 1e-12
    assert "in the long run" in output(
        "evaluate", "parrondo.py", "--policy", "coin-a", cwd=tmp_path
    )


def test_a_wrong_rate_has_a_wide_bound() -> None:
    average, bound = average_of(rollwise.solve(Average(Machine(), 9.0)))
    best, _ = average_of(rollwise.solve(Machine()))
    assert average == 9.0
    assert abs(best - average) <= bound


def test_games_without_an_average_are_refused(tmp_path: Path) -> None:
    class Timeless(Machine):
        def duration(self, s: Age, action: int) -> float:
            return 0.0

    with pytest.raises(RulesError, match="may take no time"):
        rollwise.solve(Timeless())
    sheet = tmp_path / "parrondo.py"
    for old, new, message in (
        ("AGAIN, Capital((s.rest + 1) % 3)", "END, s", "play has no end"),
        ('"average"', '"mean"', "'average'"),
        ("players = 1", "players = 2", "solitaire"),
    ):
        sheet.write_text(SHEET.replace(old, new).replace("import AGAIN", "import END, AGAIN"))
        assert message in refusal("solve", "parrondo.py", cwd=tmp_path)
    assert "no end" in refusal("solve", "pig", "as=average")
