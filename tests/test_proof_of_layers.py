"""The proof of a layer, and what the engine finds, against values in fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from benchmarks.attack import Attack
from benchmarks.attack_games import sheet
from conftest import examples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rollwise import build
from rollwise.builders.layer_rules import block_from, layer_of
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import expanded
from rollwise.engine.bounds import bounds_of, mended, values_of
from rollwise.games.pig import Pig
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.layers import has_no_cycle, in_solving_order
from rollwise.machine.pipeline import on_both_cores
from rollwise.proofs.layers import broken, claims, intervals, staying, unproved

pytestmark = pytest.mark.kernels

NOTHING = np.empty(0)


def whole(game):
    """A game as one layer, and its positions in the order in which the rules are read."""
    rules = Rules(game)
    arrays, _ = expanded(rules, build(game, mode="interpreted").states)
    return layer_of(rules, arrays, [(0, block_from(arrays))], len(arrays.states), 0), arrays.states


def answer(layer):
    values = values_of(layer, NOTHING, lambda: True)
    proved = bounds_of(layer, values, (NOTHING, NOTHING))
    return values, None if proved is None else proved.bounds


def is_proved(layer, values, bounds):
    return not any(broken(layer, claims(layer, values, bounds, NOTHING, NOTHING)))


def are_true(values, bounds, truth):
    """Whether all errors are within their bounds, with nothing rounded."""
    every = zip(values.tolist(), bounds.tolist(), truth, strict=True)
    return all(abs(Fraction(value) - true) <= Fraction(bound) for value, bound, true in every)


@pytest.mark.slow
@settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.filter_too_much]
)
@given(st.integers(0, 10**6), st.booleans(), st.integers(0, 10**6))
def test_what_is_proved_is_true(seed, orders, claim):
    """Values of the engine with its bounds; and others, with wider and narrower ones."""
    attack = Attack(sheet(seed, 5))
    assume(attack.game.players <= 2 and attack.game.kind != "pool")
    layer, states = whole(attack.game)
    assume(not len(staying(layer)))
    layer = in_solving_order(layer) if orders else layer
    exact = attack.solved(attack.rows)
    assert exact is not None
    places = states[layer.order if orders else slice(None), 0].tolist()
    truth = [exact[("at", place), 0] for place in places]
    values, bounds = answer(layer)
    assume(bounds is not None)  # one game in 10,000 is left too seldom for doubles
    assert are_true(values, bounds, truth)
    random = np.random.default_rng(claim)
    for _ in range(10):
        scale = 10.0 ** random.uniform(-2, 3)
        others = values + random.normal(size=layer.n) * bounds * random.choice([0.0, 0.1, 1.0])
        claimed = scale * bounds * random.uniform(0.5, 1.0, layer.n)
        if is_proved(layer, others, claimed):
            assert are_true(others, claimed, truth)


@pytest.mark.parametrize("game", [Pig(target=10), SuperSix(5), RoyalUr(pieces=1), Threes(dice=3)])
@pytest.mark.parametrize("orders", [False, True])
def test_answers_are_proved_and_shifted_ones_are_not(game, orders):
    layer, _ = whole(game)
    assert not len(staying(layer))
    layer = in_solving_order(layer) if orders else layer
    values, bounds = answer(layer)
    assert bounds.max() < 1e-11
    wide = 4.0 * bounds
    assert is_proved(layer, values, wide)
    for shift in (1.5, -1.5):
        assert not is_proved(layer, values + shift * wide, wide)
    one = values.copy()
    one[layer.n // 2] += 3.0 * wide.max()  # a single value that is wrong
    assert not is_proved(layer, one, wide)


def test_a_few_bounds_without_a_proof_grow():
    layer, _ = whole(RoyalUr(pieces=1))
    values, bounds = answer(layer)
    off = np.full(layer.n, 1e-15)
    narrow = bounds.copy()
    narrow[layer.n // 2] *= 0.9
    grown = narrow.copy()
    assert not is_proved(layer, values, narrow)
    assert mended(layer, values, grown, (NOTHING, NOTHING), off)
    assert is_proved(layer, values, grown)
    assert (grown >= narrow).all()
    assert grown.max() <= 1.1 * bounds.max()
    assert not mended(layer, values, 0.5 * bounds, (NOTHING, NOTHING), off)  # too many


def test_a_proof_in_halves_is_the_same(monkeypatch):
    layer, _ = whole(RoyalUr(pieces=1))
    values, bounds = answer(layer)
    bounds[:: layer.n // 7] *= 0.5
    claimed = claims(layer, values, bounds, NOTHING, NOTHING)
    monkeypatch.setattr("rollwise.layers.layer.WORTH_HALVING", 1)
    halves = layer.cut()
    assert len(halves.blocks) == 2
    weak = unproved(layer, claimed)
    assert 0 < len(weak) < layer.n
    assert np.array_equal(weak, unproved(halves, claimed, on_both_cores))
    # places without a block in the layer stay without a proof
    part = replace(halves, blocks=halves.blocks[:1])
    middle = halves.blocks[1][0]
    assert np.array_equal(unproved(part, claimed)[-(layer.n - middle) :], range(middle, layer.n))


def test_players_who_improve_in_a_circle_are_solved():
    """Evaluated policies of both players return after some steps, and plain sweeps settle."""
    layer, states = whole((attack := Attack(sheet(751281, 5))).game)
    values, bounds = answer(layer)
    exact = attack.solved(attack.rows)
    truth = [exact[("at", place), 0] for place in states[:, 0].tolist()]
    assert are_true(values, bounds, truth)
    assert bounds.max() < 1e-12


def test_orders_give_the_same_answer():
    for game in (Pig(target=12), SuperSix(6), RoyalUr(pieces=1)):
        plain, _ = whole(game)
        ordered = in_solving_order(plain)
        values, bounds = answer(plain)
        others, more = (ordered.in_reading_order(numbers) for numbers in answer(ordered))
        assert np.all(np.abs(values - others) <= bounds + more)
        assert np.array_equal(ordered.by_place(ordered.in_reading_order(values)), values)


def test_a_game_without_cycles_is_seen_to_have_none():
    assert has_no_cycle(in_solving_order(whole(Threes(dice=3))[0]))
    assert not has_no_cycle(in_solving_order(whole(Pig(target=10))[0]))


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0, 1e-3)), min_size=1, max_size=20))
def test_intervals_are_rounded_on_the_safe_side(pairs):
    values, bounds = np.array(pairs).T
    inner, outer = np.empty((2, len(pairs), 2))
    intervals(values, bounds, False, inner)
    intervals(values, bounds, True, outer)
    for (value, bound), (low, high), (lower, higher) in zip(pairs, inner, outer, strict=True):
        least, most = Fraction(value) - Fraction(bound), Fraction(value) + Fraction(bound)
        assert Fraction(lower) <= least <= Fraction(low)
        assert Fraction(high) <= most <= Fraction(higher)
