"""Play from some positions on: what it comes to, and that nothing else is different there."""

from __future__ import annotations

import naive_methods
import numpy as np
import pytest
from graphs import KINDS, assemble, graph_and_policies
from hypothesis import given
from hypothesis import strategies as st

from rollwise.answer.evaluation import best_response, evaluate
from rollwise.derive.seats import take_seats
from rollwise.errors import EndlessPlay
from rollwise.game import PASS, WIN
from rollwise.graph.policies import Policy

pytestmark = pytest.mark.kernels


@st.composite
def with_starts(draw, kinds=KINDS):
    graph, policies = draw(graph_and_policies(kinds=kinds))
    states = st.integers(0, graph.n_states - 1)
    return graph, policies, draw(st.lists(states, min_size=1, max_size=3))


def spelled_out(graph, s):
    """What a state's actions are, next states by their fields."""
    actions = []
    for a in range(graph.action_indptr[s], graph.action_indptr[s + 1]):
        outcomes = []
        for k in range(graph.outcome_indptr[a], graph.outcome_indptr[a + 1]):
            t = int(graph.outcome_state[k])
            outcomes.append(
                (
                    None if t < 0 else tuple(graph.states[t].tolist()),
                    float(graph.outcome_weight[k]),
                    bool(graph.outcome_passes[k]),
                    float(graph.outcome_payoff[k]),
                )
            )
        label, reward = int(graph.action_label[a]), float(graph.action_reward[a])
        actions.append((label, reward, outcomes))
    return actions


@given(case=with_starts(), free=st.booleans())
def test_what_play_comes_to(case, free):
    graph, (mine, theirs), starts = case
    first = None if free else mine
    for policies in ([first], [first, theirs]) if graph.players == 2 else ([first],):
        whole = take_seats(graph, policies)
        part = take_seats(graph, policies, starts)
        assert whole.key.tolist() == list(range(len(policies) * graph.n_states))
        n = graph.n_states
        reached = naive_methods.reach(graph, policies, starts)
        assert {(key // n, key % n) for key in part.key.tolist()} == reached
        assert part.graph.n_states == len(reached)
        roots = [seat * n + s for seat in range(len(policies)) for s in dict.fromkeys(starts)]
        assert part.key[: part.graph.n_roots].tolist() == roots
        assert part.graph.field_names == whole.graph.field_names
        for s, key in enumerate(part.key.tolist()):
            assert part.graph.states[s].tolist() == whole.graph.states[key].tolist()
            assert spelled_out(part.graph, s) == spelled_out(whole.graph, key)


def check_against_whole(graph, policies, starts, part, whole):
    """Values and bounds of what play comes to are the same, and the others are NaN."""
    reached = naive_methods.reach(graph, policies, starts)
    seats = [(part.values, part.bounds, whole.values, whole.bounds)]
    if len(policies) == 2:
        second = (part.values_second, part.bounds_second, whole.values_second, whole.bounds_second)
        seats.append(second)
    for seat, (values, bounds, known, known_bounds) in enumerate(seats):
        for s in range(graph.n_states):
            if (seat, s) in reached:
                assert abs(values[s] - known[s]) <= bounds[s] + known_bounds[s]
            else:
                assert np.isnan(values[s])
                assert np.isnan(bounds[s])
    assert part.n_solved == len(reached)
    assert whole.n_solved == len(policies) * graph.n_states


@given(case=with_starts(kinds=((2, "win"),)))
def test_best_responses_from_some_positions_on(case):
    graph, (policy, _), starts = case
    whole = best_response(graph, policy)
    found = best_response(graph, policy, starts=starts)
    check_against_whole(graph, [None, policy], starts, found, whole)
    assert found.exploitability(starts[0]) == pytest.approx(whole.exploitability(starts[0]))
    # the response does what it is worth, and as the policy does where it isn't asked
    played = evaluate(graph, found.response, policy, starts=starts)
    assert played.values[starts] == pytest.approx(found.values[starts], abs=1e-12)
    assert played.values_second[starts] == pytest.approx(found.values_second[starts], abs=1e-12)
    chances = zip(
        np.split(found.response.probability, graph.action_indptr[1:-1]),
        np.split(policy.probability, graph.action_indptr[1:-1]),
        strict=True,
    )
    for value, (ours, theirs) in zip(found.values, chances, strict=True):
        if np.isnan(value):
            assert np.array_equal(ours, theirs)
        else:
            assert sorted(ours) == [0.0] * (len(ours) - 1) + [1.0]


@given(case=with_starts())
def test_evaluations_from_some_positions_on(case):
    graph, (mine, theirs), starts = case
    for against in (None, theirs) if graph.players == 2 else (None,):
        policies = [mine] if against is None else [mine, against]
        whole = evaluate(graph, mine, against)
        found = evaluate(graph, mine, against, starts=starts)
        check_against_whole(graph, policies, starts, found, whole)
        swept = evaluate(graph, mine, against, starts=starts, method="iterative", theta=1e-13)
        scale = max(1.0, float(np.nanmax(np.abs(found.values))))
        assert swept.values == pytest.approx(found.values, abs=1e-8 * scale, nan_ok=True)
        assert swept.bounds is None


def test_loops_that_play_does_not_come_to_are_no_fault():
    """In state 1 both can wait for ever; who wins in state 0 never comes there."""
    wait, win = (0.0, [(1, PASS, 1)]), (0.0, [(1, WIN, None)])
    graph = assemble([[win, (0.0, [(1, PASS, 1)])], [wait, win]])
    policy = Policy("win first, then wait", np.array([1.0, 0.0, 1.0, 0.0]))
    with pytest.raises(EndlessPlay):
        evaluate(graph, policy)
    found = evaluate(graph, policy, starts=[0])
    assert found.values[0] == 1.0
    assert np.isnan(found.values[1])
    with pytest.raises(EndlessPlay):
        evaluate(graph, policy, starts=[1])
