"""Play that may never end: where it has a value, it is the one that all pairs of policies give."""

from __future__ import annotations

from pathlib import Path

import naive_endings
import numpy as np
import pytest
from cli_runner import output, refusal
from graphs import assemble, games_for_points, games_to_win
from hypothesis import given
from hypothesis import strategies as st
from stalling_games import (
    Downhill,
    DrawnLuck,
    DrawnStages,
    Flips,
    ForbiddenPig,
    FreeRoad,
    LosingPig,
    LosingStandoff,
    Luck,
    NoWayOut,
    PassablePig,
    Road,
    Stages,
    Standoff,
    Trap,
)

import rollwise
from rollwise import AGAIN, END, LOSE, PASS, WIN, certify, solve
from rollwise.analysis.check import check
from rollwise.analysis.lengths import lengths
from rollwise.answer.certified import solve_and_certify
from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.derive.chase import Chase
from rollwise.errors import EndlessPlay, ParameterError, RulesError, UsageError
from rollwise.games.super_six import SuperSix
from rollwise.graph import ARRAYS, StateGraph
from rollwise.graph.endings import end_components, hopeless_states, settle, staying_actions
from rollwise.graph.policies import Policy
from rollwise.proofs.check_endless import check_game
from rollwise.simulate.match import simulate

pytestmark = pytest.mark.kernels

GAMES = Path(__file__).with_name("stalling_games.py")
SLACK = 1e-9  # for the rounding of the naive solver


def assert_right(graph: StateGraph, stuck: float) -> None:
    found, proof, _ = solve_and_certify(graph)
    assert np.all(np.isfinite(proof.bounds))
    for value, bound, true in zip(
        found.values, proof.bounds, naive_endings.best_values(graph, stuck), strict=True
    ):
        assert value == true or abs(value - true) <= bound + SLACK


@given(games_to_win(1, "draw"))
def test_one_player_who_may_stall_to_a_draw(graph):
    assert_right(graph, 0.0)


@given(games_to_win(1, "lose"))
def test_one_player_who_loses_by_stalling(graph):
    assert_right(graph, -1.0)


@given(games_to_win(2, "draw"))
def test_two_players_who_may_stall_to_a_draw(graph):
    assert_right(graph, 0.0)


@given(games_to_win(2, "lose"))
def test_two_players_who_both_lose_by_stalling(graph):
    """There is a value where it doesn't matter whose loss it is; else the game is refused."""
    if_mine = naive_endings.best_values(graph, -1.0)
    if_theirs = naive_endings.best_values(graph, 1.0)
    try:
        found, proof, _ = solve_and_certify(graph)
    except EndlessPlay:
        assert not np.allclose(if_mine, if_theirs, atol=SLACK)
        return
    for worth in (if_mine, if_theirs):
        assert np.all(np.abs(found.values - worth) <= proof.bounds + SLACK)


@given(games_to_win(2, "draw", max_states=12))
def test_values_are_tight_and_the_optimal_policy_is_worth_them(graph):
    """Ties and cycles or not: against the policy nobody gets more than the bounds allow."""
    solution = Solution.of_graph(graph)
    assert solution.error_bound < 1e-11
    assert check_game(graph, solution.values, solution.error_bounds).holds
    got = best_response(graph, solution.policy).values
    assert np.all(got <= solution.values + solution.error_bound + SLACK)


def test_the_optimal_policy_forces_an_end():
    """To pass ties with throwing for both, and the other player would pass for ever."""
    throw = [(3, WIN, None), (1, LOSE, None)]
    lost = [(1, WIN, None), (3, LOSE, None)]
    graph = assemble(
        [
            [(0.0, [(1, PASS, 1)]), (0.0, [(1, AGAIN, 2)])],
            [(0.0, [(1, PASS, 0)]), (0.0, lost)],
            [(0.0, throw)],
        ],
        endless="draw",
    )
    solution = Solution.of_graph(graph)
    assert solution.values.tolist() == pytest.approx([0.5, -0.5, 0.5])
    assert best_response(graph, solution.policy).values[1] == pytest.approx(-0.5)


@pytest.mark.parametrize(
    ("parameters", "chance"),
    [
        ({"sticks": 14, "take_all": True}, 0.511537933840),
        ({"sticks": 15, "take_all": True}, 0.520138711496),
        pytest.param({"sticks": 38}, 0.513896371366, marks=pytest.mark.slow),
        pytest.param({"sticks": 39}, 0.521785025835, marks=pytest.mark.slow),
        pytest.param({"sticks": 40, "take_all": True}, 0.500000041316, marks=pytest.mark.slow),
        pytest.param({"sticks": 40, "one_each": True}, 0.505309127435, marks=pytest.mark.slow),
    ],
)
def test_sticks_that_both_may_refuse_for_ever(parameters, chance):
    """The values were proved on the rule sheet in fractions, too."""
    solution = solve(SuperSix(may_stop=2, **parameters))
    assert solution.status == "certified"
    assert solution.error_bound < 1e-11
    assert solution.win_probability == pytest.approx(chance, abs=1e-12)
    got = best_response(solution.graph, solution.policy).values
    assert np.all(got <= solution.values + 1e-11)


@given(games_to_win(2, "draw"), st.data())
def test_end_components_are_those_of_a_naive_search(graph, data):
    some = st.lists(st.booleans(), min_size=graph.n_actions, max_size=graph.n_actions)
    allowed = np.array(data.draw(some))
    found = end_components(graph, allowed)
    groups = {frozenset(np.flatnonzero(found.number == c).tolist()) for c in range(len(found))}
    stays = set(np.flatnonzero(found.stays).tolist())
    assert (groups, stays) == naive_endings.end_components(graph, allowed)


@given(games_for_points())
def test_rounds_that_cost(graph):
    """Refused where a round is free, else a stochastic shortest path."""
    if naive_endings.has_free_round(graph):
        if len(end_components(graph)):
            with pytest.raises(EndlessPlay, match="round"):
                solve_and_certify(graph)
        return
    assert_right(graph, -np.inf if graph.objective == "maximize" else np.inf)


@given(games_to_win(2, "draw"), st.floats(-0.1, 0.1), st.integers(0, 2))
def test_wrong_values_are_not_proved(graph, shift, place):
    """Nor are other fixed points of the recursion, of which stalling gives many."""
    truth = naive_endings.best_values(graph, 0.0)
    for wrong in (
        np.clip(truth + shift, -1, 1),
        np.where(np.arange(len(truth)) == place, 1.0, truth),
    ):
        bounds = certify(graph, wrong).bounds
        assert np.all(np.abs(wrong - truth) <= bounds + SLACK)


ONE_PLAYER_METHODS = (
    "strategy-iteration",
    "value-iteration",
    "policy-iteration",
    "modified-policy-iteration",
    "linear-programming",
    "mixed-integer",
    "exact",
)


@pytest.mark.parametrize("method", ONE_PLAYER_METHODS)
@pytest.mark.parametrize(("game", "value"), [(Road(), 10.0), (Flips(sides=2), 5.673651)])
def test_every_method_takes_rounds_that_cost(method, game, value):
    solution = solve(game, method=method)
    assert solution.status == "certified"
    assert solution.value == pytest.approx(value, abs=5e-7)
    assert solution.error_bound < 1e-6


def test_bounds_that_close_take_rounds_that_cost():
    solution = solve(Flips(sides=2), method="value-iteration", options={"sound": True})
    assert solution.run.lower[0] <= 5.67365079366 <= solution.run.upper[0] + 1e-11
    assert solution.run.upper[0] - solution.run.lower[0] < 1e-9


@pytest.mark.slow
def test_project_euler_640():
    assert f"{solve(Flips()).value:.6f}" == "50.317928"


@pytest.mark.parametrize(
    ("game", "target", "chance"),
    [
        (Flips(sides=2), 4, 0.59375),
        (Flips(sides=2), 7, None),
        (Road(), 12, 1),
        (Downhill(), -22, 1),
    ],
)
def test_a_chase_is_lost_as_soon_as_it_costs_more_than_the_target(game, target, chance):
    chase = Chase(game, target)
    solution = solve(chase)
    assert solution.status == "certified"
    assert chance is None or solution.win_probability == pytest.approx(chance, abs=1e-12)
    by_rules = rollwise.build(chase, mode="interpreted")
    for name in ARRAYS:
        assert np.array_equal(getattr(solution.graph, name), getattr(by_rules, name)), name
    # what a play within the target can do, by sweeping the game with its throws counted
    graph, value = rollwise.build(game), {}
    for left in range(abs(target) + 1):
        for s in range(graph.n_states):
            value[s, left] = chance_within(graph, s, left, value)
    assert solution.win_probability == pytest.approx(value[0, abs(target)], abs=1e-12)


def chance_within(graph, s, left, known):
    """The chance to end the play from a state at a cost of at most so much."""
    best = 0.0
    for a in range(graph.action_indptr[s], graph.action_indptr[s + 1]):
        cost = int(abs(graph.action_reward[a]))
        ways = range(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
        total = sum(int(graph.outcome_weight[k]) for k in ways)
        worth = 0.0
        for k in ways:
            t, after = int(graph.outcome_state[k]), left - cost
            if after < 0:
                continue
            if t >= 0 and (t, after) not in known:
                known[t, after] = chance_within(graph, t, after, known)
            worth += int(graph.outcome_weight[k]) / total * (1.0 if t < 0 else known[t, after])
        best = max(best, worth)
    return best


def test_a_chase_without_a_bound_says_which_targets_there_are():
    with pytest.raises(ParameterError, match="a target of at least 10, not 3"):
        Chase(Road(), 3)
    with pytest.raises(ParameterError, match="a target of at most -20, not -3"):
        Chase(Downhill(), -3)


@pytest.mark.parametrize("weight", [1.0, 1e308])
def test_rounds_with_huge_weights_are_weighed_right(weight):
    """Half of a round brings 1, the other costs 2; whether that is seen doesn't hang on size."""
    there = [(weight, AGAIN, 1), (weight, AGAIN, 1)]
    back = [(weight, AGAIN, 0), (weight, AGAIN, 0)]
    leave = (0.0, [(weight, END, None)])
    graph = assemble([[(1.0, there), leave], [(-2.0, back)]], players=1, objective="maximize")
    assert settle(graph).graph.n_states == 2


def test_the_distribution_of_a_policy_that_ends_play():
    """What it never does may go on for ever."""
    text = output("distribution", f"{GAMES}:Road", "--simulate", "50", "--exact")
    assert "mean 10 (exact)" in text
    assert "warning" not in text
    asked = ("distribution", f"{GAMES}:Road", "--policy", "random")
    assert "round for ever" in refusal(*asked)


def test_free_rest_is_refused_with_a_remedy():
    with pytest.raises(EndlessPlay, match="place=0 with the action rest.*let it cost something"):
        solve(FreeRoad())
    assert [f.topic for f in check(FreeRoad()).findings if f.level == "error"] == ["endless play"]


def test_a_policy_that_dawdles_for_ever_is_worth_infinity():
    graph = rollwise.build(Road())
    sleeper = Policies(graph, Road()).find("sleeper")
    for method in ("exact", "iterative"):
        found = evaluate(graph, sleeper, method=method)
        assert found.values.tolist() == [np.inf] * 6 + [4.0, 3.0, 2.0, 1.0]
    assert evaluate(graph, Policy.uniform(graph)).values[0] == pytest.approx(20)
    assert lengths(graph, sleeper).tail == 1
    with pytest.raises(EndlessPlay, match="never end the play from place=0"):
        simulate(graph, sleeper, games=10)
    assert "no game ends with sleeper" in refusal(
        "plot", f"{GAMES}:Road", "length", "--policy=sleeper"
    )


def test_where_nobody_can_end_play_is_worth_minus_infinity():
    solution = solve(Trap())
    assert solution.values.tolist() == [2.0, -np.inf]
    assert solution.error_bounds[1] == 0
    assert np.isfinite(solution.error_bound)
    assert hopeless_states(solution.graph).tolist() == [False, True, False]
    assert [row.regret for row in solution.advise((0,)).actions] == [1.0, np.inf, 0.0]
    assert [row.value for row in solution.advise((1,)).actions] == [-np.inf]
    findings = check(Trap()).findings
    assert any(f.level == "warning" and "nobody can be sure" in f.text for f in findings)


def test_a_game_that_nobody_can_end_is_refused():
    for method in ("strategy-iteration", "policy-iteration"):
        with pytest.raises(EndlessPlay, match="give the players a way to end it"):
            solve(NoWayOut(), method=method)


@pytest.mark.parametrize("method", ONE_PLAYER_METHODS)
def test_every_method_takes_a_player_who_may_stall(method):
    solution = solve(Luck(), method=method)
    assert solution.win_probability == pytest.approx(0.75, abs=1e-8)
    assert solution.status == "certified"
    assert solve(DrawnLuck(), method=method).win_probability == 0.5


def test_the_optimal_policy_waits_as_little_as_it_must():
    """Waiting is as good as acting, but whoever only waits never gets anything."""
    solution = solve(Luck())
    assert solution.table()["action"].to_list() == ["on", "on", "throw"]
    assert evaluate(solution.graph, solution.policy).win_probability[0] == pytest.approx(0.75)
    always_wait = Policy.of_actions(solution.graph, "wait", solution.graph.action_indptr[:-1])
    assert evaluate(solution.graph, always_wait).win_probability[0] == 0


def test_pig_in_which_one_may_pass_is_pig():
    from rollwise.games.pig import Pig

    pig = solve(Pig(target=15))
    for game in (PassablePig(), LosingPig()):
        solution = solve(game)
        assert solution.status == "certified"
        assert solution.value == pytest.approx(pig.value, abs=1e-13)
        wait = Policy.of_actions(solution.graph, "wait", solution.graph.action_indptr[:-1])
        assert best_response(solution.graph, wait).values[0] == pytest.approx(1.0)
    with pytest.raises(EndlessPlay, match='endless = "draw" or "lose"'):
        solve(ForbiddenPig())
    for method in ("exact", "policy-iteration"):
        with pytest.raises(UsageError, match="keep the turn passing"):
            solve(PassablePig(), method=method)


def test_a_standoff_is_a_draw():
    solution = solve(Standoff())
    assert solution.values.tolist() == [0.0] * 5
    assert solution.status == "certified"
    assert evaluate(solution.graph, solution.policy).win_probability[0] == 0.5


@pytest.mark.needs_jit
@pytest.mark.parametrize("game", [Stages(), DrawnStages()])
def test_layers_settle_endless_play_too(game):
    layered = rollwise.solve_by_layers(game)
    whole = solve(game)
    assert layered.status == whole.status == "certified"
    assert layered.value == pytest.approx(whole.value, abs=1e-12)
    table = layered.table().sort("stage", "place")
    assert table["action"].to_list() == whole.table()["action"].to_list()


def test_a_standoff_that_both_lose_has_no_value():
    with pytest.raises(EndlessPlay, match='Say endless = "draw"'):
        solve(LosingStandoff())


def test_the_words_of_the_rules_are_checked():
    class Odd(Standoff):
        endless = "whatever"

    class Points(Road):
        endless = "draw"

    with pytest.raises(RulesError, match="'forbidden', 'draw' or 'lose'"):
        solve(Odd())
    with pytest.raises(RulesError, match="games that are won or lost"):
        solve(Points())


def test_only_actions_that_stay_are_named():
    """Asked about all states at once: what leads out, however innocent, is never named."""
    graph = rollwise.build(ForbiddenPig())
    states = np.flatnonzero(graph.states[:, 2] == 0)
    stays = staying_actions(graph, states)
    assert {graph.view.action(a).name for a in np.flatnonzero(stays)} == {"hold"}
    for text in (refusal("solve", f"{GAMES}:ForbiddenPig"), output("check", f"{GAMES}:Road")):
        assert "with the action roll" not in text
        assert "with the action walk" not in text


def test_states_that_stand_for_each_other_keep_their_numbers():
    graph = rollwise.build(Luck())
    settled = settle(graph)
    assert settled.graph.n_states == 1
    assert settled.place.tolist() == [0, 0, 0]
    assert settled.spread(np.array([0.5])).tolist() == [0.5] * 3
    assert settled.gather(np.array([1.0, 2.0, 3.0])).tolist() == [1.0]
    assert certify(graph, np.array([0.5, 0.5, 0.4])).bounds[2] >= 0.1
