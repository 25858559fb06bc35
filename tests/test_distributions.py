"""Exact distributions: against fractions, against play, and against other games."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output
from hypothesis import given
from hypothesis import strategies as st

import rollwise
from rollwise import build, solve
from rollwise.analysis.distributions import (
    Distribution,
    distribution,
    distributions,
    exact_distribution,
)
from rollwise.analysis.observed_scores import goodness_of_fit, pooled, read_scores, sample_totals
from rollwise.answer.references import Policies
from rollwise.derive.by_score import whole_points
from rollwise.errors import UsageError
from rollwise.game import AGAIN, END, Game
from rollwise.games.pig import Pig
from rollwise.games.threes import Threes
from rollwise.graph.policies import Policy

pytestmark = pytest.mark.kernels


class Spot(NamedTuple):
    place: int
    waiting: int


@dataclass(frozen=True)
class Queue(Game):
    """Points and waiting: a cycle without points, and points of both signs."""

    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"
    action_names: ClassVar = ("wait", "go")

    def start(self):
        return Spot(0, 0)

    def actions(self, s) -> Iterator[int]:
        yield 0
        if s.waiting == 1:
            yield 1

    def outcomes(self, s, action):
        if action == 1 and s.place == 3:
            yield 1, END, s
        elif action == 1:
            yield 1, AGAIN, Spot(s.place + 1, 0)
        else:
            yield 2, AGAIN, Spot(s.place, 1 - s.waiting)
            yield 1, AGAIN, Spot(s.place, s.waiting)
            if s.waiting == 0:
                yield 3, END, s

    def reward(self, s, action):
        return float(2 - s.place) if action == 1 else 0.0


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


def test_a_chance_that_is_no_simple_fraction_has_no_exact_distribution():
    graph = build(Threes(dice=2))
    choice = next(state for state in graph.view if state.is_choice)
    chances = Policies(graph, Threes(dice=2)).find("random").probability.copy()
    part = choice.action_range
    chances[part.start : part.stop] = 0.0
    chances[part.start], chances[part.start + 1] = 0.5**0.5, 1 - 0.5**0.5
    with pytest.raises(UsageError, match=r"irrational takes .* chance 0\.707.* leave out --exact"):
        exact_distribution(graph, Policy("irrational", chances))


class Rounds(NamedTuple):
    left: int
    last: int


@dataclass(frozen=True)
class Jackpots(Game):
    """Some rounds; in each a small prize or a jackpot, by a risky way or a safe one."""

    rounds: int = 5
    jackpot: int = 10_000_000
    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self):
        return Rounds(self.rounds, 0)

    def actions(self, s):
        yield 0
        yield 1

    def reward(self, s, action):
        return s.last * self.jackpot + action

    def outcomes(self, s, action):
        for last in (0, 1):
            weight = 1 + last * (1 + action)
            if s.left > 0:
                yield weight, AGAIN, Rounds(s.left - 1, last)
            else:
                yield weight, END, s


@pytest.mark.parametrize("policy", ["optimal", "random"])
def test_few_totals_of_many_points_take_little_room(policy):
    policies = Policies.of(Jackpots())
    graph, plan = policies.graph, policies.find(policy)
    found = distribution(graph, plan)  # of 50 million points, of which few are totals
    exact = exact_distribution(graph, plan)
    assert found.values.tolist() == list(exact)
    for value, probability in zip(found.values.tolist(), found.probabilities, strict=True):
        assert abs(Fraction(float(probability)) - exact[value]) <= found.error_bound < 1e-13
    assert len(distributions(Jackpots(jackpot=3), plan).of(0).trimmed().values) <= 3 * 5 + 7


def test_more_totals_than_there_is_room_for_are_refused():
    with pytest.raises(UsageError, match=r"needs .* probabilities at a time, .* in larger units"):
        distribution(Circles())


@dataclass(frozen=True)
class Circles(Game):
    """Goes round once in a while, for many points."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self):
        return Rounds(1, 0)

    def actions(self, s):
        yield 0

    def reward(self, s, action):
        return 2 * 10**9 * s.last if s.left == 0 else 0

    def outcomes(self, s, action):
        if s.left == 0:
            yield 1, END, s
        else:
            yield 1, AGAIN, Rounds(s.left, 1 - s.last)
            yield 1, AGAIN, Rounds(0, s.last)


@pytest.mark.needs_jit
def test_five_dice():
    solution = solve(Threes())
    found = distributions(solution.graph, solution.policy)
    fractions = exact_distribution(solution.graph, solution.policy)
    row = found.of(0)
    assert sum(fractions.values()) == 1
    assert sum(value * p for value, p in fractions.items()) == Fraction(128389171, 22674816)
    for value, p in fractions.items():
        assert abs(Fraction(float(row.probabilities[value])) - p) <= row.error_bound < 1e-13
    assert row.mean == pytest.approx(solution.value, abs=1e-12)
    for s in range(solution.graph.n_states):  # from every state
        assert found.of(s).mean == pytest.approx(solution.values[s], abs=1e-12)


def test_number_of_rolls():
    solution = solve(Threes(skip=False))
    rolls = distributions(solution.graph, solution.policy, count="roll").of(0).trimmed()
    assert rolls.values.tolist() == [1, 2, 3, 4, 5]
    assert rolls.probabilities.sum() == pytest.approx(1, abs=1e-13)
    take_one = Policies(solution.graph, Threes(skip=False)).find("take-one")
    row = distributions(solution.graph, take_one, count="roll").of(0).trimmed()
    assert row.values.tolist() == [5]
    assert row.probabilities[0] == pytest.approx(1, abs=row.error_bound)


def test_a_cycle_without_points():
    graph = build(Queue())
    plan = Policy.uniform(graph)
    row = distributions(graph, plan).of(0).trimmed()
    # By hand: from "not waiting" a play ends with 3/4 of the chance to leave it, and
    # from "waiting" it goes on for sure, in the end, back or ahead.
    back = Fraction(2, 3) / 2  # waiting: half the time wait, of which 2 in 3 go back
    ahead = Fraction(1, 2)
    stay = 1 - back - ahead
    leave = ahead / (1 - stay)
    to_waiting = Fraction(2, 5)
    step = to_waiting * leave / (1 - to_waiting * (1 - leave))
    ends = [(1 - step) * step**k for k in range(4)] + [step**4]
    sums = [0, 2, 3, 3, 2]
    expected: Counter = Counter()
    for total, p in zip(sums, ends, strict=True):
        expected[total] += p
    for value, probability in zip(row.values.tolist(), row.probabilities, strict=True):
        assert abs(Fraction(float(probability)) - expected[value]) <= row.error_bound < 1e-12
    one = distribution(graph, plan).trimmed()
    assert np.array_equal(one.probabilities, row.probabilities)
    assert one.error_bound == row.error_bound
    with pytest.raises(UsageError, match="can come back"):
        exact_distribution(graph, plan)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["optimal", "take-one"])
def test_a_million_simulated_games_agree(policy):
    game = Threes()
    solution = solve(game)
    graph = solution.graph
    plan = solution.policy if policy == "optimal" else Policies(graph, game).find(policy)
    totals = sample_totals(graph, plan, whole_points(graph), 1_000_000, seed=2026)
    tested = goodness_of_fit(totals, distributions(graph, plan).of(0))
    assert tested.cells >= 24
    assert tested.p_shape > 0.001
    assert abs(tested.z) < 4
    wrong = Policies(graph, game).find("take-one" if policy == "optimal" else "random")
    assert goodness_of_fit(totals, distributions(graph, wrong).of(0)).p_shape < 1e-9


@given(st.lists(st.integers(0, 100), min_size=1, max_size=12).filter(any), st.floats(0, 1))
def test_quantiles_and_tails(weights, share):
    p = np.array(weights) / sum(weights)
    row = Distribution(np.arange(-3, len(p) - 3), p, 0.0)
    value = row.quantile(share)
    assert row.at_most(value) >= share - 1e-9
    assert row.at_most(value - 1) <= share + 1e-9
    assert row.at_most(1000) == pytest.approx(1)


def test_no_distribution_without_points():
    graph = build(Pig(target=3))
    with pytest.raises(UsageError, match="has no score"):
        distributions(graph, Policy.uniform(graph))
    with pytest.raises(UsageError, match="no action is called 'jump'"):
        distributions(build(Threes(dice=1)), Policy.uniform(build(Threes(dice=1))), count="jump")


def test_pooling_leaves_five_in_each_cell():
    counts, hopes = pooled(np.array([1.0, 2, 3, 4, 0]), np.array([1.0, 5, 2, 4, 1]))
    assert hopes.tolist() == [6, 7]
    assert counts.tolist() == [3, 7]


def test_scores_from_a_file(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("score\n5\n\n7,\n 3\n")
    assert read_scores(path).tolist() == [5, 7, 3]
    path.write_text("5\nsix\n")
    with pytest.raises(UsageError, match=r"mine\.csv, line 2: 'six' isn't a whole number"):
        read_scores(path)
    path.write_text("5\n")
    with pytest.raises(UsageError, match="holds 1 scores"):
        read_scores(path)
    with pytest.raises(UsageError, match="can't be read"):
        read_scores(tmp_path / "none.csv")


def test_a_score_that_can_not_be():
    solution = solve(Threes(dice=1))
    row = distributions(solution.graph, solution.policy).of(0)
    with pytest.raises(UsageError, match="the score 7 can't be"):
        goodness_of_fit(np.array([3, 7]), row)


@pytest.mark.parametrize("batch", [20, 4_000_000])
@pytest.mark.parametrize("policy", ["optimal", "take-one", "random"])
def test_from_one_state_as_from_all(policy, batch, monkeypatch):
    """Rows that are dropped as the recursion goes weren't needed any more."""
    monkeypatch.setattr("rollwise.analysis.distributions.BATCH", batch)
    game = Threes(dice=3)
    graph = build(game)
    plan = Policies(graph, game).find(policy)
    whole = distributions(graph, plan)
    for state in (0, graph.n_states // 2):
        one, other = distribution(graph, plan, state=state).trimmed(), whole.of(state).trimmed()
        assert np.array_equal(one.values, other.values)
        np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-17)
        assert one.error_bound == other.error_bound
    rolls = distribution(graph, plan, count="roll").trimmed()
    assert np.array_equal(
        rolls.values, distributions(graph, plan, count="roll").of(0).trimmed().values
    )


def test_the_start_alone_needs_few_probabilities(monkeypatch):
    monkeypatch.setattr("rollwise.analysis.distributions.MOST_PLACES", 8_000)
    monkeypatch.setattr("rollwise.analysis.distributions.BATCH", 50)
    with pytest.raises(UsageError, match="from one state"):
        rollwise.distributions(Threes(), "take-one")
    assert rollwise.distribution(Threes(), "take-one").probabilities.sum() == pytest.approx(1)
    assert json.loads(output("distribution", "threes", "--json"))["policies"][0]["mean"] > 5
