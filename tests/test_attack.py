"""Random rule sheets against exact fractions: a sample of `python -m benchmarks.attack`."""

from __future__ import annotations

from fractions import Fraction

import pytest
from benchmarks.attack import Attack
from benchmarks.attack_games import sheet

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
