"""Games whose fields rise without an end: caps are proved, and values are those of naive recursion
far beyond the caps."""

from __future__ import annotations

import copy
import dataclasses
import json
import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import refusal, run

import rollwise
from rollwise import AGAIN, END, PASS, Game, payoff
from rollwise.analysis.length_range import length_range
from rollwise.analysis.reaching import reach
from rollwise.answer.unbounded import finite
from rollwise.builders import growth, limits
from rollwise.builders.growth import GrowthWarning, growth_of
from rollwise.builders.interpreter import Interpreter
from rollwise.builders.rules import Rules
from rollwise.documents.design import length_document
from rollwise.documents.model import text_of
from rollwise.documents.scores import reached_document
from rollwise.errors import RulesError, TooManyStates
from rollwise.numbers.unknown import Undecided, Unfollowed, Unknown
from rollwise.proofs import remainder
from rollwise.proofs.check_rules import Claims
from rollwise.proofs.remainder import Rest, Unproved, WorthMore, check_rest, prove_rest
from rollwise.then import is_over, payoff_of

pytestmark = pytest.mark.filterwarnings("ignore::rollwise.builders.growth.GrowthWarning")
STOP, ROLL = range(2)


class Pot(NamedTuple):
    pot: int
    other: int = 0


@dataclass(frozen=True)
class Stopping(Game):
    """Roll or stop; each rule sheet below says what a roll does."""

    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"
    action_names: ClassVar = ("stop", "roll")

    def start(self) -> Pot:
        return Pot(0)

    def actions(self, s: Pot) -> Any:
        return (STOP, ROLL)

    def reward(self, s: Pot, action: int) -> Any:
        return s.pot if action == STOP else 0

    def rolled(self, s: Pot) -> Any:
        yield 1, END, s
        for face in range(1, 6):
            yield 1, AGAIN, Pot(s.pot + face)

    def outcomes(self, s: Pot, action: int) -> Any:
        if action == STOP:
            yield 1, END, s
        else:
            yield from self.rolled(s)


@dataclass(frozen=True)
class Fives(Stopping):
    """Rolls come five at a time; `other` has the rolls left."""

    def start(self) -> Pot:
        return Pot(0, 5)

    def actions(self, s: Pot) -> Any:
        return (STOP, ROLL) if s.other == 0 else (ROLL,)

    def rolled(self, s: Pot) -> Any:
        yield 1, END, s
        for face in range(1, 6):
            yield 1, AGAIN, Pot(s.pot + face, (s.other or 5) - 1)


@dataclass(frozen=True)
class OneDie(Stopping):
    sides: int = 6

    def rolled(self, s: Pot) -> Any:
        yield 1, END, s
        for face in range(1, self.sides):
            yield 1, AGAIN, Pot(s.pot + face)


@dataclass(frozen=True)
class Doubles(Stopping):
    def rolled(self, s: Pot) -> Any:
        for a, b in product(range(1, 7), repeat=2):
            yield 1, END if a == b else AGAIN, Pot(s.pot + a + b)


@dataclass(frozen=True)
class Loaded(Stopping):
    def rolled(self, s: Pot) -> Any:
        yield 0.25, END, s
        yield 1.5, AGAIN, Pot(s.pot + 3)
        yield 0.5, AGAIN, Pot(s.pot + 4)


@dataclass(frozen=True)
class Multiplied(Stopping):
    objective: ClassVar[str] = "win"

    def start(self) -> Pot:
        return Pot(1)

    def reward(self, s: Pot, action: int) -> float:
        return 0.0

    def outcomes(self, s: Pot, action: int) -> Any:
        if action == STOP:
            yield 1, payoff(s.pot), s
        else:
            yield 3, payoff(0), s
            yield 2, AGAIN, Pot(2 * s.pot)
            yield 1, AGAIN, Pot(s.pot + 5)


@dataclass(frozen=True)
class Costly(Stopping):
    """A later roll costs more, and nothing is ever lost."""

    def reward(self, s: Pot, action: int) -> Any:
        return 2 * s.pot if action == STOP else -s.other

    def rolled(self, s: Pot) -> Any:
        for face in range(1, 7):
            yield 1, AGAIN, Pot(s.pot + face, s.other + 1)


@dataclass(frozen=True)
class TwoPots(Stopping):
    objective: ClassVar[str] = "minimize"

    def reward(self, s: Pot, action: int) -> Any:
        return -s.pot - 2 * s.other if action == STOP else 0

    def rolled(self, s: Pot) -> Any:
        yield 1, END, s
        yield 2, AGAIN, Pot(s.pot + 3, s.other)
        yield 2, AGAIN, Pot(s.pot, s.other + 2)


class Pots(NamedTuple):
    flags: tuple[int, int]
    pots: tuple[int, int]


@dataclass(frozen=True)
class Tuples(Stopping):
    """As `TwoPots`, for the most points, with the pots in a tuple after another one."""

    def start(self) -> Any:
        return Pots((0, 1), (0, 0))

    def reward(self, s: Any, action: int) -> Any:
        return s.pots[0] + 2 * s.pots[1] if action == STOP else 0

    def rolled(self, s: Any) -> Any:
        yield 1, END, s
        yield 2, AGAIN, Pots((0, 1), (s.pots[0] + 3, s.pots[1]))
        yield 2, AGAIN, Pots((0, 1), (s.pots[0], s.pots[1] + 2))


@dataclass(frozen=True)
class Turns(Stopping):
    """Two players take turns and gain points from each other; a bad roll loses the turn only."""

    players: ClassVar[int] = 2
    objective: ClassVar[str] = "win"
    turns: int = 3

    def start(self) -> Pot:
        return Pot(0, self.turns)

    def outcomes(self, s: Pot, action: int) -> Any:
        over = payoff(0) if s.other == 1 else PASS
        if action == ROLL:
            for face in range(1, 6):
                yield 1, AGAIN, Pot(s.pot + face, s.other)
        yield 1, over, Pot(0, s.other - 1)


@dataclass(frozen=True)
class Again(Stopping):
    """After a 5 the player must roll again."""

    def actions(self, s: Pot) -> Any:
        return (STOP, ROLL) if s.other == 0 else (ROLL,)

    def rolled(self, s: Pot) -> Any:
        yield 1, END, s
        for face in range(1, 5):
            yield 1, AGAIN, Pot(s.pot + face)
        yield 1, AGAIN, Pot(s.pot + 5, 1 - s.other)


@dataclass(frozen=True)
class ThrowFirst(Stopping):
    """After each throw stop with the larger die, or put the smaller one into the pot. A 7 loses."""

    def throws(self, s: Pot) -> Any:
        for a, b in product(range(1, 7), repeat=2):
            yield 1, (a, b)

    def actions(self, s: Pot, throw: Any) -> Any:
        return (STOP, ROLL) if throw[0] + throw[1] != 7 else (STOP,)

    def reward(self, s: Pot, throw: Any, action: int) -> Any:
        return s.pot + max(throw) if throw[0] + throw[1] != 7 and action == STOP else 0

    def outcomes(self, s: Pot, throw: Any, action: int) -> Any:
        yield 1, END if action == STOP else AGAIN, Pot(s.pot + min(throw))


def naive(game: Game, most: int) -> float:
    """The value of the start, where a player beyond `most` has to stop, if that is allowed."""
    best = min if game.objective == "minimize" else max

    @cache
    def value(s: Any) -> float:
        thrown = [(1, ())]
        if game.has_throws:
            thrown = [(w, (throw,)) for w, throw in game.throws(s)]
        total = 0.0
        for w, at in thrown:
            actions = game.actions(s, *at) if max(s) <= most else tuple(game.actions(s, *at))[:1]
            total += w * best(worth(s, *at, action) for action in actions)
        return total / sum(w for w, _ in thrown)

    def worth(s: Any, *choice: Any) -> float:
        ways = list(game.outcomes(s, *choice))
        ahead = sum(w * after(then, t) for w, then, t in ways)
        return game.reward(s, *choice) + ahead / sum(w for w, _, _ in ways)

    def after(then: int, s: Any) -> float:
        if is_over(then):
            return 0.0 if then in (END, payoff(0)) else 1.0 if then == 2 else payoff_of(then)
        return value(s) * (-1 if then == PASS else 1)

    return value(game.start())


@pytest.fixture
def deep():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(limit)


GAMES = [
    (OneDie(), {"pot": 15}),  # 1/6 of the pot against 15/6
    (OneDie(20), {"pot": 190}),
    (Doubles(), {"pot": 35}),
    (Loaded(), None),
    (Multiplied(), {"pot": 5}),
    (Costly(), None),
    (TwoPots(), None),
    (Turns(), {"pot": 15}),
    (Again(), None),
    (ThrowFirst(), None),
    (Fives(), None),  # 5^5 ways ahead lead to 21 pots
]


@pytest.mark.parametrize(("game", "stops"), GAMES, ids=[type(g).__name__ for g, _ in GAMES])
def test_the_value_is_that_of_naive_recursion_far_beyond(game, stops, tmp_path, deep):
    solution = rollwise.solve(game)
    rest = solution.game.rest
    assert stops is None or rest.named(rest.proved) == stops
    wide = naive(game, 60 if isinstance(game, TwoPots | Costly) else 300)
    assert solution.value == pytest.approx(wide, abs=1e-9)
    path = tmp_path / "answer.parquet"
    solution.save(path)
    assert rollwise.verify(path, game, exact=True).verified


@pytest.mark.parametrize("game", [Turns(), TwoPots(), ThrowFirst()])
def test_capped_rules_compile(game):
    first, other = (rollwise.build(finite(game), mode=m) for m in ("interpreted", "compiled"))
    assert first.content_hash == other.content_hash


def test_chances_of_scores_beyond_a_cap_name_it():
    """A policy that goes on beyond the cap reaches 40 points."""
    game = finite(OneDie())
    found = reached_document(game, [40], reach(game, [40]))
    assert found.rows[0].chance == 0
    assert f"play that stops from pot={found.caps['pot']} on" in text_of(found.told())


def test_lengths_of_play_that_stops_at_a_cap_name_it():
    game = finite(OneDie())
    document = length_document(length_range(game, "longest"))
    told = text_of(document.told())
    assert f"play that stops from pot={document.caps['pot']} on; how much play that goes" in told


@pytest.mark.parametrize(
    ("line", "names_it"),
    [
        ("solve", False),
        ("table --limit 2", False),
        ("advise", False),
        ("evaluate --policy optimal", True),
        ("bet --scores 40", True),
        ("frontier --aim score>=20", True),
        ("solve as=contest", True),
        ("solve as=chase target=12", True),
        ("advise as=chase target=12", True),
        ("respond as=contest --to random", True),
        ("distribution", True),
        ("balance", True),
        ("tournament --policies random,optimal", True),
    ],
)
def test_answers_name_the_caps_unless_they_are_of_best_play(line, names_it, tmp_path):
    sheet = tmp_path / "pot.py"
    sheet.write_text(POT)
    command, *others = line.split()
    found = run(command, str(sheet), *others)
    assert found.returncode == 0, found.stderr
    assert ("the figures are of play that stops from pot=" in found.stdout) == names_it
    document = json.loads(run(command, str(sheet), *others, "--json").stdout)
    assert list(document["caps"]) == ["pot"]


@pytest.mark.parametrize(
    ("line", "names_it"),
    [
        ("tune {} --vary bonus=0..1", False),
        ("tune {} --vary bonus=0..1 --for moves", True),
        ("tune {} --vary bonus=0..1 as=chase target=12", True),
        ("diff {} bonus=0 bonus=1", True),
        ("diff {} bonus=0 bonus=1 as=chase target=12", True),
    ],
)
def test_answers_about_several_games_name_their_caps(line, names_it, tmp_path):
    sheet = tmp_path / "pot.py"
    sheet.write_text(POT)
    words = line.format(sheet).split()
    found = run(*words)
    assert found.returncode == 0, found.stderr
    assert ("the figures are of play that stops from pot=" in found.stdout) == names_it
    document = json.loads(run(*words, "--json").stdout)
    games = document["points"] if words[0] == "tune" else [document["old"], document["new"]]
    assert all(list(game["caps"]) == ["pot"] for game in games)


def test_verifying_a_form_names_the_caps(tmp_path):
    sheet, answer = tmp_path / "pot.py", tmp_path / "answer.parquet"
    sheet.write_text(POT)
    form = (str(sheet), "as=chase", "target=12")
    run("solve", *form, "--save", str(answer))
    assert "play that stops from pot=" in run("verify", str(answer), *form).stdout
    run("solve", str(sheet), "--save", str(answer))
    assert "play that stops" not in run("verify", str(answer), str(sheet)).stdout


def test_the_limit_of_states_holds_for_the_game_of_a_form():
    told = refusal("table", "farkle-turn", "as=contest", "most=300", "--max-states", "1000")
    assert "more than 1,000 states" in told


POT = """
from dataclasses import dataclass
from typing import NamedTuple
from rollwise import AGAIN, END, Game, parameter

class Pot(NamedTuple):
    pot: int

@dataclass(frozen=True)
class PotGame(Game):
    bonus: int = parameter(0, at_least=0)
    players = 1
    objective = "maximize"
    action_names = ("stop", "roll")
    def start(self):
        return Pot(0)
    def actions(self, s):
        return (0, 1)
    def reward(self, s, action):
        return s.pot + self.bonus if action == 0 else 0
    def outcomes(self, s, action):
        yield 1, END, s
        if action == 1:
            for face in range(2, 7):
                yield 1, AGAIN, Pot(s.pot + face)
"""


def test_rising_fields_may_lie_in_a_tuple():
    solution = rollwise.solve(Tuples(), mode="interpreted")
    assert solution.value == pytest.approx(-rollwise.solve(TwoPots()).value, abs=1e-12)
    assert list(solution.game.rest.named(solution.game.rest.caps)) == ["pots.0", "pots.1"]


def test_caps_below_the_proved_ones_are_refused():
    solution = rollwise.solve(OneDie())
    rest = solution.game.rest
    bad = dataclasses.replace(rest, caps={0: 14})
    with pytest.raises(WorthMore, match="from pot=14 on"):
        prove_rest(bad, [(0, 0)], lambda s, passes: 0)
    lives = rollwise.solve(Turns()).game.rest
    rows = {tuple(s): (0.0,) for s in solution.graph.states.tolist()}
    assert "no claim" in check_rest(lives, [Pot(30, 2)], Claims(rows, rows))


class Always(Stopping):
    def rolled(self, s: Pot) -> Any:
        yield 1, END, s
        yield 5, AGAIN, Pot(2 * s.pot + 1)


class Sure(Stopping):
    def rolled(self, s: Pot) -> Any:
        yield 1, AGAIN, Pot(s.pot + 1)


class Tens(Stopping):
    def rolled(self, s: Pot) -> Any:
        for face in range(1, 7):
            yield 1, END if (s.pot + face) % 10 == 0 else AGAIN, Pot(s.pot + face)


@pytest.mark.parametrize("kind", [Always, Sure, Tens])
def test_games_where_stopping_is_never_best_are_refused(kind):
    with pytest.raises(
        RulesError,
        match=r"pot can rise without an end.*: from pot=.* on.*, the action roll is worth",
    ):
        rollwise.solve(kind())


def test_a_capped_game_with_other_parameters_has_other_caps():
    made = finite(OneDie())
    assert dataclasses.replace(made, sides=8).rest.named({0: 1}) == {"pot": 1}
    assert dataclasses.replace(made, sides=8).rest.proved == {0: 28}
    assert copy.copy(made).rest == made.rest
    assert made.name == "one-die"


def test_finite_games_stay_as_they_are():
    class Long(OneDie):
        def rolled(self, s: Pot) -> Any:
            yield 1, END, s
            yield 5, END if s.pot >= 30_000 else AGAIN, Pot(s.pot + 1)

    game = Long()
    with pytest.warns(GrowthWarning, match=r"rollwise\.solve\(game\)\.game has a proved cap"):
        assert rollwise.build(game, mode="interpreted").n_states > 30_000
    assert finite(game).rest is None


@pytest.mark.parametrize(
    ("points", "fault"),
    [
        (lambda pot: float(pot), r"a number without a limit in float\(\)"),
        (lambda pot: int(pot**1.5), "a power with another exponent"),
        (lambda pot: 1.0 * pot, "a product or a sum with a float; write a Fraction"),
    ],
    ids=["float()", "a power", "a product"],
)
def test_a_game_without_proved_caps_tells_why(points, fault):
    class Floats(OneDie):
        def reward(self, s: Pot, action: int) -> Any:
            return points(s.pot) if action == STOP else 0

    game = Floats()
    with pytest.warns(GrowthWarning, match=f"no cap of pot is proved: .*{fault}"):
        assert finite(game) is game


class Bank(NamedTuple):
    turn: int
    pot: int
    total: int


class Skunk(Stopping):
    """Five turns. Stopping banks the pot, a one loses all points; they count at the end."""

    def start(self) -> Any:
        return Bank(1, 0, 0)

    def reward(self, s: Any, action: int) -> int:
        return s.total + s.pot if action == STOP and s.turn == 5 else 0

    def outcomes(self, s: Any, action: int) -> Any:
        then = END if s.turn == 5 else AGAIN
        if action == STOP:
            yield 1, then, Bank(s.turn + 1, 0, s.total + s.pot)
        else:
            yield 1, then, Bank(s.turn + 1, 0, 0)
            for face in range(2, 7):
                yield 1, AGAIN, Bank(s.turn, s.pot + face, s.total)


def test_points_banked_without_a_limit_are_refused_early(monkeypatch):
    """No cap stops their growth, and a growing field lowers the limit on states."""
    with pytest.warns(GrowthWarning, match="from pot=1 or total=1 on doesn't end the growth$"):
        assert finite(Skunk()).rest is None
    grows = (
        r"more than {0} states.*; let the game end where pot is large, or cap it with min\(\); "
        "if pot has an end, "
    )
    monkeypatch.setattr(limits, "MAX_STATES_INTERPRETED", 100_000)
    with pytest.raises(TooManyStates, match=grows.format("10,000")):
        rollwise.build(Skunk(), mode="interpreted")
    with pytest.raises(TooManyStates, match="more than 20,000 states"):
        rollwise.build(Skunk(), mode="interpreted", max_states=20_000)


@pytest.mark.needs_jit
def test_a_growing_field_lowers_the_limit_of_compiled_rules_each_time(monkeypatch):
    monkeypatch.setattr(limits, "MAX_STATES", 300_000)
    for _ in range(2):
        with pytest.raises(TooManyStates, match=r"more than 30,000 states.* cap it with min\(\)"):
            rollwise.build(Skunk())


def test_growth_does_not_depend_on_the_speed_of_the_computer(monkeypatch):
    """A limit on the outcomes looked at decides; the time is for slow rules alone."""
    monkeypatch.setattr(growth, "LONGEST", 600.0)
    rules = Rules(OneDie())
    trial = Interpreter(rules, rules.few_roots(100), 1_000)
    trial.run(stop_after=100)
    told = growth_of(rules, trial.states)
    assert "in a play of 20,000 moves" in told.fault
    monkeypatch.setattr(growth, "MOST_LOOKED_AT", 7_000)  # seven for each position
    assert "in a play of 1,000 moves" in growth_of(rules, trial.states).fault


class Step(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class LongWalk(Game):
    """A walk of 10,000 steps, each in one of two ways."""

    numbers: int = 3
    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"
    action_names: ClassVar = ("walk", "run")

    def start(self):
        return Step(0, 0)

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        if s.x < 10_000:
            return [(1, AGAIN, Step(s.x + 1, (3 * s.y + action + 1) % self.numbers))]
        return [(1, END, s)]

    def reward(self, s, action):
        return 1.0


@pytest.mark.parametrize(
    ("numbers", "fault"),
    [(3, "no action stops within 30 moves"), (4096, "more than 500 positions follow")],
    ids=["few", "many"],
)
def test_a_look_at_many_moves_ends(numbers, fault, monkeypatch):
    """Thirty moves with two actions are 2^30 ways, to few or to many positions."""
    monkeypatch.setattr(remainder, "MOST_FOLLOWED", 500)
    rest = Rest(LongWalk(numbers), {0: 1}, {0: 0}, {}, {0: 1})
    with pytest.raises(Unproved, match=fault):
        prove_rest(rest, [(0, 0)], lambda state, passes: Fraction(0))


def test_unknown_numbers_answer_as_all_numbers_do():
    x, y = Unknown.named(0), Unknown.named(1)
    assert (2 * x + 3 - x) * (y + 1) == x * y + x + 3 * y + 3
    assert x + 1 > 0
    assert x + y >= 0
    assert not x + 3 < 3
    assert max(x + 2, 1) == x + 2
    assert (6 * x + 8) % 3 == 2
    assert (6 * x + 8) // 3 == 2 * x + 2
    for unsure in (lambda: x > 3, lambda: x - y > 0, lambda: x % 2, lambda: x == 2):
        with pytest.raises(Undecided):
            unsure()
    for lost in (lambda: x / 2, lambda: range(x), lambda: 0.5 * x, lambda: float(x)):
        with pytest.raises(Unfollowed):
            lost()


BONUS = {50: 1000}


class Bonus(OneDie):
    """Stopping at 50 pays 1000 more, beyond the number from which it would be best otherwise."""

    def more(self, pot: Any) -> bool:
        return pot == 50

    def reward(self, s: Pot, action: int) -> Any:
        return s.pot + 1000 * self.more(s.pot) if action == STOP else 0


def caught(pot: Any) -> bool:
    try:
        return bool(pot == 50)
    except Exception:
        return False


def of_type(pot: Any) -> type:
    return type(pot)


def matched(pot: Any) -> bool:
    match pot:
        case int():
            return pot == 50
    return False


@pytest.mark.parametrize(
    "more",
    [
        lambda self, pot: pot in BONUS,
        lambda self, pot: pot in {50, 51},
        lambda self, pot: cache(lambda x: x == 50)(pot),
        lambda self, pot: str(pot) == "50",
        lambda self, pot: f"{pot}" == "50",
        lambda self, pot: isinstance(pot, int) and pot == 50,
        lambda self, pot: type(pot) is int and pot == 50,
        lambda self, pot: pot.__class__ is int and pot == 50,
        lambda self, pot: hasattr(pot, "bit_count") and pot == 50,
        lambda self, pot: of_type(pot) is int and pot == 50,
        lambda self, pot: bool((np.array([50]) == pot).any()),
        lambda self, pot: pot == 50.0,
        lambda self, pot: pot == Decimal(50),
        lambda self, pot: caught(pot),
        lambda self, pot: matched(pot),
    ],
)
def test_no_question_has_another_answer_for_unknown_numbers(more):
    """Otherwise stopping is "proved" best from 15 on, without the bonus at 50."""
    assert finite(type("Asks", (Bonus,), {"more": more})()).rest is None


@pytest.mark.parametrize("number", [50, np.int64(50), Fraction(50)])
def test_a_bonus_beyond_is_seen(number):
    game = type("Equal", (Bonus,), {"more": lambda self, pot: pot == number})()
    values = [Fraction(0)] * 207  # by hand, beyond 200 without rolls
    for pot in range(206, -1, -1):
        stop = Fraction(pot + 1000 * (pot == 50)) if pot else Fraction(0)
        go_on = sum(values[pot + 1 : pot + 6]) / 6 if pot <= 200 else Fraction(0)
        values[pot] = max(stop, go_on)
    assert rollwise.solve(game).values[0] == pytest.approx(float(values[0]), abs=1e-9)


def test_rules_that_fail_for_large_numbers_stay_as_they_are():
    class Listed(Stopping):
        def reward(self, s: Pot, action: int) -> Any:
            return {pot: pot for pot in range(70_000)}[s.pot] if action == STOP else 0

        def rolled(self, s: Pot) -> Any:
            yield 1, END, s
            yield 5, AGAIN, Pot(s.pot + 1)

    assert finite(Listed()).rest is None
