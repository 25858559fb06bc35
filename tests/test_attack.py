"""Random rule sheets against exact fractions: a sample of `python -m benchmarks.attack`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from benchmarks.attack import Attack
from benchmarks.attack_games import sheet
from benchmarks.exact import Option, chain_values, game_values, total_values, worth_of_endless

ONE = Fraction(1)
# Once refused, or proved by one proof only: a layer from which nobody ends, points that may be
# won and lost on the way, a shortest game beside a trap, seats that play for payoffs.
FOUND = (74, 258, 309, 546, 623, 981)


@pytest.mark.parametrize("seed", range(40))
def test_answers_to_random_rules_are_exact(seed, monkeypatch):
    monkeypatch.setattr(Attack, "look_at_layers", lambda attack, exact: None)
    attack = Attack(sheet(seed, 4), modes=("interpreted",))
    attack.run()
    assert not attack.faults


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.parametrize("seed", [*FOUND, *range(100, 104)])
def test_answers_by_layers_and_of_compiled_rules_are_exact(seed):
    attack = Attack(sheet(seed, 4))
    attack.run()
    assert not attack.faults


def test_a_third_action_becomes_best_beside_a_mixture_of_two():
    """The probabilities of its state once added up to more than 1."""
    attack = Attack(sheet(721602, 8))
    attack.run()
    assert (attack.outcome, attack.faults) == ("equilibrium", [])


def test_the_reference_knows_what_endless_play_is_worth():
    """Who waits for ever draws or loses; to leave is a loss of 2 with certainty, or a win of 1
    with one chance in three."""
    here, there = ("a", 0), ("a", 1)
    rows = {
        here: [Option(-ONE / 3, {}), Option(Fraction(0), {there: ONE})],
        there: [Option(ONE / 3, {}), Option(Fraction(0), {here: ONE})],
    }
    sign = {here: 1, there: -1}
    drawn, _ = game_values(rows, sign, worth_of_endless("draw"))
    assert drawn == {here: 0, there: 0}
    for pessimist, value in ((0, -ONE / 3), (1, ONE / 3)):  # both wait: whoever gives in loses
        lost, _ = game_values(rows, sign, worth_of_endless("lose", pessimist))
        assert lost[here] == lost[there] == value


def test_the_reference_counts_points():
    spot = ("a", 0)
    rest = Option(-ONE, {spot: ONE})
    assert total_values({spot: [Option(-ONE, {spot: ONE / 2}), rest]}) == {spot: -2}
    assert total_values({spot: [rest]}) == {spot: -np.inf}
    assert total_values({spot: [Option(ONE, {}), Option(Fraction(0), {spot: ONE})]}) is None
    assert (
        chain_values({spot: Option(ONE, {spot: ONE / 4})}, lambda seats: None)[spot] == ONE / 3 * 4
    )
