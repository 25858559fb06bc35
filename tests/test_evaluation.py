"""Policies evaluated, best responses and exploitability, against naive twins and the source."""

from __future__ import annotations

from fractions import Fraction

import naive
import naive_methods
import numpy as np
import pytest
from graphs import FOR_TWO, assemble, ending_graphs, graph_and_policies
from hypothesis import given

from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.references import Policies
from rollwise.builders import build
from rollwise.derive.seats import take_seats
from rollwise.engine.certificates import certify
from rollwise.errors import EndlessPlay, UsageError
from rollwise.game import PASS, WIN
from rollwise.games.craps import Craps
from rollwise.games.hare_and_tortoise import HareAndTortoise
from rollwise.games.pig import Pig, Piglet
from rollwise.games.super_six import SuperSix
from rollwise.graph.policies import Policy
from rollwise.methods.result import Status
from rollwise.methods.strategy_iteration import strategy_iteration
from rollwise.methods.sweeping import greedy_actions

pytestmark = pytest.mark.kernels


def passes_of(graph):
    """The part of each coefficient that is a PASS, for `naive_methods.two_seats`."""
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
    moves = naive_methods.two_seats(naive.moves_of_graph(graph), passes_of(graph))
    for seat, policy in enumerate((first, second)):
        if policy is None:
            continue
        for s in range(graph.n_states):
            begin, end = graph.action_indptr[s], graph.action_indptr[s + 1]
            chances = [Fraction(float(p)) for p in policy.probability[begin:end]]
            moves[seat, s] = [naive_methods.mix(moves[seat, s], chances)]
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
        mixed[s] = naive_methods.mix(options, chances)
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


def test_seats_of_a_game_for_one():
    graph = build(Craps(), mode="interpreted")
    policy = Policy.uniform(graph)
    assert evaluate(graph, policy).win_probability[0] == pytest.approx(244 / 495, abs=1e-15)
    with pytest.raises(UsageError, match="for one"):
        evaluate(graph, policy, policy)
    with pytest.raises(UsageError, match="for one"):
        best_response(graph, policy)
    with pytest.raises(UsageError, match="no method"):
        evaluate(graph, policy, method="guess")


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


def test_one_action_of_a_pure_policy_keeps_whole_weights():
    game = SuperSix(sticks=6)
    graph = build(game, mode="interpreted")
    played = take_seats(graph, [Policies(graph, game).find("throw-until-4")]).graph
    assert played.n_actions == graph.n_states
    assert played.outcome_weight.dtype == np.int64
    assert take_seats(graph, [Policy.uniform(graph)]).graph.outcome_weight.dtype == np.float64


def test_policies_that_never_end():
    graph = assemble([[(0.0, [(1, PASS, 0)]), (0.0, [(1, WIN, None)])]])
    wait = Policy("wait", np.array([1.0, 0.0]))
    win = Policy("win", np.array([0.0, 1.0]))
    assert evaluate(graph, win, wait).values[0] == 1.0
    with pytest.raises(EndlessPlay):
        evaluate(graph, wait)
    swept = evaluate(graph, wait, method="iterative", max_sweeps=10)
    assert swept.status is Status.SWEEP_LIMIT


@pytest.mark.needs_jit
def test_agents_of_the_source_differ_where_points_must_be_banked():
    """Seed 002: one agent holds at the goal, the other rolls on below 20."""
    for must_bank in (False, True):
        game = Pig(target=25, must_bank=must_bank)
        graph = build(game, mode="interpreted")
        holds, rolls_on = (
            Policies(graph, game).find(name) for name in ("hold-at-20", "hold-at-20-blindly")
        )
        assert np.array_equal(holds.probability, rolls_on.probability) != must_bank
        better = evaluate(graph, holds, rolls_on).win_probability[0]
        worse = evaluate(graph, rolls_on, holds).win_probability[0]
        assert (better > worse + 1e-3) == must_bank


def test_points_that_must_be_banked_change_nothing_for_who_holds_in_time():
    """Who has the goal in hand holds: the optimal values of the two rules are the same."""
    plain, banked = (build(Pig(target=12, must_bank=b), mode="interpreted") for b in (False, True))
    values = strategy_iteration(plain).values
    same = strategy_iteration(banked).values
    for s in range(plain.n_states):
        assert same[banked.find(plain.states[s])] == pytest.approx(values[s], abs=1e-14)


def test_what_is_shown_of_answers_fits_in_a_line_or_two():
    """No array is spelled out where one looks at an object in a notebook or a shell."""
    graph = build(Piglet(target=4))
    found = strategy_iteration(graph)
    policy = Policy.uniform(graph)
    for shown in (
        found,
        policy,
        certify(graph, found.values),
        evaluate(graph, policy),
        best_response(graph, policy),
    ):
        assert len(repr(shown)) < 300
        assert "array" not in repr(shown)


def test_goal_of_one_needs_no_second_turn():
    assert build(Pig(target=1), mode="interpreted").n_states == 1
    assert strategy_iteration(build(Piglet(target=1), mode="interpreted")).values[0] == (
        pytest.approx(1 / 3)
    )


# What the source's code prints: the largest update of each sweep at theta = 1e-5.
SEED_002 = """
1.0 0.6397755101084075 0.3944990499232508 0.2595993640775916 0.15986850518101242
0.10597366571618816 0.06475830031098784 0.04338633219590127 0.026240081841115037
0.01771662628180648 0.01154505795266303 0.008068980005172088 0.005372391958606282
0.003485481219374753 0.0022849724508703373 0.0014442358117567888 0.0008845747950240179
0.000526272855716603 0.00030542919253251366 0.00018763165191304498 0.00011671145202818423
7.552218259898602e-05 4.733281932178812e-05 3.0453763188331706e-05 1.9189582236456282e-05
1.2298170608548986e-05 7.776777091739184e-06
"""


@pytest.mark.slow
@pytest.mark.needs_jit
def test_evaluation_of_the_source():
    """Seed 002: hold at 20 or at the goal against itself, backward sweeps, theta = 1e-5."""
    game = Pig()
    graph = build(game)
    policy = Policies(graph, game).find("hold-at-20")
    middle = graph.find((50, 50, 10))
    swept = evaluate(graph, policy, method="iterative", theta=1e-5, order="reversed")
    assert swept.sweeps == 27
    assert swept.history == pytest.approx([float(x) for x in SEED_002.split()], abs=1e-14)
    assert swept.win_probability[middle] == pytest.approx(0.6189776656883874, abs=1e-14)
    assert swept.win_probability[0] == pytest.approx(0.5347013785378262, abs=1e-14)

    certain = evaluate(graph, policy)
    assert certain.bounds is not None
    assert np.max(certain.bounds) < 1e-12
    assert certain.win_probability[middle] == pytest.approx(0.618975841129, abs=1e-12)
    assert certain.win_probability[0] == pytest.approx(0.534698326165, abs=1e-12)

    # Neller and Presser (2004) for optimal play against hold-at-20: 58.74 % moving first,
    # and who holds at 20 wins 47.76 % moving first
    response = best_response(graph, policy)
    assert response.win_probability[0] == pytest.approx(0.5874, abs=5e-5)
    assert 1 - response.win_probability_second[0] == pytest.approx(0.4776, abs=5e-5)
    assert response.exploitability() == pytest.approx(0.109749593628, abs=1e-12)
