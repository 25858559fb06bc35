"""Play that may never end: where it has a value, it is the one that all pairs of policies give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import naive_endings
import numpy as np
import pytest
from graphs import assemble
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cli import output, refusal

import rollwise
from rollwise import AGAIN, END, LOSE, PASS, WIN, Game, certify, solve
from rollwise.analysis.check import check
from rollwise.certified import solve_and_certify
from rollwise.chase import Chase
from rollwise.endings import end_components, hopeless_states, settle, staying_actions
from rollwise.errors import EndlessPlay, ParameterError, RulesError, UsageError
from rollwise.evaluation import best_response, evaluate
from rollwise.graph import ARRAYS, StateGraph
from rollwise.policies import Policy, find_policy

SLACK = 1e-9  # for the rounding of the naive solver


def tables(n, thens, rewards, overs):
    over = st.tuples(st.integers(1, 3), st.sampled_from(overs), st.none())
    onward = st.tuples(st.integers(1, 3), st.sampled_from(thens), st.integers(0, n - 1))
    ways = st.lists(st.one_of(onward, onward, onward, over), min_size=1, max_size=3)
    action = st.tuples(st.sampled_from(rewards), ways)
    return st.lists(st.lists(action, min_size=1, max_size=2), min_size=n, max_size=n)


@st.composite
def games_to_win(draw, players, endless):
    n = draw(st.integers(1, 3 if players == 2 else 5))
    thens = [AGAIN, PASS] if players == 2 else [AGAIN]
    table = draw(tables(n, thens, [0.0], [WIN, LOSE]))
    return assemble(table, players=players, endless=endless)


@st.composite
def games_for_points(draw):
    objective = draw(st.sampled_from(["maximize", "minimize"]))
    sign = 1 if objective == "maximize" else -1
    rewards = [-3.0 * sign, -1.0 * sign, -1.0 * sign, 0.0, 2.0 * sign]
    table = draw(tables(draw(st.integers(1, 5)), [AGAIN], rewards, [END]))
    return assemble(table, players=1, objective=objective)


def assert_right(graph: StateGraph, stuck: float) -> None:
    found, proof, _ = solve_and_certify(graph)
    assert np.all(np.isfinite(proof.bounds))
    for value, bound, true in zip(
        found.values, proof.bounds, naive_endings.best_values(graph, stuck), strict=True
    ):
        assert value == true or abs(value - true) <= bound + SLACK


@settings(max_examples=30)
@given(games_to_win(1, "draw"))
def test_one_player_who_may_stall_to_a_draw(graph):
    assert_right(graph, 0.0)


@settings(max_examples=30)
@given(games_to_win(1, "lose"))
def test_one_player_who_loses_by_stalling(graph):
    assert_right(graph, -1.0)


@settings(max_examples=30)
@given(games_to_win(2, "draw"))
def test_two_players_who_may_stall_to_a_draw(graph):
    assert_right(graph, 0.0)


@settings(max_examples=30)
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


@settings(max_examples=60)
@given(games_for_points())
def test_rounds_that_cost(graph):
    """Refused where a round is free, else a stochastic shortest path."""
    if naive_endings.has_free_round(graph):
        if len(end_components(graph)):
            with pytest.raises(EndlessPlay, match="round"):
                solve_and_certify(graph)
        return
    assert_right(graph, -np.inf if graph.objective == "maximize" else np.inf)


@settings(max_examples=30)
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


class Spot(NamedTuple):
    place: int


@dataclass(frozen=True)
class Road(Game):
    """Ten steps to walk; resting costs a turn too."""

    players: ClassVar = 1
    objective: ClassVar = "minimize"
    action_names: ClassVar = ("rest", "walk")

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, AGAIN, s
        elif s.place == 9:
            yield 1, END, s
        else:
            yield 1, AGAIN, Spot(s.place + 1)

    def reward(self, s, action):
        return 1.0

    @rollwise.policy
    def sleeper(self, s):
        """Rest for ever in the middle."""
        return 0 if s.place == 5 else 1


@dataclass(frozen=True)
class FreeRoad(Road):
    """The same, and resting is free."""

    def reward(self, s, action):
        return float(action)


class Cards(NamedTuple):
    up: int
    x: int
    y: int


@dataclass(frozen=True)
class Flips(Game):
    """Throw two dice, turn card x, y or x + y over; as few throws as possible until all are up.

    Project Euler 640, where two dice of 6 sides and 12 cards take 50.317928 throws.
    """

    sides: int = 6
    players: ClassVar = 1
    objective: ClassVar = "minimize"

    def start(self):
        return Cards(0, 0, 0)

    def actions(self, s):
        if s.x == 0:
            yield 0
        else:
            yield s.x
            if s.y != s.x:
                yield s.y
            yield s.x + s.y

    def outcomes(self, s, action):
        if s.x == 0:
            for x in range(1, self.sides + 1):
                for y in range(x, self.sides + 1):
                    yield 1 if x == y else 2, AGAIN, Cards(s.up, x, y)
        else:
            up = s.up ^ (1 << (action - 1))
            if up == (1 << (2 * self.sides)) - 1:
                yield 1, END, s
            else:
                yield 1, AGAIN, Cards(up, 0, 0)

    def reward(self, s, action):
        return 1.0 if s.x == 0 else 0.0


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


@dataclass(frozen=True)
class Downhill(Road):
    """The same for the most points, which are all negative."""

    objective: ClassVar = "maximize"

    def reward(self, s, action):
        return -2.0 if action == 1 else -1.0


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


def test_the_distribution_of_a_policy_that_ends_play():
    """What it never does may go on for ever."""
    text = output("distribution", f"{__file__}:Road", "--simulate", "50", "--exact")
    assert "mean 10 (exact)" in text
    assert "warning" not in text
    asked = ("distribution", f"{__file__}:Road", "--policy", "random")
    assert "round for ever" in refusal(*asked)


def test_free_rest_is_refused_with_a_remedy():
    with pytest.raises(EndlessPlay, match="place=0 with the action rest.*let it cost something"):
        solve(FreeRoad())
    assert [f.topic for f in check(FreeRoad()).findings if f.level == "error"] == ["endless play"]


def test_a_policy_that_dawdles_for_ever_is_worth_infinity():
    graph = rollwise.build(Road())
    sleeper = find_policy(graph, Road(), "sleeper")
    for method in ("exact", "iterative"):
        found = evaluate(graph, sleeper, method=method)
        assert found.values.tolist() == [np.inf] * 6 + [4.0, 3.0, 2.0, 1.0]
    assert evaluate(graph, Policy.uniform(graph)).values[0] == pytest.approx(20)


class Place(NamedTuple):
    place: int


@dataclass(frozen=True)
class Trap(Game):
    """A gamble with a trap: whoever falls in pays for ever."""

    players: ClassVar = 1
    objective: ClassVar = "maximize"
    action_names: ClassVar = ("rest", "gamble", "leave")

    def start(self):
        return Place(0)

    def actions(self, s):
        yield 0
        if s.place == 0:
            yield 1
            yield 2

    def outcomes(self, s, action):
        if action == 0:
            yield 1, AGAIN, s
        elif action == 1:
            yield 1, AGAIN, Place(1)
            yield 9, END, s
        else:
            yield 1, END, s

    def reward(self, s, action):
        return (-1.0, 100.0, 2.0)[action]


def test_where_nobody_can_end_play_is_worth_minus_infinity():
    solution = solve(Trap())
    assert solution.values.tolist() == [2.0, -np.inf]
    assert solution.error_bounds[1] == 0
    assert np.isfinite(solution.error_bound)
    assert hopeless_states(solution.graph).tolist() == [False, True]
    assert [row.regret for row in solution.advise((0,)).actions] == [1.0, np.inf, 0.0]
    assert [row.value for row in solution.advise((1,)).actions] == [-np.inf]
    findings = check(Trap()).findings
    assert any(f.level == "warning" and "nobody can be sure" in f.text for f in findings)


@dataclass(frozen=True)
class NoWayOut(Road):
    """Only resting."""

    def actions(self, s):
        yield 0


def test_a_game_that_nobody_can_end_is_refused():
    for method in ("strategy-iteration", "policy-iteration"):
        with pytest.raises(EndlessPlay, match="give the players a way to end it"):
            solve(NoWayOut(), method=method)


@dataclass(frozen=True)
class Luck(Game):
    """One may wait for ever, go on, or throw: three chances in four to win at the far end."""

    players: ClassVar = 1
    endless: ClassVar = "lose"
    action_names: ClassVar = ("wait", "on", "throw")

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        yield 1
        yield 2

    def outcomes(self, s, action):
        if action == 0:
            yield 1, AGAIN, s
        elif action == 1:
            yield 1, AGAIN, Spot((s.place + 1) % 3)
        else:
            yield 1 + s.place, WIN, s
            yield 1, LOSE, s


@dataclass(frozen=True)
class DrawnLuck(Luck):
    """The same with a draw for whoever never throws, and throws that are hardly ever won."""

    endless: ClassVar = "draw"

    def outcomes(self, s, action):
        if action == 2:
            yield 1, WIN, s
            yield 4, LOSE, s
        else:
            yield from super().outcomes(s, action)


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


class Turn(NamedTuple):
    banked: int
    rival: int
    turn: int


@dataclass(frozen=True)
class PassablePig(Game):
    """Pig in which the turn may be passed with nothing at risk."""

    target: int = 15
    endless: ClassVar = "draw"
    action_names: ClassVar = ("hold", "roll")

    def start(self):
        return Turn(0, 0, 0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, PASS, Turn(s.rival, s.banked + s.turn, 0)
            return
        yield 1, PASS, Turn(s.rival, s.banked, 0)
        for face in range(2, 7):
            if s.banked + s.turn + face >= self.target:
                yield 1, WIN, s
            else:
                yield 1, AGAIN, Turn(s.banked, s.rival, s.turn + face)


@dataclass(frozen=True)
class LosingPig(PassablePig):
    endless: ClassVar = "lose"


@dataclass(frozen=True)
class ForbiddenPig(PassablePig):
    endless: ClassVar = "forbidden"


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


@dataclass(frozen=True)
class Standoff(Game):
    """Both may wait; who shoots first wins in one case of three."""

    endless: ClassVar = "draw"
    action_names: ClassVar = ("wait", "shoot")

    def start(self):
        return Spot(0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, PASS, Spot((s.place + 1) % 5)
        else:
            yield 1, WIN, s
            yield 2, LOSE, s


@dataclass(frozen=True)
class LosingStandoff(Standoff):
    endless: ClassVar = "lose"


def test_a_standoff_is_a_draw():
    solution = solve(Standoff())
    assert solution.values.tolist() == [0.0] * 5
    assert solution.status == "certified"
    assert evaluate(solution.graph, solution.policy).win_probability[0] == 0.5


class Stage(NamedTuple):
    stage: int
    place: int


@dataclass(frozen=True)
class Stages(Game):
    """Three stages of a walk round four places, one of which leads on; resting costs as well."""

    players: ClassVar = 1
    objective: ClassVar = "minimize"
    action_names: ClassVar = ("rest", "walk")

    def start(self):
        return Stage(0, 0)

    def actions(self, s):
        yield 0
        yield 1

    def outcomes(self, s, action):
        if action == 0:
            yield 1, AGAIN, s
        elif s.place < 3:
            yield 2, AGAIN, Stage(s.stage, s.place + 1)
            yield 1, AGAIN, Stage(s.stage, 0)
        elif s.stage == 2:
            yield 1, END, s
        else:
            yield 1, AGAIN, Stage(s.stage + 1, 0)

    def reward(self, s, action):
        return 1.0

    def progress(self, s):
        return s.stage


@dataclass(frozen=True)
class DrawnStages(Stages):
    """The same to win, against somebody who may also wait; each stage can be lost."""

    players: ClassVar = 2
    objective: ClassVar = "win"
    endless: ClassVar = "draw"

    def outcomes(self, s, action):
        if action == 0:
            yield 1, PASS, s
            return
        yield 1, LOSE, s
        yield 3, PASS, Stage(s.stage, (s.place + 1) % 4)
        if s.stage == 2:
            yield 2, WIN, s
        else:
            yield 2, AGAIN, Stage(s.stage + 1, s.place)

    def reward(self, s, action):
        return 0.0


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
    assert {graph.action_text(a) for a in np.flatnonzero(stays)} == {"hold"}
    for text in (refusal("solve", f"{__file__}:ForbiddenPig"), output("check", f"{__file__}:Road")):
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
