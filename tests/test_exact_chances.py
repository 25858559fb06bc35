"""Chances as fractions: parameters, weights of outcomes and of throws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import pytest

from rollwise import AGAIN, LOSE, WIN, Game, build, parameter
from rollwise.errors import ParameterError
from rollwise.games import create
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
