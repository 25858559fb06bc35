"""Play unrolled by the score: against its definition, from the rules."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from little_games import Ladder

from rollwise import build
from rollwise.analysis.contest import Aims
from rollwise.derive.by_score import by_score, points_to_come, whole_points
from rollwise.errors import RulesError
from rollwise.games.snakes_and_ladders import SnakesAndLadders
from rollwise.games.threes import Threes

pytestmark = pytest.mark.kernels

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
