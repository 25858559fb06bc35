"""Exact distributions: against fractions, against play, and against other games."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from rollwise import build, solve
from rollwise.analysis import observed_scores
from rollwise.analysis.distributions import distribution, distributions, exact_distribution
from rollwise.answer.references import Policies
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.games.threes import Threes
from rollwise.graph.policies import Policy
from rollwise.then import AGAIN, END

pytestmark = pytest.mark.kernels


class Spot(NamedTuple):
    place: int
    waiting: int


def naive_distribution(moves_of, state, chance) -> Counter:
    """By the definition, for games whose plays can't come back."""
    found: Counter = Counter()
    for label, share in chance(state):
        points, outcomes = moves_of(state, label)
        total = sum(weight for weight, _ in outcomes)
        for weight, after in outcomes:
            p = share * Fraction(weight, total)
            rest = {0: 1} if after is None else naive_distribution(moves_of, after, chance)
            for value, q in rest.items():
                found[points + value] += p * q
    return found


@pytest.mark.parametrize("policy", ["optimal", "take-one", "random"])
def test_two_dice_against_the_definition(policy):
    game = Threes(dice=2)
    solution = solve(game)
    graph = solution.graph
    plan = solution.policy if policy == "optimal" else Policies(graph, game).find(policy)

    def moves_of(s, a):
        part = slice(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
        after = [None if t < 0 else t for t in graph.outcome_state[part].tolist()]
        weights = graph.outcome_weight[part].tolist()
        return int(graph.action_reward[a]), list(zip(weights, after, strict=True))

    def chance(s):
        for a in range(graph.action_indptr[s], graph.action_indptr[s + 1]):
            if plan.probability[a]:
                yield a, Fraction(plan.probability[a]).limit_denominator(100)

    found = distributions(graph, plan)
    for s in range(graph.n_states):
        naive = naive_distribution(moves_of, s, chance)
        row = found.of(s)
        assert sum(naive.values()) == 1
        for value, probability in zip(row.values.tolist(), row.probabilities, strict=True):
            assert abs(Fraction(float(probability)) - naive[value]) <= row.error_bound
        assert exact_distribution(graph, plan, state=s) == {k: v for k, v in naive.items() if v}


def test_the_distribution_given_a_condition():
    graph = build(Threes(dice=2))
    plan = Policies(graph, Threes(dice=2)).find("take-one")
    exact = {k: v for k, v in exact_distribution(graph, plan).items() if k <= 3}
    found, share = distribution(graph, plan).trimmed().given(lambda x: x <= 3)
    assert found.values.tolist() == list(exact)
    assert share == pytest.approx(float(sum(exact.values())), abs=1e-14)
    for probability, chance in zip(found.probabilities.tolist(), exact.values(), strict=True):
        assert (
            abs(Fraction(probability) - chance / sum(exact.values())) <= found.error_bound < 1e-12
        )
    with pytest.raises(UsageError, match="no play meets the condition"):
        distribution(graph, plan).given(lambda x: x < 0)


@dataclass(frozen=True)
class SlowRing(Game):
    """A ring that play leaves after 10^8 moves on average, for one point or for two in turn. Who
    stays away goes round for ever elsewhere."""

    size: int = 2
    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"

    def start(self):
        return Spot(0, 0)

    def roots(self):
        yield Spot(0, 0)
        yield Spot(0, 2)

    def actions(self, s):
        yield 0
        if s.waiting == 2:
            yield 1

    def outcomes(self, s, action):
        if s.waiting == 2 and action == 1:
            yield 1, AGAIN, s
        elif s.waiting:
            yield 1, END, s
        else:
            yield 10**8, AGAIN, Spot((s.place + 1) % self.size, 0)
            yield 1, AGAIN, Spot(s.place % 2, 1)

    def reward(self, s, action):
        return float(s.place + 1 if s.waiting == 1 else -action)


@pytest.mark.parametrize("size", [2, pytest.param(300, marks=pytest.mark.needs_jit)])
def test_a_slow_cycle(size):
    """The first of each two moves leaves the ring for one point: with the chance 1/(2 - e)."""
    graph = build(SlowRing(size=size))
    plan = Policy.of_function(graph, SlowRing(size=size), "stays", lambda s: s.waiting // 2)
    with pytest.raises(UsageError, match="can come back"):
        exact_distribution(graph, plan)
    found = distribution(graph, plan).trimmed()
    even = 1 / (2 - Fraction(1, 10**8 + 1))
    for value, p in zip(found.values.tolist(), found.probabilities.tolist(), strict=True):
        assert abs(Fraction(p) - {1: even, 2: 1 - even}[value]) <= found.error_bound
    assert found.error_bound < 1e-13 or size > 256


def test_simulated_scores_are_counted_some_games_at_once(monkeypatch):
    """Ctrl-C is heard between the steps of a batch; equal scores are counted together."""
    solution = solve(Threes(dice=2))
    graph, policy, expected = solution.graph, solution.policy, distribution(solution)
    monkeypatch.setattr(observed_scores, "AT_ONCE", 1000)
    found = observed_scores.simulated_scores(graph, policy, expected, games=2500, seed=4)
    assert found.times.sum() == found.fit.games == 2500
    assert (np.diff(found.values) > 0).all()
    one_by_one = observed_scores.goodness_of_fit(np.repeat(found.values, found.times), expected)
    assert one_by_one.chi_square == pytest.approx(found.fit.chi_square)
    assert one_by_one.sd == pytest.approx(found.fit.sd)
    assert found.fit.p_shape > 1e-6
