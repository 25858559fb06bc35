"""Play that may never end: where it has a value, it is the one that all pairs of policies give."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import naive_endings
import numpy as np
import pytest
from cli_runner import refusal
from graphs import assemble, games_for_points, games_to_win
from hypothesis import given
from hypothesis import strategies as st
from stalling_games import (
    DrawnLuck,
    DrawnStages,
    ForbiddenPig,
    LosingPig,
    Luck,
    NoWayOut,
    PassablePig,
    Road,
    Stages,
    Standoff,
)

import rollwise
from rollwise import AGAIN, END, LOSE, PASS, Game, certify, check, solve
from rollwise.analysis.balance import balance
from rollwise.analysis.chain import Chain
from rollwise.analysis.lengths import lengths
from rollwise.answer.certified import solve_and_certify
from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.references import Policies
from rollwise.errors import EndlessPlay, UsageError
from rollwise.games.super_six import SuperSix
from rollwise.graph import StateGraph
from rollwise.graph.endings import end_components, settle
from rollwise.graph.policies import Policy
from rollwise.simulate.match import expected_lengths, simulate

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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "chance"),
    [
        ({"sticks": 15, "take_all": True}, 0.520138711496),
        ({"sticks": 39}, 0.521785025835),
        ({"sticks": 40, "take_all": True}, 0.500000041316),
        ({"sticks": 40, "one_each": True}, 0.505309127435),
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


@pytest.mark.parametrize("weight", [1.0, 1e308])
def test_rounds_with_huge_weights_are_weighed_right(weight):
    """Half of a round brings 1, the other costs 2; whether that is seen doesn't hang on size."""
    there = [(weight, AGAIN, 1), (weight, AGAIN, 1)]
    back = [(weight, AGAIN, 0), (weight, AGAIN, 0)]
    leave = (0.0, [(weight, END, None)])
    graph = assemble([[(1.0, there), leave], [(-2.0, back)]], players=1, objective="maximize")
    assert settle(graph).graph.n_states == 2


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
        "plot", f"{GAMES}:Road", "turns", "--policy=sleeper"
    )


def test_a_game_that_nobody_can_end_is_refused():
    for method in ("strategy-iteration", "policy-iteration"):
        with pytest.raises(EndlessPlay, match="give a way to end it"):
            solve(NoWayOut(), method=method)


class Spot(NamedTuple):
    x: int


class BothStall(Game):
    """Whoever plays action 1 second loses; both would lose by playing 0 for ever."""

    endless = "lose"

    def start(self) -> Spot:
        return Spot(0)

    def actions(self, s: Spot):
        yield from (0, 1)

    def outcomes(self, s: Spot, action: int):
        yield 1, LOSE if action and s.x else PASS, Spot(1 if action else 1 - s.x)


def test_check_lists_endless_play_without_a_value():
    report = check(BothStall())
    assert not report.passed
    assert "could not be shown" in report.findings[-1].text
    with pytest.raises(EndlessPlay, match="could not be shown"):
        solve(BothStall())


def test_the_optimal_policy_waits_as_little_as_it_must():
    """Waiting is as good as acting, but whoever only waits never gets anything."""
    solution = solve(Luck())
    assert solution.table()["action"].to_list() == ["on", "on", "throw"]
    assert evaluate(solution.graph, solution.policy).win_probability[0] == pytest.approx(0.75)
    always_wait = Policy.of_actions(solution.graph, "wait", solution.graph.action_indptr[:-1])
    assert evaluate(solution.graph, always_wait).win_probability[0] == 0


def test_pig_in_which_one_may_pass_is_pig():
    from rollwise.games.pig import Pig

    pig = solve(Pig(target=8))
    for game in (PassablePig(8), LosingPig(8)):
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
    assert solution.graph.has_draws


@pytest.mark.needs_jit
@pytest.mark.parametrize("game", [Stages(), DrawnStages()])
def test_layers_settle_endless_play_too(game):
    layered = rollwise.solve_by_layers(game)
    whole = solve(game)
    assert layered.status == whole.status == "certified"
    assert layered.space.has_draws == whole.graph.has_draws == (game.endless == "draw")
    assert layered.value == pytest.approx(whole.value, abs=1e-12)
    table = layered.table().sort("stage", "place")
    assert table["action"].to_list() == whole.table()["action"].to_list()


def test_a_balance_of_best_play_without_an_end_says_why_there_is_none():
    """The game has a value, and so the solver isn't to blame."""
    assert balance(PassablePig(target=4), evaluations=0).moves.value > 0
    with pytest.raises(EndlessPlay, match="standoff: best play never ends from place=0, seat=0; th"
                       "e rules count endless play as a draw"):  # fmt: skip
        balance(Standoff(), evaluations=0)
    with pytest.raises(EndlessPlay, match="drawn-luck: best play never ends from place=0"):
        balance(DrawnLuck(), evaluations=0)
    standoff = solve(Standoff())
    with pytest.raises(EndlessPlay, match="these policies never end the play from place=0"):
        expected_lengths(standoff.graph, standoff.policy)
    with pytest.raises(EndlessPlay, match="these policies never end the play from place=0"):
        Chain.of(standoff.graph, standoff.policy).luck()
