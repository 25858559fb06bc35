"""A discount: value iteration on the rules as written gives the same values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from cli_runner import output, refusal

import rollwise
from rollwise.errors import ParameterError
from rollwise.game import DRAW, PASS, WIN, Game, is_over, parameter
from rollwise.games.frozen_lake import FrozenLake
from rollwise.proofs.check_rules import Claims, check_rules

SHEET = """
from typing import NamedTuple
from rollwise.game import AGAIN, Game

class Age(NamedTuple):
    age: int

class Machine(Game):
    players, objective = 1, "maximize"
    discount = 0.9
    action_names = ("keep", "replace")

    def start(self):
        return Age(0)

    def actions(self, s):
        if s.age < 5:
            yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 1:
            yield 1, AGAIN, Age(0)
        else:
            yield 3, AGAIN, Age(s.age + 1)
            yield 1, AGAIN, Age(5)

    def reward(self, s, action):
        return 10 - 2 * s.age if action == 0 else -5
"""


class Piles(NamedTuple):
    mine: int
    theirs: int


@dataclass(frozen=True)
class Race(Game):
    """Two players; the first with 6 points wins. One die brings 0 to 2, or a sure point."""

    discount: Fraction = parameter(Fraction(4, 5), at_least=0, at_most=1)  # type: ignore[misc]

    def start(self) -> Piles:
        return Piles(0, 0)

    def actions(self, s: Piles):
        yield from (0, 1)

    def outcomes(self, s: Piles, action: int):
        for gain in range(1, 2) if action else range(3):
            mine = s.mine + gain
            if mine >= 6:
                yield 1, WIN, s
            else:
                yield 1, PASS, Piles(s.theirs, mine)


def by_value_iteration(game: Game, sweeps: int = 400) -> float:
    """The value of the start, with each value of a next state multiplied by the discount."""
    rate = float(game.discount)
    lost = -1.0 if game.objective == "win" and game.players == 1 else 0.0
    values: dict = {game.start(): 0.0}

    def worth(s, action) -> float:
        outcomes = list(game.undiscounted(s, action))
        total = 0.0
        for weight, then, after in outcomes:
            if is_over(then):
                total += weight * (1.0 if then == WIN else lost)
            else:
                value = values.setdefault(after, 0.0) * (-1 if then == PASS else 1)
                total += weight * (rate * value + (1 - rate) * lost)
        return game.reward(s, action) + total / sum(weight for weight, _, _ in outcomes)

    for _ in range(sweeps):
        for s in list(values):
            values[s] = max(worth(s, action) for action in game.actions(s))
    return values[game.start()]


def machine(folder: Path) -> Game:
    space: dict = {}
    exec(SHEET, space)  # the text of the sheet that the commands read
    return space["Machine"]()


def test_values_are_those_of_discounted_value_iteration(tmp_path: Path) -> None:
    for game in (machine(tmp_path), Race(), FrozenLake(discount=Fraction(9, 10))):
        solution = rollwise.solve(game, mode="interpreted")
        assert solution.value == pytest.approx(by_value_iteration(game), abs=1e-11)
        assert solution.error_bound < 1e-11
        states = list(map(tuple, solution.graph.states.tolist()))
        values, bounds = (
            dict(zip(states, numbers[:, None].tolist(), strict=True))
            for numbers in (solution.values, solution.error_bounds)
        )
        assert check_rules(game, Claims(values, bounds)) == ""


def test_compiled_and_interpreted_rules_agree() -> None:
    compiled, interpreted = (
        rollwise.build(Race(), mode=mode) for mode in ("compiled", "interpreted")
    )
    assert np.array_equal(compiled.states, interpreted.states)
    assert np.array_equal(compiled.outcome_weight, interpreted.outcome_weight)


def test_a_discount_of_one_changes_no_value() -> None:
    class Plain(Game):
        start, actions, outcomes = Race.start, Race.actions, Race.undiscounted

    assert not hasattr(Plain, "undiscounted")
    assert rollwise.solve(Race(discount=Fraction(1))).value == rollwise.solve(Plain()).value


def test_a_subclass_may_change_discount_or_rules() -> None:
    class Impatient(Game):
        discount = 0.5
        start, actions, outcomes = Race.start, Race.actions, Race.undiscounted

    class Surer(Impatient):
        def outcomes(self, s: Piles, action: int):
            if s.mine == 5:
                yield 1, WIN, s
            else:
                yield 1, PASS, Piles(s.theirs, s.mine + 1)

    assert Impatient().discount == Fraction(1, 2)
    for game in (Impatient(), Surer()):
        assert rollwise.solve(game).value == pytest.approx(by_value_iteration(game), abs=1e-11)


def test_helpers_may_apply_the_discount() -> None:
    """Then it isn't applied a second time; a helper must be known when the class is made."""

    def stays(game: Game) -> Fraction:
        return game.discount

    class ByFunction(Race):
        def outcomes(self, s: Piles, action: int):
            for weight, then, after in Race.undiscounted(self, s, action):
                rest = weight * (1 if then == WIN else stays(self))
                yield rest, then, after
                yield weight - rest, DRAW, s

    class ByMethod(ByFunction):
        def stays(self) -> Fraction:
            return self.discount

        def outcomes(self, s: Piles, action: int):
            for weight, then, after in Race.undiscounted(self, s, action):
                rest = weight * (1 if then == WIN else self.stays())
                yield rest, then, after
                yield weight - rest, DRAW, s

    expected = rollwise.solve(Race()).value
    for game in (ByFunction(), ByMethod()):
        assert rollwise.solve(game, mode="interpreted").value == pytest.approx(expected, abs=1e-11)

    space = {"Game": Game, "Race": Race}
    exec(
        "class Late(Race):\n"
        "    def outcomes(self, s, action):\n"
        "        yield from rest(self, Race.undiscounted(self, s, action))\n"
        "def rest(game, ways):\n"
        "    return [(weight * game.discount, *way) for weight, *way in ways]\n",
        space,
    )
    with pytest.raises(ParameterError, match=r"rest\(\) reads the discount"):
        space["Late"]()


def test_commands_take_a_sheet_with_a_discount(tmp_path: Path) -> None:
    (tmp_path / "machine.py").write_text(SHEET)
    assert "48.7830092834674" in output("solve", "machine.py", cwd=tmp_path)
    assert "replace" in output("table", "machine.py", cwd=tmp_path)
    for wrong in ("1.5", "-0.1", "float('nan')", "'much'", "True"):
        (tmp_path / "machine.py").write_text(SHEET.replace("= 0.9", f"= {wrong}"))
        assert "discount is" in refusal("solve", "machine.py", cwd=tmp_path)


def test_games_of_three_have_no_discount() -> None:
    class Three(Game):
        players, discount = 3, 0.5
        start, actions, outcomes = Race.start, Race.actions, Race.undiscounted

    with pytest.raises(ParameterError, match="one player or two"):
        Three()
