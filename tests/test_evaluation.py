"""Policies evaluated, best responses and exploitability, against naive twins and the source."""

from __future__ import annotations

from fractions import Fraction

import naive
import numpy as np
import pytest
from graphs import FOR_TWO, assemble, ending_graphs, graph_and_policies
from hypothesis import given

from rollwise.answer.evaluation import best_response, evaluate
from rollwise.builders import build
from rollwise.derive.seats import take_seats
from rollwise.errors import EndlessPlay, UsageError
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.graph.policies import Policy
from rollwise.methods.result import Status
from rollwise.methods.strategy_iteration import strategy_iteration
from rollwise.methods.sweeping import greedy_actions
from rollwise.then import DRAW, PASS, WIN

pytestmark = pytest.mark.kernels


def passes_of(graph):
    """The part of each coefficient that is a PASS, for `naive.two_seats`."""
    found = {}
    for s in range(graph.n_states):
        for i, a in enumerate(range(graph.action_indptr[s], graph.action_indptr[s + 1])):
            ks = range(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
            total = sum(int(graph.outcome_weight[k]) for k in ks)
            for k in ks:
                t = int(graph.outcome_state[k])
                if t >= 0 and graph.outcome_passes[k]:
                    key = (s, i, t)
                    found[key] = found.get(key, 0) - Fraction(int(graph.outcome_weight[k]), total)
    return found


def naive_seats(graph, first, second):
    """The exact moves of two seats; a seat without a policy keeps its choices."""
    moves = naive.two_seats(naive.moves_of_graph(graph), passes_of(graph))
    for seat, policy in enumerate((first, second)):
        if policy is None:
            continue
        for s in range(graph.n_states):
            begin, end = graph.action_indptr[s], graph.action_indptr[s + 1]
            chances = [Fraction(float(p)) for p in policy.probability[begin:end]]
            moves[seat, s] = [naive.mix(moves[seat, s], chances)]
    return moves


def is_within(values, bounds, exact) -> bool:
    return all(
        abs(Fraction(float(v)) - x) <= Fraction(float(b))
        for v, b, x in zip(values, bounds, exact, strict=True)
    )


@given(case=graph_and_policies())
def test_one_policy_against_another(case):
    graph, (mine, theirs) = case
    exact = naive.exact_values(naive_seats(graph, mine, theirs))
    n = range(graph.n_states)
    found = evaluate(graph, mine, theirs)
    assert found.status is Status.CONVERGED
    assert is_within(found.values, found.bounds, [exact[0, s] for s in n])
    assert is_within(found.values_second, found.bounds_second, [-exact[1, s] for s in n])
    other = evaluate(graph, theirs, mine)
    # the seats change places: what one wins moving first the other loses moving second
    assert other.values_second == pytest.approx(-found.values, abs=1e-12)


@given(case=graph_and_policies(kinds=((2, "win"), (1, "win"), (1, "maximize"), (1, "minimize"))))
def test_one_policy_alone(case):
    graph, (policy, _) = case
    moves = naive.moves_of_graph(graph)
    mixed = {}
    for s, options in moves.items():
        begin, end = graph.action_indptr[s], graph.action_indptr[s + 1]
        chances = [Fraction(float(p)) for p in policy.probability[begin:end]]
        mixed[s] = naive.mix(options, chances)
    exact = naive.evaluate(mixed)
    found = evaluate(graph, policy)
    assert is_within(found.values, found.bounds, [exact[s] for s in range(graph.n_states)])
    scale = max(1.0, float(np.max(np.abs(found.values))))
    for order in ("reversed", "forward", "components", "synchronous"):
        swept = evaluate(graph, policy, method="iterative", theta=1e-13, order=order)
        assert swept.status is Status.CONVERGED
        assert swept.values == pytest.approx(found.values, abs=1e-8 * scale)
        assert swept.bounds is None
    if graph.players == 2:
        assert found.values_second == pytest.approx(-found.values)
        itself = evaluate(graph, policy, policy)
        assert itself.values == pytest.approx(found.values, abs=1e-12)


@given(case=graph_and_policies())
def test_best_responses(case):
    graph, (policy, other) = case
    exact = naive.exact_values(naive_seats(graph, None, policy))
    n = range(graph.n_states)
    found = best_response(graph, policy)
    assert is_within(found.values, found.bounds, [exact[0, s] for s in n])
    assert is_within(found.values_second, found.bounds_second, [-exact[1, s] for s in n])
    # the response is worth what is said of it, and nothing is worth more
    played = evaluate(graph, found.response, policy)
    assert played.values == pytest.approx(found.values, abs=1e-12)
    assert np.all(evaluate(graph, other, policy).values <= found.values + 1e-12)
    game = strategy_iteration(graph).values
    assert np.all(found.values >= game - 1e-12)
    assert np.all(found.values_second >= -game - 1e-12)
    for s in n:
        assert found.exploitability(s) >= -found.exploitability_bound(s)


@given(graph=ending_graphs(kinds=FOR_TWO))
def test_an_optimal_policy_cannot_be_exploited(graph):
    values = strategy_iteration(graph).values
    policy = Policy.of_actions(graph, "optimal", greedy_actions(graph, values))
    found = best_response(graph, policy)
    for s in range(graph.n_states):
        assert abs(found.exploitability(s)) < 1e-12


def test_the_seats_are_told_apart():
    game = HareAndTortoise(steps=6)
    graph = build(game, mode="interpreted")
    seats = take_seats(graph, [None, None]).graph
    assert seats.field_names == (*graph.field_names, "seat")
    assert seats.n_states == 2 * graph.n_states
    assert seats.n_outcomes == 2 * graph.n_outcomes
    both = strategy_iteration(seats).values
    one = strategy_iteration(graph).values
    assert both == pytest.approx(np.concatenate([one, one]), abs=1e-14)


def test_policies_that_never_end():
    graph = assemble([[(0.0, [(1, PASS, 0)]), (0.0, [(1, WIN, None)])]])
    wait = Policy("wait", np.array([1.0, 0.0]))
    win = Policy("win", np.array([0.0, 1.0]))
    assert evaluate(graph, win, wait).values[0] == 1.0
    with pytest.raises(EndlessPlay):
        evaluate(graph, wait)
    swept = evaluate(graph, wait, method="iterative", max_sweeps=10)
    assert swept.status is Status.SWEEP_LIMIT


@pytest.mark.parametrize("method", ["exact", "iterative"])
def test_a_value_of_zero_has_one_sign(method):
    graph = assemble([[(0.0, [(1, DRAW, None)])]])
    found = evaluate(graph, "random", method=method)
    assert not np.signbit([found.values, found.values_second]).any()


@pytest.mark.parametrize("starts", [0, [], [-1], [0.5], [(0, 0, 0)], ["start"]])
def test_starts_are_numbers_of_states(starts):
    with pytest.raises(UsageError, match="it must hold numbers of states of hare-and-tortoise"):
        evaluate(HareAndTortoise(), "random", starts=starts)
