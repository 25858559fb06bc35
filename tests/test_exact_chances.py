"""Chances as fractions: parameters, weights of outcomes and of throws."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

import rollwise
from rollwise import AGAIN, LOSE, WIN, Game, build, errors, parameter
from rollwise.errors import ParameterError, RollwiseError
from rollwise.games import create, find
from rollwise.games.pig import Pig
from rollwise.methods import run_method


class Coins(NamedTuple):
    coins: int


@dataclass(frozen=True)
class Ruin(Game):
    """One coin at a time, up to four."""

    p: Fraction = parameter(Fraction(2, 5), at_least=0, at_most=1)
    thrown: bool = False
    players: ClassVar = 1

    def start(self) -> Coins:
        return Coins(2)

    def actions(self, s: Coins) -> Iterator[int]:
        yield 0

    def outcomes(self, s: Coins, action: int) -> Iterator[tuple[Fraction, int, Coins]]:
        yield self.p, WIN if s.coins == 3 else AGAIN, Coins(s.coins + 1)
        yield 1 - self.p, LOSE if s.coins == 1 else AGAIN, Coins(s.coins - 1)


@dataclass(frozen=True)
class ThrownRuin(Ruin):
    """The same with the coin as a throw."""

    def throws(self, s: Coins) -> Iterator[tuple[Fraction, int]]:
        yield self.p, 1
        yield 1 - self.p, -1

    def actions(self, s: Coins, throw: int) -> Iterator[int]:  # type: ignore[override]
        yield 0

    def outcomes(self, s: Coins, throw: int, action: int) -> Iterator[tuple[int, int, Coins]]:  # type: ignore[override]
        coins = s.coins + throw
        yield 1, {0: LOSE, 4: WIN}.get(coins, AGAIN), Coins(coins)


@pytest.mark.parametrize("kind", [Ruin, ThrownRuin])
@pytest.mark.parametrize(("p", "chance"), [("2/5", "4/13"), ("0.25", "1/10"), ("1/3", "1/5")])
def test_fractions_are_exact(kind, p, chance):
    game = create(kind, {"p": p})
    found = run_method(build(game), "exact")
    assert (found.fractions[0] + 1) / 2 == Fraction(chance)
    assert game.parameters["p"] == str(Fraction(p))


def test_a_chance_out_of_range_is_refused():
    with pytest.raises(ParameterError, match="from 0 to 1"):
        Ruin(Fraction(7, 5))
    with pytest.raises(ParameterError, match="a number such as 2/5"):
        create(Ruin, {"p": "two"})


# ---- parameters that are words: a text among given ones, and members of an enumeration


RULES = """
import enum
from dataclasses import dataclass
from typing import NamedTuple

from rollwise import PASS, WIN, Game, parameter, policy


class Wind(enum.Enum):
    CALM = 0
    FROM_BEHIND = 2


class Place(NamedTuple):
    mine: int
    theirs: int


@dataclass(frozen=True)
class Roads(Game):
    \"\"\"A race along the road or through the wood, where one may run and fall.\"\"\"

    path: str = parameter("road", among=("road", "wood"), about="the way")
    wind: Wind = parameter(Wind.CALM, about="where the wind comes from")
    sides: int = parameter(6, among=(4, 6), variant=True, about="sides of the die")
    squares: int = 12

    def start(self):
        return Place(0, 0)

    def actions(self, s):
        yield 0
        if self.path == "wood":
            yield 1

    def outcomes(self, s, action):
        pushed = 2 if self.wind is Wind.FROM_BEHIND else 0
        if action == 1:
            yield self.sides, PASS, Place(s.theirs, s.mine)
        for face in range(1, self.sides + 1):
            place = s.mine + (2 * face if action == 1 else face) + pushed
            if place >= self.squares:
                yield 1, WIN, s
            else:
                yield 1, PASS, Place(s.theirs, place)

    @policy
    def run_in_the_wood(self, s):
        return 1 if self.path == "wood" else 0
"""


@pytest.fixture
def roads(tmp_path, monkeypatch):
    (tmp_path / "roads.py").write_text(RULES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return find("roads.py:Roads")


EACH = [
    {},
    {"path": "wood"},
    {"wind": "from-behind"},
    {"path": "wood", "wind": "from-behind", "sides": "4"},
]


@pytest.mark.needs_jit
def test_compiled_rules_read_words(roads):
    graphs = {}
    for values in EACH:
        game = create(roads, values | {"squares": "30"})
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # rules that can't be compiled warn
            graph = rollwise.build(game, mode="compiled")
        assert graph.content_hash == rollwise.build(game, mode="interpreted").content_hash
        graphs[graph.content_hash] = graph
    assert len(graphs) == len(EACH)  # each is another game


@pytest.mark.needs_jit
def test_compiled_policies_read_words(roads, monkeypatch):
    monkeypatch.setattr("rollwise.builders.limits.SMALL", 100)  # compile the policy of a small game
    wood = create(roads, {"path": "wood", "squares": "30"})
    solution = rollwise.solve(wood, mode="compiled")
    runs = rollwise.evaluate(solution, "run-in-the-wood").values
    interpreted = rollwise.evaluate(rollwise.solve(wood, mode="interpreted"), "run-in-the-wood")
    assert np.array_equal(runs, interpreted.values)
    assert not np.array_equal(runs, solution.values)


# ---- parameters of games: their types and ranges, and the errors that name them


@dataclass(frozen=True)
class Tuned(Pig):
    whole: int = parameter(3, at_least=1, at_most=9)
    real: float = parameter(0.5, at_least=0)
    flag: bool = False


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"whole": 0}, "tuned: whole must be from 1 to 9, not 0"),
        ({"whole": 10}, "tuned: whole must be from 1 to 9, not 10"),
        ({"whole": 2.0}, "tuned: whole must be a whole number, not 2.0"),
        ({"whole": True}, "tuned: whole must be a whole number, not True"),
        ({"whole": "3"}, "tuned: whole must be a whole number, not '3'"),
        ({"real": -0.1}, "tuned: real must be at least 0, not -0.1"),
        ({"real": float("nan")}, "tuned: real must be a finite number, not nan"),
        ({"real": None}, "tuned: real must be a number such as 0.4 or 2/5, not None"),
        ({"flag": 1}, "tuned: flag must be true or false, not 1"),
        ({"target": 0}, "tuned: target must be from 1 to 30,000, not 0"),
    ],
    ids=str,
)
def test_parameters_are_checked(values, said):
    with pytest.raises(ParameterError) as caught:
        Tuned(**values)
    assert str(caught.value) == said


def test_a_parameter_of_a_double_is_typed_as_a_fraction_too():
    assert create(Tuned, {"real": "45/13"}).real == 45 / 13
    for text in ("45/0", "4/", "1e400/1"):
        with pytest.raises(ParameterError, match="real must be a"):
            create(Tuned, {"real": text})


def test_every_error_is_in_the_tree_and_has_an_exit_code():
    ours = [
        kind for kind in vars(errors).values() if getattr(kind, "__module__", "") == errors.__name__
    ]
    kinds = [kind for kind in ours if isinstance(kind, type) and not issubclass(kind, Warning)]
    assert all(issubclass(kind, RollwiseError) for kind in kinds)
    assert {kind.exit_code for kind in kinds} == {1, 2}
