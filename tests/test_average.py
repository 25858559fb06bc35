"""The best average of play without an end: all policies of small games, and published answers."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from cli_runner import output, play, refusal, run
from little_games import Lanes

import rollwise
from rollwise import dice, games
from rollwise.answer.average import average_of, with_best_rate
from rollwise.answer.verify import verify
from rollwise.builders.building import CompileWarning
from rollwise.derive.average import Average
from rollwise.errors import ParameterError, RulesError, UsageError
from rollwise.game import Game, parameter
from rollwise.games.farkle import Zilch
from rollwise.games.frozen_lake import FrozenLake
from rollwise.numbers.printed import certified
from rollwise.proofs.check_rules import Claims, check_rules
from rollwise.simulate import simulate, tournament
from rollwise.then import AGAIN, END, PASS, WIN, is_over

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
        yield from range(3 - s.stock)

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
    with pytest.raises(RulesError, match="doesn't return to position 9"):
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
    shown = play(tmp_path, "parrondo.py", "--seed", "1", typed=" / ".join(["1"] * 200)).stdout
    assert "in all, less the cost of time" in shown


@pytest.mark.large
@pytest.mark.needs_jit
def test_the_average_of_zilch() -> None:
    """M. Busche (2010), Maximizing Expected Scores in the Game of Zilch: 620.855 points a turn."""
    solution = rollwise.solve(Zilch(most=15_000))
    average, bound = average_of(solution)
    assert bound < 1e-9
    assert average == pytest.approx(620.855, abs=5e-4)


@pytest.mark.needs_jit
def test_policies_of_play_without_an_end_are_followed_for_a_cycle() -> None:
    """In Python as on the command line, given only the rules."""
    game = Zilch(most=1_000)
    solution = rollwise.solve(game)
    found = rollwise.evaluate(game, "optimal")
    assert abs(found.values[0]) < 1e-9
    assert found.average is not None
    assert found.average[0] == pytest.approx(average_of(solution)[0], abs=1e-9)
    assert "average in the long run" in str(found)
    assert simulate(game, "optimal", games=100, seed=1).games == 100
    best, worst = tournament(game, ["random", "optimal"]).standings
    assert (best.policy, worst.policy) == ("optimal", "random")
    assert best.result == pytest.approx(average_of(solution)[0], abs=1e-9)


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
    output("report", "parrondo.py", "--out", "report.html", cwd=tmp_path)
    told = (tmp_path / "report.html").read_text()  # averages, and not the values of a cycle
    assert "<td>−0.0100</td><td>0.3245</td>" in re.sub(r"<td[^>]*>", "<td>", told)
    assert "game below is a cycle" in told
    assert "here a game is a cycle" in run("thumb", "parrondo.py", "--evaluations", "5",
                                           cwd=tmp_path).stderr  # fmt: skip


FERRY = """
from typing import NamedTuple

from rollwise import AGAIN, Game, policy


class Waiting(NamedTuple):
    waiting: int


class Ferry(Game):
    # Sailing takes two hours, costs 5 and brings 2 from each passenger; best play begins cycles
    # with eight passengers.

    players, objective = 1, "average"
    action_names = ("wait", "sail")

    def start(self):
        return Waiting(0)

    def actions(self, s):
        return (0, 1)

    def reward(self, s, action):
        return 2 * s.waiting - 5 if action else 0

    def duration(self, s, action):
        return 2 if action else 1

    def outcomes(self, s, action):
        for face in range(1, 5):
            yield 1, AGAIN, Waiting(min(8, (0 if action else s.waiting) + face))

    @policy
    def always_sail(self, s):
        return 1
"""


def test_a_policy_without_the_home_of_best_play(tmp_path: Path) -> None:
    """Its average is that of cycles of its own: 2 × 5/2 − 5 in two hours."""
    (tmp_path / "ferry.py").write_text(FERRY)
    told = output("evaluate", "ferry.py", "--policy", "always-sail", "--json", cwd=tmp_path)
    assert json.loads(told)["average"] == pytest.approx(0, abs=1e-12)
    told = output("evaluate", "ferry.py", "--policy", "optimal", "--json", cwd=tmp_path)
    assert json.loads(told)["average"] > 2
    found = rollwise.evaluate(games.find(tmp_path / "ferry.py")(), "always-sail")
    assert found.average is not None
    assert found.average[0] == pytest.approx(0, abs=1e-12)


def test_rules_of_thumb_lose_of_the_average(tmp_path: Path) -> None:
    """Not points of a cycle, which may begin elsewhere than play; each loss is evaluated anew."""
    (tmp_path / "ferry.py").write_text(FERRY)
    best = json.loads(output("solve", "ferry.py", "--json", cwd=tmp_path))["average"]
    limits = ("--numbers", "2", "--evaluations", "200")
    told = output("thumb", "ferry.py", *limits, "--json", cwd=tmp_path)
    found = json.loads(told)
    assert found["unit"] == "average in the long run"
    for k, rule in enumerate(found["rules"]):
        place = tmp_path / f"{k}.json"
        place.write_text(json.dumps(rule["policy"]))
        told = output("evaluate", "ferry.py", "--policy", place.name, "--json", cwd=tmp_path)
        assert rule["loss"] == pytest.approx(best - json.loads(told)["average"], abs=1e-10)
    losses = [rule["loss"] for rule in found["rules"]]
    assert losses[0] == pytest.approx(best, abs=1e-10)  # to wait for ever brings nothing
    assert losses[-1] == pytest.approx(0, abs=1e-10)
    assert "losses of the average in the long run, against optimal play (certified" in output(
        "thumb", "ferry.py", *limits, cwd=tmp_path
    )


def test_check_finds_the_home_of_cycles(tmp_path: Path) -> None:
    (tmp_path / "ferry.py").write_text(FERRY)
    told = output("check", "ferry.py", cwd=tmp_path)
    assert "play from the start can come to every state" in told
    assert "every field takes more than one value" in told
    assert "the player can keep away from" in told


def test_commands_compare_averages(tmp_path: Path) -> None:
    """And not the worths of cycles, which the average of best play makes 0."""
    (tmp_path / "parrondo.py").write_text(SHEET)

    def average(policy: str, *parameters: str) -> float:
        told = output(
            "evaluate", "parrondo.py", *parameters, "--policy", policy, "--json", cwd=tmp_path
        )
        return float(json.loads(told)["average"])

    names = ("random", "optimal", "0.5*optimal+0.5*random")
    told = output(
        "tournament", "parrondo.py", "--policies", ",".join(names), "--json", cwd=tmp_path
    )
    found = json.loads(told)
    assert found["unit"] == "average in the long run"
    results = {entry["policy"]: entry["result"] for entry in found["standings"]}
    assert results == pytest.approx({name: average(name) for name in names}, abs=1e-9)
    assert [entry["policy"] for entry in found["standings"]] == ["optimal", names[2], "random"]
    losses = ("loss=1/200", "loss=1/20")
    told = output("diff", "parrondo.py", *losses, "--json", cwd=tmp_path)
    found = json.loads(told)
    values = [found[which]["value"] for which in ("old", "new")]
    assert values == pytest.approx([average("optimal", loss) for loss in losses], abs=1e-9)
    assert 0 <= found["loss"] < 1
    vary = "loss=1/200,1/20"
    told = output(
        "tune", "parrondo.py", "--vary", vary, "--for", "max value", "--json", cwd=tmp_path
    )
    amounts = [point["amount"] for point in json.loads(told)["points"]]
    assert amounts == pytest.approx(values, abs=1e-9)


def test_fractions_are_refused_at_a_rounded_rate() -> None:
    """And the message names the rate, not a reward that no rule sheet gives."""
    with pytest.raises(UsageError, match=r"costs the rate times .* may be rounded; .* rate=1/2"):
        rollwise.solve(Average(Machine(), rate=28 / 3), method="exact")
    exact = rollwise.solve(Average(Machine(), rate=9.5), method="exact")
    plain = rollwise.solve(Average(Machine(), rate=9.5))
    assert exact.value == pytest.approx(plain.value, abs=1e-12)


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
    sheet.write_text(SHEET)
    assert "every play returns to the start" in output("check", "parrondo.py", cwd=tmp_path)
    assert "here a game is a cycle" in run("length", "parrondo.py", cwd=tmp_path).stderr
    for old, new, message in (
        ("AGAIN, Capital((s.rest + 1) % 3)", "END, s", "play has no end"),
        ('"average"', '"mean"', "'average'"),
        ("players = 1", "players = 2", "solitaire"),
    ):
        sheet.write_text(SHEET.replace(old, new).replace("import AGAIN", "import END, AGAIN"))
        assert message in refusal("solve", "parrondo.py", cwd=tmp_path)
    assert "no end" in refusal("solve", "pig", "as=average")


def test_play_without_an_end_is_told_in_words_of_the_average(tmp_path: Path) -> None:
    """Nobody wrote a cost of rounds, nor the points of the inner game."""
    text = SHEET.replace("        yield 1\n", "        yield 1\n        yield 2\n")
    text = text.replace(
        "p = self",
        "if action == 2:\n            yield 1, AGAIN, s\n            return\n        p = self",
    )
    text = text.replace('"coin B")', '"coin B", "wait")').replace(
        "return 2 * self", "return -1 if action == 2 else 2 * self"
    )
    (tmp_path / "parrondo.py").write_text(text)
    said = output("check", "parrondo.py", cwd=tmp_path)
    assert "the player can keep away from the start for ever in " in said
    assert "to stay away brings no better one" in said
    assert "round costs" not in said
    for command, *options in (
        ("distribution",),
        ("distribution", "--reach", "5"),
        ("plot", "scores"),
    ):
        said = refusal(command, "parrondo.py", *options, cwd=tmp_path)
        assert "has an average instead of final scores: `rollwise solve` tells it" in said


# ---- a discount: value iteration on the rules as written gives the same values


SHEET_DISCOUNT = """
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


@dataclass(frozen=True)
class Race(Game):
    """Two players; the first with 6 points wins. One die brings 0 to 2, or a sure point."""

    discount: Fraction = parameter(Fraction(4, 5), at_least=0, at_most=1)  # type: ignore[misc]

    def start(self) -> Lanes:
        return Lanes(0, 0)

    def actions(self, s: Lanes):
        yield from (0, 1)

    def outcomes(self, s: Lanes, action: int):
        for gain in range(1, 2) if action else range(3):
            mine = s.mine + gain
            if mine >= 6:
                yield 1, WIN, s
            else:
                yield 1, PASS, Lanes(s.theirs, mine)


class ThrownRace(Race):
    """The die is seen before the choice."""

    def throws(self, s: Lanes):
        for gain in range(3):
            yield 1, gain

    def actions(self, s: Lanes, throw: int):
        yield from (0, 1)

    def outcomes(self, s: Lanes, throw: int, action: int):
        mine = s.mine + (1 if action else throw)
        yield 1, WIN if mine >= 6 else PASS, Lanes(s.theirs, mine)


class PooledRace(ThrownRace):
    """And a die may be thrown again, once."""

    def throws(self, s: Lanes):
        return dice.pool(1, 3, rerolls=1)

    def actions(self, s: Lanes, throw: tuple[int, ...], rolls_left: int):
        yield 1 - rolls_left

    def outcomes(self, s: Lanes, throw: tuple[int, ...], rolls_left: int, action: int):
        mine = s.mine + throw[0] - 1
        yield 1, WIN if mine >= 6 else PASS, Lanes(s.theirs, mine)


@pytest.mark.needs_jit
@pytest.mark.parametrize("game", [Race(), ThrownRace(), PooledRace()], ids=lambda game: game.name)
def test_rules_with_a_discount_are_compiled(game: Game) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [rollwise.solve(game, mode=mode) for mode in ("interpreted", "compiled")]
    assert found[0].value == pytest.approx(found[1].value, abs=1e-12)


def by_value_iteration(game: Game, sweeps: int = 400) -> float:
    """The value of the start, with each value of a next state multiplied by the discount."""
    rate = float(game.discount)
    lost = -1.0 if game.objective == "win" and game.players == 1 else 0.0
    values: dict = {game.start(): 0.0}

    def worth(s, action) -> float:
        outcomes = list(game.outcomes(s, action))
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
    exec(SHEET_DISCOUNT, space)  # the text of the sheet that the commands read
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


def test_a_subclass_may_change_discount_or_rules() -> None:
    class Impatient(Game):
        discount = 0.5
        start, actions, outcomes = Race.start, Race.actions, Race.outcomes

    class Surer(Impatient):
        def outcomes(self, s: Lanes, action: int):
            if s.mine == 5:
                yield 1, WIN, s
            else:
                yield 1, PASS, Lanes(s.theirs, s.mine + 1)

    assert Impatient().discount == Fraction(1, 2)
    for game in (Impatient(), Surer()):
        assert rollwise.solve(game).value == pytest.approx(by_value_iteration(game), abs=1e-11)


def test_a_discount_may_be_a_parameter_with_a_float() -> None:
    """It is its decimal digits, as in a class; also in a subclass of rules with a discount."""

    @dataclass(frozen=True)
    class Typed(Game):
        discount: float = parameter(0.99, at_least=0, at_most=1)
        start, actions, outcomes = Race.start, Race.actions, Race.outcomes

    @dataclass(frozen=True)
    class Given(Race):
        discount: float = 0.99

    for kind in (Typed, Given):
        assert kind().discount == Fraction(99, 100)
        assert kind(discount=0.8) == kind(discount=Fraction(4, 5)) == kind(discount="0.8")
        assert rollwise.solve(kind(discount=0.8)).value == rollwise.solve(Race()).value
        assert kind.specs.fget(kind())[0].parse("typed", "0.8") == Fraction(4, 5)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        Typed(discount=1.5)
    with pytest.raises(ParameterError, match="a number such as 2/5, not nan"):
        Given(discount=float("nan"))


def reading(game: Game) -> Fraction:
    return 3 * game.discount


class ByFunction(Race):
    """A helper outside of the class reads the discount."""

    def outcomes(self, s: Lanes, action: int):
        reading(self)
        yield from super().outcomes(s, action)


class ByMethod(Race):
    """A method reads the discount, and the rules of the parent are given back."""

    def price(self) -> Fraction:
        return 3 * self.discount

    def outcomes(self, s: Lanes, action: int):
        self.price()
        return super().outcomes(s, action)


class Halved(Race):
    """The rules of the parent by its name, in a class of its own discount."""

    discount = Fraction(1, 2)

    def outcomes(self, s: Lanes, action: int):
        yield from Race.outcomes(self, s, action)


class Factor:
    discount = 0.5


class Plain(Game):
    start, actions, outcomes = Race.start, Race.actions, Race.outcomes


class Mixed(Factor, Plain):
    """A discount from a class that is no game."""


@pytest.mark.parametrize("game", [ByFunction(), ByMethod(), Halved(), Mixed()], ids=type)
def test_a_discount_is_applied_once_whatever_rules_read_or_inherit(game: Game) -> None:
    expected = rollwise.solve(Race(discount=game.applied_discount))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)  # super() is interpreted
        found = rollwise.solve(game)
    assert found.value == pytest.approx(expected.value, abs=1e-12)
    values, bounds = (
        {tuple(s): [x] for s, x in zip(found.graph.states.tolist(), numbers, strict=True)}
        for numbers in (found.values.tolist(), found.error_bounds.tolist())
    )
    assert check_rules(game, Claims(values, bounds)) == ""


@pytest.mark.needs_jit
@pytest.mark.parametrize("mode", ["interpreted", "compiled"])
def test_a_discount_may_be_given_to_a_class_that_is_there(mode: str) -> None:
    class Late(Game):
        start, actions, outcomes = Race.start, Race.actions, Race.outcomes

    game = Late()
    for rate in (1, 0.8, Fraction(1, 2), 1):
        Late.discount = rate
        expected = rollwise.solve(Race(discount=Fraction(str(rate))), mode="interpreted")
        for asked in (game, Late()):
            found = rollwise.solve(asked, mode=mode)
            assert found.value == pytest.approx(expected.value, abs=1e-12)
    Late.discount = 1.5
    with pytest.raises(ParameterError, match="discount is 1.5; it is a number from 0 to 1"):
        rollwise.solve(game)


def test_forms_of_a_game_have_its_discount_once() -> None:
    """A chase and a contest play the rules of the inner game under its discount."""

    @dataclass(frozen=True)
    class Throwing(Game):
        players, objective = 1, "maximize"  # type: ignore[misc]
        discount = Fraction(1, 2)

        def start(self) -> Lanes:
            return Lanes(0, 0)

        def actions(self, s: Lanes):
            yield 0

        def reward(self, s: Lanes, action: int) -> int:
            return 1

        def outcomes(self, s: Lanes, action: int):
            yield 1, END if s.mine == 2 else AGAIN, Lanes(s.mine + 1, 0)

    # three throws are made with the chance 1/4
    assert rollwise.solve(Throwing().chase(3)).win_probability == pytest.approx(1 / 4)
    for game in (Throwing(), Throwing().with_score()):
        assert rollwise.solve(game, mode="interpreted").value == pytest.approx(1.75)


def test_commands_take_a_sheet_with_a_discount(tmp_path: Path) -> None:
    (tmp_path / "machine.py").write_text(SHEET_DISCOUNT)
    assert "48.7830092834674" in output("solve", "machine.py", cwd=tmp_path)
    assert "replace" in output("table", "machine.py", cwd=tmp_path)
    assert "every play is ended by the discount" in output("check", "machine.py", cwd=tmp_path)
    assert "reads the discount" not in output("check", "machine.py", cwd=tmp_path)
    reader = SHEET_DISCOUNT.replace("yield 3, AGAIN", "yield 3 + 0 * self.discount, AGAIN")
    (tmp_path / "reader.py").write_text(reader)
    assert "48.7830092834674" in output("solve", "reader.py", cwd=tmp_path)
    said = " ".join(output("check", "reader.py", cwd=tmp_path).split())
    assert "outcomes() reads the discount: rollwise applies it to the outcomes" in said
    for wrong in ("1.5", "-0.1", "float('nan')", "'much'", "True"):
        (tmp_path / "machine.py").write_text(SHEET_DISCOUNT.replace("= 0.9", f"= {wrong}"))
        shown = wrong.replace("float('nan')", "nan")
        assert f"discount is {shown};" in refusal("solve", "machine.py", cwd=tmp_path)


def test_games_of_three_have_no_discount() -> None:
    class Three(Game):
        players, discount = 3, 0.5
        start, actions, outcomes = Race.start, Race.actions, Race.outcomes

    with pytest.raises(ParameterError, match="one player or two"):
        Three()


@pytest.mark.parametrize("command", ["table", "advise", "plot"])
def test_values_of_positions_are_said_to_be_those_of_a_cycle(command, tmp_path):
    """They are compared to the average, so that they are no points of a play."""
    more = {
        "table": ["--limit", "2"],
        "advise": ["--state", "rest=0"],
        "plot": ["turns", "--out", str(tmp_path / "turns.html")],
    }[command]
    (tmp_path / "parrondo.py").write_text(SHEET)
    done = run(command, str(tmp_path / "parrondo.py"), *more)
    assert done.returncode == 0, done.stderr
    assert "a game is a cycle" in done.stderr


def test_a_notebook_shows_the_average():
    solution = rollwise.solve(Machine())
    assert "average in the long run 1.60273972602740 ± " in repr(solution)
    shown = certified(*average_of(solution))
    assert f"average in the long run {shown}" in solution._repr_html_()


class Place(NamedTuple):
    n: int


class Walk(Game):
    """A walk for ever: the actions of each position, with their rewards and next positions."""

    players = 1
    objective = "average"

    def __init__(self, moves: tuple[tuple[tuple[float, tuple[int, ...]], ...], ...]) -> None:
        self.moves = moves

    def start(self) -> Place:
        return Place(0)

    def actions(self, s: Place) -> range:
        return range(len(self.moves[s.n]))

    def outcomes(self, s: Place, action: int) -> Iterator[tuple[int, int, Place]]:
        for after in self.moves[s.n][action][1]:
            yield 1, AGAIN, Place(after)

    def reward(self, s: Place, action: int) -> float:
        return self.moves[s.n][action][0]


def averages(moves: Any) -> Iterator[tuple[float, bool]]:
    """The average of each policy from the start, and whether it comes to one part of the game."""
    n = len(moves)
    for chosen in product(*(range(len(actions)) for actions in moves)):
        matrix = np.zeros((n, n))
        for s, a in enumerate(chosen):
            for after in moves[s][a][1]:
                matrix[s, after] += 1 / len(moves[s][a][1])
        # half steps have the same frequencies, without periods
        limit = np.linalg.matrix_power((matrix + np.eye(n)) / 2, 2**20)
        visited = np.flatnonzero(limit[0] > 1e-9)
        rewards = np.array([moves[s][a][0] for s, a in enumerate(chosen)])
        yield float(limit[0] @ rewards), bool((limit[np.ix_(visited, visited)] > 1e-9).all())


def test_a_start_that_play_leaves_for_ever() -> None:
    stays = ((3, (1,)),), ((1, (2,)),)
    absorbed = Walk((((0, (1,)), (0, (2,))), *stays))
    solution = rollwise.solve(absorbed)
    average, bound = average_of(solution)
    assert abs(average - 3) <= bound < 1e-12
    with pytest.raises(RulesError, match=r"no play from the start is sure to come to position 1"):
        rollwise.solve(Walk((((0, (1, 2)),), *stays)))


def test_averages_of_random_walks() -> None:
    """Against all policies. A game is refused only if its best play has parts or ties."""
    random = np.random.default_rng(20261129)
    solved = 0
    for _ in range(60):
        n = int(random.integers(2, 6))
        moves = tuple(
            tuple(
                (
                    float(random.integers(-1, 6)),
                    tuple(random.integers(0, n, random.integers(1, 4)).tolist()),
                )
                for _ in range(random.integers(1, 4))
            )
            for _ in range(n)
        )
        policies = list(averages(moves))
        best = max(average for average, _ in policies)
        try:
            average, bound = average_of(rollwise.solve(Walk(moves)))
        except RulesError:
            alone = [is_one for average, is_one in policies if average > best - 1e-9]
            assert not all(alone), moves
            continue
        solved += 1
        assert abs(average - best) <= bound + 1e-9, moves
    assert solved > 45


def test_play_that_may_stay_away_from_its_home_is_told(tmp_path):
    """One part of the game is never left, and brings as much as the best cycle elsewhere."""
    place = tmp_path / "parts.py"
    place.write_text(
        "from typing import NamedTuple\nfrom rollwise import AGAIN, Game\n"
        "WAYS = [[(0, [1, 3])], [(1, [1, 2]), (0, [3])], [(1, [2]), (1, [1])], [(1, [3])]]\n"
        "class State(NamedTuple):\n    place: int\n"
        "class Parts(Game):\n    players, objective = 1, 'average'\n"
        "    def start(self):\n        return State(0)\n"
        "    def actions(self, s):\n        return range(len(WAYS[s.place]))\n"
        "    def reward(self, s, action):\n        return WAYS[s.place][action][0]\n"
        "    def outcomes(self, s, action):\n        for after in WAYS[s.place][action][1]:\n"
        "            yield 1, AGAIN, State(after)\n"
    )
    done = run("solve", str(place), "as=average", "home=2")
    assert done.returncode == 1
    assert (
        "stay away from position 2 (place=3): give another one (as=average home=N)" in done.stderr
    )


def test_a_picture_of_lengths_says_that_a_game_is_a_cycle():
    figure = rollwise.solve(Machine()).plot("turns")
    assert "until play returns to its beginning" in figure.layout.meta["alt"]
