"""Exact distributions: against fractions, play and other games; and play unrolled by the score."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import naive
import numpy as np
import pytest
from graphs import assemble, games_to_win
from hypothesis import given, settings
from hypothesis import strategies as st
from little_games import Ladder

from rollwise import build, evaluate, solve
from rollwise.analysis import observed_scores
from rollwise.analysis.chain import distribution_given, followed
from rollwise.analysis.contest import Aims
from rollwise.analysis.distributions import distribution, distributions, exact_distribution
from rollwise.answer.references import Policies
from rollwise.derive.by_score import by_score, points_to_come, whole_points
from rollwise.errors import EndlessPlay, RulesError, UsageError
from rollwise.game import Game
from rollwise.games.snakes_and_ladders import SnakesAndLadders
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


GAMES = [Threes(dice=2), Threes(dice=3, skip=False), Ladder(top=6, share=1.0), Ladder(share=2.0)]


def naive_pairs(game):
    """Every pair of a state and a score with all that follows, straight from the rules."""
    rules = naive.explore(game)
    queue = [(game.start(), 0)]
    found = {}
    for state, score in queue:  # grows while it runs
        if (state, score) in found:
            continue
        moves = {}
        for label, outcomes in rules[state].items():
            after = score + int(game.reward(state, label))
            moves[label] = [(w, nxt, after) for w, _, nxt in outcomes]
            queue += [(nxt, after) for _, nxt, _ in moves[label] if nxt is not None]
        found[state, score] = moves
    return found


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_every_pair_and_what_follows(game):
    scored = by_score(build(game))
    graph = scored.graph
    pairs = naive_pairs(game)
    kind = type(game.start())
    names = [(kind(*row[:-1]), row[-1]) for row in graph.states.tolist()]
    assert set(names) == pairs.keys()
    assert len(names) == len(pairs)
    for s, name in enumerate(names):
        for a in range(graph.action_indptr[s], graph.action_indptr[s + 1]):
            expected = pairs[name][graph.action_label[a]]
            part = slice(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
            weights: Counter[tuple[object, int]] = Counter()  # equal outcomes may be one
            for w, t in zip(graph.outcome_weight[part], graph.outcome_state[part], strict=True):
                ends = t >= graph.n_states
                follows = (None, scored.scores[t - graph.n_states]) if ends else names[t]
                weights[follows] += int(w)
            asked: Counter[tuple[object, int]] = Counter()
            for weight, nxt, after in expected:
                asked[nxt, after] += weight
            assert weights == asked


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_points_to_come(game):
    graph = build(game)
    low, high = points_to_come(graph, whole_points(graph))
    scored = by_score(graph, from_all_states=True)
    for s in range(graph.n_states):
        alone = naive_ends(scored.graph, s, scored.scores)
        assert (low[s], high[s]) == (min(alone), max(alone))


def test_points_to_come_of_a_cycle_with_points_are_refused():
    """The loop over them would never end."""
    graph = build(SnakesAndLadders())
    with pytest.raises(RulesError, match="can lead back to it, so that the points of a play have"):
        points_to_come(graph, np.ones(graph.n_outcomes, np.int64))


def naive_ends(graph, state, scores):
    """All final scores that can be reached."""
    seen, queue, ends = {state}, [state], set()
    for s in queue:
        first, last = graph.outcome_indptr[graph.action_indptr[s : s + 2]]
        for t in graph.outcome_state[first:last].tolist():
            if t >= graph.n_states:
                ends.add(int(scores[t - graph.n_states]))
            elif t not in seen:
                seen.add(t)
                queue.append(t)
    return ends


@given(st.lists(st.integers(-5, 5), min_size=13, max_size=13))
def test_any_payoff_on_the_final_score(payoffs):
    """An aim's certified values, against the recursion in fractions."""
    scored = by_score(build(Threes(dice=2)))
    aim = Aims(scored).solve(np.array(payoffs, np.float64))
    graph = scored.graph
    exact: dict[int, Fraction] = {graph.n_states + i: Fraction(x) for i, x in enumerate(payoffs)}
    for s in graph.components.order.tolist():
        worths = []
        for a in range(graph.action_indptr[s], graph.action_indptr[s + 1]):
            part = slice(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
            weights = graph.outcome_weight[part].tolist()
            after = [exact[t] for t in graph.outcome_state[part].tolist()]
            worths.append(sum(w * x for w, x in zip(weights, after, strict=True)) / sum(weights))
        exact[s] = max(worths)
        assert abs(Fraction(float(aim.values[s])) - exact[s]) <= aim.error_bounds[s]


def naive_results(graph, policy, steps=5000) -> Counter | None:
    """Results of the first player under one policy of all, step by step; None if some has none."""
    found, mass = Counter(), Counter({(0, 0): 1.0})
    after = defaultdict(set)
    for _ in range(steps):
        before, mass = mass, Counter()
        for (s, seat), amount in before.items():
            for a in range(graph.action_indptr[s], graph.action_indptr[s + 1]):
                ways = range(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
                total = sum(graph.outcome_weight[k] for k in ways)
                for k in ways if policy.probability[a] else ():
                    share = amount * policy.probability[a] * graph.outcome_weight[k] / total
                    if graph.outcome_state[k] < 0:
                        found[int((1 - 2 * seat) * graph.outcome_payoff[k])] += share
                    else:
                        node = int(graph.outcome_state[k]), seat ^ int(graph.outcome_passes[k])
                        after[s, seat].add(node)
                        mass[node] += share
    for node, amount in mass.items():
        reached = {node}
        while more := set().union(*(after[one] for one in reached)) - reached:
            reached |= more
        stays = {seat for _, seat in reached}
        if amount > 1e-9 and graph.endless == "lose" and len(stays) > 1:
            return None
        found[0 if graph.endless == "draw" else 2 * min(stays) - 1] += amount
    return found


@pytest.mark.parametrize("endless", ["draw", "lose"])
@pytest.mark.parametrize("players", [1, 2])
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_endless_play_is_a_result(players, endless, data):
    graph = data.draw(games_to_win(players, endless))
    counts = np.diff(graph.action_indptr)
    mixes = data.draw(st.booleans())
    first = np.arange(graph.n_actions) == graph.action_indptr[:-1][graph.action_state]
    chance = 1.0 / counts[graph.action_state] if mixes else first.astype(np.float64)
    policy = Policy("mine", chance)
    wanted = naive_results(graph, policy)
    play = followed(graph, [policy] * players)
    if wanted is None:
        with pytest.raises(EndlessPlay, match="by mine play can go round for ever"):
            play.distribution()
        return
    found = play.distribution()
    for value, probability in zip(found.values.tolist(), found.probabilities.tolist(), strict=True):
        assert probability == pytest.approx(wanted[value], abs=1e-6)
    values = evaluate(Policies(graph), policy, starts=[0]).values
    assert found.mean == pytest.approx(values[0], abs=1e-9)


def test_counts_and_events_of_endless_play_have_no_number():
    graph = assemble([[(0.0, [(1, AGAIN, 0)])]], players=1, endless="draw")
    policy = Policy("waits", np.ones(1))
    assert distribution(graph, policy).trimmed().values.tolist() == [0]
    play = followed(graph, [policy], settles=False)
    with pytest.raises(EndlessPlay, match="by waits play can go round for ever.*take another one"):
        distribution(graph, policy, count="0")
    with pytest.raises(EndlessPlay, match="by waits play can go round for ever"):
        distribution_given(play, "number == 0")
