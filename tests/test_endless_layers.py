"""Layers of games with throws, whether or not play ends, against values in fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_layers import KINDS, EndlessIsADraw, EndlessIsLost, RandomLayers, truth_of

import rollwise
from rollwise import AGAIN, DRAW, END, LOSE, PASS, WIN, Game
from rollwise.answer.layer_folder import open_folder
from rollwise.answer.verify import verify_layers
from rollwise.errors import EndlessPlay

pytestmark = pytest.mark.needs_jit


@pytest.fixture(autouse=True, params=["small", "large"], scope="module")
def size(request):
    """Whether layers are solved as those of small games are, or as those of large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rollwise.answer.by_layers.ORDERED", 0 if request.param == "large" else 1e12)
        yield request.param


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(
    st.sampled_from([RandomLayers, EndlessIsADraw, EndlessIsLost]),
    st.integers(0, 10**6),
    st.sampled_from(range(len(KINDS))),
)
def test_bounds_enclose_the_truth_and_no_game_with_a_value_is_refused(kind, seed, table):
    game = kind(seed, table)
    truth = truth_of(game)
    if truth is None:
        with pytest.raises(EndlessPlay):
            rollwise.solve_by_layers(game)
        return
    found = rollwise.solve_by_layers(game)
    assert found.error_bound < (1e-4 if KINDS[table] == "slow" else 1e-9)
    rows = map(tuple, found.states.tolist())
    for row, value, bound in zip(rows, found.values, found.error_bounds, strict=True):
        assert abs(Fraction(value) - truth[row]) <= Fraction(bound)


class Rung(NamedTuple):
    height: int
    side: int


@dataclass(frozen=True)
class Stuck(Game):
    """A ladder, at whose end one can only stay."""

    endless: ClassVar = "lose"
    top: int = 6

    def start(self):
        return Rung(0, 0)

    def throws(self, s):
        yield 1, 0
        yield 1, 1

    def actions(self, s, throw):
        yield 0

    def outcomes(self, s, throw, action):
        if s.height == self.top:
            yield 1, AGAIN, s
        else:
            yield 2, AGAIN, Rung(s.height + 1, throw)
            yield 1, WIN, s

    def progress(self, s):
        return s.height


@dataclass(frozen=True)
class Drawn(Stuck):
    """The same where endless play is a draw."""

    name: ClassVar = "stuck"
    endless: ClassVar = "draw"


@dataclass(frozen=True)
class Refused(Stuck):
    """The same where nothing is said."""

    endless: ClassVar = "forbidden"


def test_endless_play_has_its_worth():
    lost, drawn = (rollwise.solve_by_layers(game) for game in (Stuck(), Drawn()))
    assert abs(lost.value - (1 - 2 * (2 / 3) ** 6)) <= lost.error_bound + 1e-15
    assert abs(drawn.value - (1 - (2 / 3) ** 6)) <= drawn.error_bound + 1e-15
    with pytest.raises(EndlessPlay, match="height=6.*say what endless play is worth"):
        rollwise.solve_by_layers(Refused())


def test_a_folder_of_false_values_is_refused(tmp_path):
    """As a faulty engine would have written it: its checksums are those of what it says."""
    rollwise.solve_by_layers(Stuck(), save=tmp_path / "lost")
    assert verify_layers(tmp_path / "lost", Stuck()).verified
    folder = open_folder(tmp_path / "lost", Stuck(), to_write=True)
    false = rollwise.solve_by_layers(Drawn())
    folder.values[:], folder.error_bounds[:] = false.values, false.error_bounds
    for layer, (_, facts) in list(folder.proved.items()):
        folder.keep(layer, facts, {})
    folder.write()
    assert "can't be proved" in verify_layers(tmp_path / "lost", Stuck()).fault


@dataclass(frozen=True)
class Staring(Stuck):
    """Both may pass for ever, which both lose; who doesn't, loses half of the time."""

    def actions(self, s, throw):
        yield 0
        yield 1

    def outcomes(self, s, throw, action):
        if action == 0:
            yield 1, PASS, s
        else:
            yield 1, LOSE, s
            yield 1 + throw, DRAW, s


def test_a_game_without_a_value_is_refused():
    with pytest.raises(EndlessPlay, match="the game may have no value"):
        rollwise.solve_by_layers(Staring())


def test_stakes_may_be_so_small_that_their_products_are_no_normal_numbers():
    game = SmallStakes()
    layered, whole = rollwise.solve_by_layers(game), rollwise.solve(game)
    assert abs(layered.value - whole.value) <= layered.error_bound + whole.error_bound
    assert np.isfinite(layered.error_bound)


@dataclass(frozen=True)
class SmallStakes(Stuck):
    def outcomes(self, s, throw, action):
        yield 1, rollwise.payoff(1e-285), s
        yield 3, PASS, Rung(0, 1 - s.side)


class Leg(NamedTuple):
    leg: int
    fuel: int


@dataclass(frozen=True)
class Detour(Game):
    """Each move costs. Who drives into the leg before the last never ends; one can go round it."""

    players: ClassVar = 1
    objective: ClassVar = "minimize"
    detour: bool = True

    def start(self):
        return Leg(0, 2)

    def progress(self, s):
        return s.leg

    def actions(self, s):
        yield 0
        yield 1
        if s.leg == 1 and self.detour:
            yield 2

    def reward(self, s, action):
        return (1.0, 1.5, 20.0)[action]

    def outcomes(self, s, action):
        if action == 2:
            yield 1, AGAIN, Leg(3, 1)
        elif s.leg == 2 or (action == 0 and s.fuel == 0):
            yield 1, AGAIN, s
        elif action == 1:
            yield 1, AGAIN, Leg(s.leg, min(s.fuel + 1, 3))
        elif s.leg == 3:
            yield 1, END, s
        else:
            yield 2, AGAIN, Leg(s.leg + 1, s.fuel - 1)
            yield 1, AGAIN, Leg(s.leg, s.fuel - 1)


def test_a_layer_that_nobody_can_leave_is_avoided(tmp_path):
    whole, layers = rollwise.solve(Detour()), rollwise.solve_by_layers(Detour(), save=tmp_path)
    assert np.isinf(layers.values).any()
    for s, row in enumerate(whole.graph.states.tolist()):
        k = layers.find(row)
        if np.isinf(whole.values[s]):
            assert layers.values[k] == whole.values[s]
        else:
            off = whole.error_bounds[s] + layers.error_bounds[k]
            assert abs(whole.values[s] - layers.values[k]) <= off
    assert verify_layers(tmp_path, Detour()).verified
