"""Head starts: what they are worth, and which of them make a game even."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from balance_games import figures_of_games
from cli_runner import output, refusal
from hypothesis import given, settings
from hypothesis import strategies as st
from little_games import RandomTable
from stakes import Gammons
from throwing import Runners, SavedRolls, Served

import rollwise
from rollwise import AGAIN, END, PASS, Game, parameter, payoff, payoffs
from rollwise.analysis.balance import balance
from rollwise.analysis.exploit import exploit, learn_friend
from rollwise.analysis.handicap import handicap
from rollwise.analysis.losses import difference
from rollwise.analysis.tuning import Aim, tune, values_of
from rollwise.answer.certified import solve_and_certify
from rollwise.answer.references import Policies
from rollwise.derive.changed import biased
from rollwise.derive.contest import Duel
from rollwise.derive.seats import take_seats
from rollwise.errors import EndlessPlay, UsageError
from rollwise.games import find
from rollwise.games.knucklebones import Knucklebones
from rollwise.games.pig import Pig, Piglet, Turn
from rollwise.games.red_light import RedLight
from rollwise.games.royal_ur import RoyalUr
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.graph.choices import has_choice
from rollwise.graph.policies import Policy
from rollwise.many.seats import seen_from
from rollwise.simulate.turn_by_turn import play_turn_by_turn, random_play


@pytest.fixture(scope="module")
def pig():
    return Policies.of(rollwise.solve(Pig(target=20)))


def test_a_head_start_is_worth_what_its_position_is(pig):
    found = handicap(pig, "banked", [0, 2, 3, 5], "hold-at-20", "optimal")
    every = rollwise.evaluate(pig, "hold-at-20", "optimal")
    for head in found.heads:
        mine = pig.graph.find([head.points, 0, 0])
        theirs = pig.graph.find([0, head.points, 0])
        assert head.seats[0].value == pytest.approx(every.win_probability[mine], abs=1e-12)
        assert head.seats[1].value == pytest.approx(every.win_probability_second[theirs], abs=1e-12)
        assert head.mean.value == (head.seats[0].value + head.seats[1].value) / 2
        assert max(one.bound for one in (*head.seats, head.mean)) < 1e-9
    assert (found.field, found.others, found.even) == ("banked", ("rival",), 0.5)


def test_the_nearest_to_even(pig):
    found = handicap(pig, "banked", [0, 1, 2, 3, 4, 5, 6], "random", "optimal")
    assert found.apart == (1,)  # nobody ever banks a single point
    off = [abs(h.mean.value - 0.5) for h in found.heads]
    assert abs(found.nearest().mean.value - 0.5) == min(off)
    assert found.nearest().points == 6
    assert not found.is_within()
    even = handicap(pig, "banked", [0, 2, 4])
    assert even.is_within()
    assert even.nearest().points == 0


def test_a_start_that_no_play_reaches_is_solved_too():
    class Ahead(Pig):
        def start(self):
            return Turn(1, (0,), 0)

    class Behind(Pig):
        def start(self):
            return Turn(0, (1,), 0)

    (head,) = handicap(Pig(target=12), "banked", [1]).heads
    ahead, behind = (rollwise.solve(game(12)).win_probability for game in (Ahead, Behind))
    assert head.seats[0].value == pytest.approx(ahead, abs=1e-12)
    assert head.seats[1].value == pytest.approx(1 - behind, abs=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")  # the sticks fall below 0
@pytest.mark.parametrize("players", [2, 3])
def test_a_start_without_an_end_is_refused_early(players):
    """A player without sticks has won: no position follows, and play goes on below 0."""
    with pytest.raises(UsageError, match=r"starts mine=0, 9 comes to more than 1,000,000;"):
        handicap(SuperSix(sticks=6, players=players), "mine", [0, 1, 2, 9])


def test_of_three_seats_only_the_play_from_the_asked_positions_is_solved(monkeypatch):
    solved = []

    def noted(graph):
        solved.append(solve_and_certify(graph))
        return solved[-1]

    monkeypatch.setattr("rollwise.answer.evaluation.solve_and_certify", noted)
    policies = Policies.of(Pig(target=20, players=3), any_players=True)
    found = handicap(policies, "banked", [0, 5], "hold-at-20", "hold-at-20")
    (run,) = solved
    graph, hold = policies.graph, policies.find("hold-at-20").probability
    assert len(run.found.values) < graph.n_states / 2
    whole = solve_and_certify(seen_from(graph, 0, [hold] * 3))
    for head in found.heads:
        for seat, rivals in enumerate([(0, 0), (head.points, 0), (0, head.points)]):
            state = graph.find([0 if seat else head.points, *rivals, 0])
            expected = whole.at(-seat % 3 * graph.n_states + state)
            assert head.seats[seat].value == pytest.approx(expected.value, abs=1e-13)


def test_komi_is_the_head_start_of_the_second_player():
    for komi, head in enumerate(handicap(RedLight(target=8, komi=0), "banked", range(3)).heads):
        first = rollwise.solve(RedLight(target=8, komi=komi)).win_probability
        assert head.seats[1].value == pytest.approx(1 - first, abs=1e-12)


def test_rows_without_the_start_of_the_game_say_so():
    """With a komi the start has different points; a row with the start needs no word."""
    game = ("handicap", "red-light", "target=4", "greens=4", "reds=2", "--points", "banked=0..1")
    told = "the game itself starts with banked=0, rival=1: no row has that start"
    assert told in output(*game)
    assert json.loads(output(*game, "--json"))["start"] == {"banked": 0, "rival": 1}
    assert "no row has" not in output(*game, "komi=0")
    rival = ("threes", "dice=1", "as=contest", "--points", "rival,score=0..1")
    assert "starts with rival=unplayed, score=0:" in output("handicap", *rival)


# ---- the designer's bench: parameters that are looked for, and what a change of rules does


def tuned(game, vary, aim):
    values = dict(values_of(text) for text in vary)
    return tune(find(game), {}, values, Aim.read(aim), rollwise.solve)


def test_every_point_is_what_solve_says():
    found = tuned("pig", ["target=8..14..3", "sides=4,6"], "win_probability = 0.55")
    assert [dict(point.parameters) for point in found.points] == [
        {"target": target, "sides": sides} for target in ("8", "11", "14") for sides in ("4", "6")
    ]
    for point in found.points:
        solution = rollwise.solve(Pig(**{k: int(v) for k, v in point.parameters.items()}))
        assert point.amount == (1 + solution.value) / 2
        assert point.error_bound >= solution.error_bounds[0] / 2
    off = [abs(point.amount - 0.55) for point in found.points]
    assert found.best is found.points[int(np.argmin(off))]


def test_a_goal_out_of_reach_says_so():
    said = output("tune", "piglet", "--vary", "target=2..4", "--for", "win_probability=0.9")
    assert "no game of these has win_probability = 90 %: all are below it" in said
    assert "nearest to 90 %: target=" in said
    document = json.loads(
        output("tune", "piglet", "--vary", "target=2..4", "--for", "value = 9", "--json")
    )
    assert document["reached"] is False


def test_a_wider_range_is_advised_where_the_rules_allow_one():
    wider = "that is at the end of the range of target: a wider one may go further"
    for values, is_advised in (("1..3", False), ("2..4", True)):
        said = output("tune", "piglet", "--vary", f"target={values}", "--for", "max value")
        assert f"the largest value: target={values[0]}" in said
        assert (wider in said) == is_advised
        found = tuned("piglet", [f"target={values}"], "max value")
        assert found.at_the_end == ["target"] * is_advised


def test_truth_values_are_printed_as_words():
    """Also if they are typed as numbers or as other words."""
    for tried in ("0..1", "no,yes", "false,true"):
        said = output("tune", "threes", "dice=1", "--vary", f"skip={tried}").split("\n")
        assert [line.split()[0] for line in said[1:3]] == ["false", "true"]


def test_the_chance_in_a_game_for_one_is_that_of_the_player():
    assert output("tune", "gamblers-problem", "--vary", "goal=100").split()[1] == "win_probability"
    assert output("tune", "piglet", "--vary", "target=2").split()[1] == "win_probability"
    aim = ("--for", "win_probability = 0.4")
    assert "40.0000 %" in output("tune", "gamblers-problem", "--vary", "goal=100", *aim)


def test_without_a_goal_the_games_are_listed():
    said = output("tune", "piglet", "--vary", "target=2..4")
    assert "win_probability" in said
    assert "nearest" not in said
    document = json.loads(output("tune", "piglet", "--vary", "target=2..4", "--json"))
    assert document["goal"] is None
    assert document["best"] is None
    assert len(document["points"]) == 3
    of_points = json.loads(output("tune", "threes", "--vary", "dice=1,2", "--json"))
    assert of_points["measure"] == "value"
    turns = json.loads(output("tune", "piglet", "--vary", "target=2,3", "--for", "turns", "--json"))
    assert (turns["measure"], turns["goal"]) == ("turns", None)


class Stake(NamedTuple):
    left: int


@dataclass(frozen=True)
class Stakes(Game):
    """A win of one or of a stake; with three seats each seat has its result."""

    stake: int = 2
    players: int = 2

    def start(self):
        return Stake(3)

    def actions(self, s):
        return (0, 1)

    def outcomes(self, s, action):
        won = self.stake if action else 1
        yield 2, payoff(won) if self.players == 2 else payoffs(won, 0, -1), s
        yield 3, payoff(-action) if self.players == 2 else payoffs(-action, 0, 0), s
        if s.left > 1:
            yield 1, PASS, Stake(s.left - 1)


class Ford(Game):
    """A move to each stone, and one to the other bank."""

    stones: int = parameter(3)
    players: ClassVar = 1
    objective: ClassVar = "minimize"

    def start(self):
        return Stake(self.stones)

    def actions(self, s):
        yield 0

    def reward(self, s, action):
        return 1

    def outcomes(self, s, action):
        if s.left == 0:
            yield 1, END, s
        else:
            yield 1, AGAIN, Stake(s.left - 1)


@pytest.mark.parametrize("players", [2, 3])
def test_the_usual_aim_is_a_figure_of_all_games(players):
    """A stake of 1 between two is a win; another one leaves no chance to win."""
    fixed, values = {"players": str(players)}, {"stake": ["1", "2", "3"]}
    found = tune(Stakes, fixed, values, None, rollwise.solve)
    assert found.aim == Aim("value")
    for point in found.points:
        solved = rollwise.solve(Stakes(int(point.parameters["stake"]), players))
        assert point.amount == pytest.approx(solved.value, abs=1e-13)
    if players == 3:
        with pytest.raises(UsageError, match="aim at its value or its moves"):
            tune(Stakes, fixed, values, Aim("win_probability"), rollwise.solve)
        return
    found = tune(Stakes, fixed, values, Aim("win_probability"), rollwise.solve)
    assert [one.parameters["stake"] for one in found.unsolved] == ["2", "3"]
    assert all("aim at its value or its moves" in one.reason for one in found.unsolved)


def test_a_game_of_one_player_is_aimed_at_by_its_moves():
    values = {"stones": ["1", "2", "3"]}
    found = tune(Ford, {}, values, Aim.read("moves = 3"), rollwise.solve)
    assert [point.amount for point in found.points] == pytest.approx([2, 3, 4], abs=1e-13)
    with pytest.raises(UsageError, match=r"ford is one player's only turn: aim at its moves"):
        tune(Ford, {}, values, Aim("turns"), rollwise.solve)


def test_parameters_vary_by_fractions(tmp_path):
    sheet, curve = tmp_path / "coin.py", tmp_path / "curve.svg"
    sheet.write_text(
        """
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple
from rollwise import LOSE, WIN, Game, parameter

class Coin(NamedTuple):
    side: int

@dataclass(frozen=True)
class Toss(Game):
    chance: Fraction = parameter(Fraction(1, 2), at_least=0, at_most=1)

    def start(self):
        return Coin(0)

    def actions(self, s):
        yield 0

    def outcomes(self, s, action):
        yield self.chance, WIN, s
        yield 1 - self.chance, LOSE, s
""",
        encoding="utf-8",
    )
    vary = ("tune", str(sheet), "--vary", "chance=0..1/2..1/6")
    document = json.loads(output(*vary, "--out", str(curve), "--json"))
    points = [(point["parameters"]["chance"], point["amount"]) for point in document["points"]]
    assert points == [(c, pytest.approx(float(Fraction(c)))) for c in ("0", "1/6", "1/3", "1/2")]
    assert curve.exists()
    assert "0..1/2..1/10" in refusal("tune", str(sheet), "--vary", "chance=0..1/2")


@pytest.mark.parametrize("typed", ["min turns = 3", "win_probability =", "= 3", "edge", ""])
def test_what_is_no_aim_is_refused(typed):
    with pytest.raises(UsageError, match="aim"):
        Aim.read(typed)


# ---- what a change does


def by_hand(old, new):
    """States of both with a choice in the new game where nothing that was best is best."""
    found = set()
    places = {tuple(row): s for s, row in enumerate(old.graph.rows.tolist())}
    for s, row in enumerate(new.graph.rows.tolist()):
        t = places.get(tuple(row))
        if t is None:
            continue
        here, there = new.graph.view[s], old.graph.view[t]
        if len(here.labels) < 2:
            continue
        was = {a.label for a in there.actions if old.is_best[a.index]}
        now = {a.label for a in here.actions if new.is_best[a.index]}
        if not was & now and there.actions[0].graph is old.graph:
            first = next(a.label for a in there.actions if old.policy.probability[a.index])
            if first in here.labels:
                found.add(s)
    return found


PAIRS = [
    (Pig(target=60), Pig(target=60, sides=8)),
    (Pig(target=40), Piglet(target=12)),
    (SuperSix(sticks=9), SuperSix(sticks=9, may_stop=2)),
    (RoyalUr(pieces=1), RoyalUr(pieces=1, path="masters")),
    (ShutTheBox(tiles=5), ShutTheBox(tiles=5, one_die="never")),
]


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_the_states_in_which_what_is_best_changes(one, two):
    old, new = rollwise.solve(one), rollwise.solve(two)
    found = difference(old, new)
    assert set(found.changed.tolist()) == by_hand(old, new)
    assert np.all(found.costs[: found.in_play] > 0)
    assert np.all(np.diff(found.costs[: found.in_play]) <= 0)
    total = np.add.reduceat(found.carried.probability, new.graph.action_indptr[:-1])
    assert np.allclose(total, 1)


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_what_goes_on_as_before_loses_is_never_less_than_nothing(seed):
    try:
        old, new = (rollwise.solve(RandomTable(seed=s)) for s in (seed, seed + 1))
    except EndlessPlay:
        return
    if old.graph.objective != new.graph.objective or old.graph.players != new.graph.players:
        return
    found = difference(old, new)
    assert found.loss.loss >= -found.loss.error_bound


# ---- what a game does to its players: every figure against games that are played out by hand


BESIDE = {  # one for a single player, two that choose first, one that throws first, one for stakes
    "shut-the-box": (ShutTheBox(tiles=5), {"expected score", "at most 2 rolls", "decisions"}),
    "pig": (Pig(target=12), {"first player wins", "lead changes", "comebacks", "greedy wins"}),
    "throws": (Runners(), {"decisions that matter", "decided in turn", "random wins"}),
    "draws": (Duel(Threes(dice=2)), {"draws", "luck", "share of skill", "rule of thumb wins"}),
    "stakes": (Gammons(), {"expected payoff", "luck", "turns", "share of skill"}),
}


@pytest.mark.parametrize("name", BESIDE)
def test_every_figure_is_that_of_games_that_are_played(name):
    """Two samples of each figure that isn't a count of positions."""
    game, names = BESIDE[name]
    policies = Policies.of(game)
    figures = balance(policies, evaluations=8)
    one, two = (figures_of_games(policies, figures, 600, seed) for seed in (5, 6))
    there = {figure.name for figure in one}
    assert names <= there, there
    assert not np.allclose([f.sample.mean for f in one], [f.sample.mean for f in two])
    furthest = max(figure.off(600) for figure in (*one, *two))
    assert 0.5 < furthest < 5  # of so many figures one is off by half an error at least


class CountDown(Game):
    """Count down from some number by 1 or 2, each time for a point; chance has no part."""

    begin: int = parameter(7)
    players = 1
    objective = "minimize"

    def start(self):
        return Only(self.begin)

    def actions(self, s):
        yield 1
        yield 2

    def reward(self, s, action):
        return 1

    def outcomes(self, s, action):
        yield (1, END, s) if s.number <= action else (1, AGAIN, Only(s.number - action))


class Only(NamedTuple):
    number: int


def test_a_game_of_one_without_chance_is_measured_in_moves():
    text = str(balance(CountDown(), evaluations=0))
    assert "always 4 moves" in text
    assert "more than one outcome" not in text
    random = random_play(CountDown(), np.random.default_rng(1))
    played = play_turn_by_turn(CountDown(), random, 20, 1)
    assert played.unit == "moves"
    assert (played.lengths == played.gains).all()


def test_points_are_one_number_of_a_tuple():
    game = Knucklebones(columns=2, rows=1)
    with pytest.raises(UsageError, match=r"mine is a tuple, .*: write mine\.0 \(its numbers: mine"):
        handicap(game, "mine", [0, 1])
    assert len(handicap(game, "mine.0,theirs.0", [0, 1]).heads) == 2


def test_a_roll_is_said_to_be_a_move_with_more_than_one_outcome():
    text = str(balance(ShutTheBox(tiles=5), evaluations=0))
    assert re.search(r"rolls in .* nine games in ten\s+a roll is a move with more", text)


@pytest.mark.parametrize("game", [SavedRolls(), SavedRolls(n=3), Served()], ids=str)
def test_an_action_beside_equally_good_dice_to_keep_is_not_better_than_all(game):
    solution = rollwise.solve(game)
    graph, best = solution.graph, solution.is_best
    n_best = np.add.reduceat(best.astype(int), graph.action_indptr[:-1])
    alone = best & has_choice(graph)[graph.action_state] & (n_best[graph.action_state] == 1)
    for option in balance(solution, evaluations=0).decisions.options:
        assert option.only_best == np.sum(alone[graph.action_label == option.number])


@given(st.integers(0, 10_000))
@settings(max_examples=8)
def test_any_game_has_its_figures(seed):
    try:
        figures = balance(RandomTable(seed=seed), evaluations=0)
    except EndlessPlay:
        return
    assert figures.luck.value >= 0
    assert figures.decisions.matter <= figures.decisions.positions
    if figures.skill is not None:
        assert -1e-9 <= figures.skill.share.value <= 1
    if figures.drama is not None and figures.drama.decided is not None:
        total = figures.drama.decided.chance.sum() + figures.drama.draws.value
        assert total == pytest.approx(1, abs=1e-6)


# ---- beating a friend: what is learned of them, what is promised, and what is risked


def played(policies, friend, games, seed=1):
    """The choices of a friend in games against optimal play."""
    graph, random = policies.graph, np.random.default_rng(seed)
    seats, found = [policies.find(friend), policies.find("optimal")], []
    for game in range(games):
        state, seat = 0, game % 2
        while state >= 0:
            here = graph.view[state]
            chances = seats[seat].probability[here.action_range.start : here.action_range.stop]
            action = here.actions[random.choice(len(chances), p=chances)]
            if here.is_choice and seat == 0:
                found.append(action.index)
            outcome = action.outcomes[random.choice(len(action.chances), p=action.chances)]
            state, seat = outcome.target, seat ^ outcome.passes
    return np.array(found, np.int64)


@pytest.fixture(scope="module")
def piglet():
    return Policies.of(rollwise.solve(Piglet(target=6)))


def hold_at_once(s):
    return int(s.turn > 0)


@pytest.fixture(scope="module")
def hasty(piglet):
    """Somebody who holds at one point."""
    return learn_friend(piglet, played(piglet, hold_at_once, 150))


def naive_value(graph, sure, trust):
    """Both seats' values of the game against the worst of those who do at least that."""
    mine, theirs = np.zeros(graph.n_states), np.zeros(graph.n_states)

    def worth(action, one, other):  # in the eyes of `one`
        total = sum(
            o.weight * (o.payoff if o.is_over else -other[o.target] if o.passes else one[o.target])
            for o in action.outcomes
        )
        return action.reward + total / action.total

    for _ in range(150):
        for state in graph.view:
            of_mine = [worth(a, mine, theirs) for a in state.actions]
            of_theirs = np.array([worth(a, theirs, mine) for a in state.actions])
            least = trust * sure[state.action_range.start : state.action_range.stop]
            mine[state.index] = max(of_mine)
            theirs[state.index] = least @ of_theirs + (1 - least.sum()) * of_theirs.max()
    return mine[0], theirs[0]


@pytest.mark.parametrize("trust", [0.3, 1.0])
def test_the_biased_game_is_worth_what_a_naive_twin_says(piglet, hasty, trust):
    seats = take_seats(piglet.graph, [None, None], [0])
    game, source = biased(seats, trust * hasty.at_least(1))
    found, certificate, _ = solve_and_certify(game)
    first, second = naive_value(piglet.graph, hasty.at_least(1), trust)
    assert found.values[0] == pytest.approx(first, abs=1e-9)
    assert found.values[1] == pytest.approx(second, abs=1e-9)
    assert certificate.bound < 1e-9
    assert len(source) == game.n_actions


def best_against(policies, friend):
    """What the best response wins, mean over the seats."""
    return 0.5 + rollwise.best_response(policies, friend, starts=[0]).exploitability() / 2


def test_a_friend_is_beaten_and_nobody_wins_more_than_is_risked(piglet, hasty):
    found = exploit(piglet, hasty, 0.2)
    best, optimal = found.best, found.optimal
    assert optimal.risk.value <= optimal.risk.bound
    assert best.gain.value > optimal.gain.value
    assert 0 < best.risk.value <= 0.2
    answer = rollwise.best_response(piglet, best.policy, starts=[0])
    assert best.risk.value == pytest.approx(answer.exploitability() / 2, abs=1e-12)
    got = rollwise.evaluate(piglet, best.policy, hasty.mean(), starts=[0])
    mean = (got.win_probability[0] + got.win_probability_second[0]) / 2
    assert best.gain.value == pytest.approx(mean, abs=1e-12)
    assert found.likely[0] <= found.likely[1]
    trusts = [one.trust for one in found.responses]
    assert trusts == sorted(trusts)
    assert best.gain.value == pytest.approx(best_against(piglet, hasty.mean()), abs=1e-3)
    assert exploit(piglet, hasty, 0.0).best.risk.value <= 1e-12


@given(st.integers(0, 10_000), st.floats(0.0, 1.0))
@settings(max_examples=10)
def test_the_promise_is_kept(seed, share):
    """Against whoever does at least what is sure, and anything else besides."""
    try:
        policies = Policies.of(rollwise.solve(RandomTable(seed=seed)))
    except EndlessPlay:
        return
    graph = policies.graph
    if graph.players != 2 or not has_choice(graph).any():
        return
    random = np.random.default_rng(seed)
    actions = np.flatnonzero(has_choice(graph)[graph.action_state])
    try:
        friend = learn_friend(policies, random.choice(actions, 30))
        found = exploit(policies, friend, 10.0)
    except EndlessPlay:
        return
    weights = random.dirichlet([0.3] * graph.n_actions)
    total = np.add.reduceat(weights, graph.action_indptr[:-1])
    anything = weights / total[graph.action_state]
    sure = friend.at_least(1)
    left = 1 - np.add.reduceat(sure, graph.action_indptr[:-1])
    policy = Policy("somebody", sure + left[graph.action_state] * anything)
    one = found.responses[-1]
    assert one.trust == 1
    try:
        got = rollwise.evaluate(policies, one.policy, policy, starts=[0])
    except EndlessPlay:
        return
    mean = (got.values[0] + got.values_second[0]) / 2
    worth = mean if graph.is_score else (1 + mean) / 2
    assert worth >= one.promise.value - one.promise.bound - 1e-9


def test_a_loss_whose_range_is_unknown_is_marked(tmp_path):
    """Both may wait, and push towards their end of a line; endless play is a draw."""
    (tmp_path / "tug.py").write_text(
        "from dataclasses import dataclass\n"
        "from typing import ClassVar, NamedTuple\n"
        "from rollwise import LOSE, PASS, WIN, Game\n"
        "class At(NamedTuple):\n"
        "    at: int\n"
        "@dataclass(frozen=True)\n"
        "class Tug(Game):\n"
        "    endless = 'draw'\n"
        "    width: int = 4\n"
        "    def start(self):\n"
        "        return At(-1)\n"
        "    def actions(self, s):\n"
        "        return (0, 1, 2)\n"
        "    def outcomes(self, s, action):\n"
        "        ways = (((1, 0),), ((5, 1), (6, -1)), ((1, 2), (1, -2)))[action]\n"
        "        for weight, step in ways:\n"
        "            at = s.at + step\n"
        "            end = WIN if at >= self.width else LOSE if at <= -self.width else PASS\n"
        "            yield weight, end, At(-at)\n"
    )
    said = output("diff", "tug.py", "width=4", "width=5", cwd=tmp_path)
    assert "over the seats * (certified" in said
    assert re.search(r"at=3 .* 3\.8843\n", said)
    said = output("balance", "tug.py", "--evaluations", "0", cwd=tmp_path)
    assert "wins 38.6364 %: behind by 0.2334 of the luck" in said


def test_a_head_start_without_a_range_is_refused_with_its_own_field_in_the_remedy():
    said = refusal("handicap", "pig", "target=9", "--points", "banked")
    assert "write banked=20..120" in said


def test_without_luck_each_loss_matters(tmp_path):
    """Best play always wins, by chances on the way: the deviation is 0, up to rounding."""
    (tmp_path / "bounce.py").write_text(
        "from dataclasses import dataclass\n"
        "from typing import ClassVar, NamedTuple\n"
        "from rollwise import AGAIN, LOSE, WIN, Game\n"
        "class At(NamedTuple):\n"
        "    at: int\n"
        "@dataclass(frozen=True)\n"
        "class Bounce(Game):\n"
        "    players = 1\n"
        "    endless = 'lose'\n"
        "    def start(self):\n"
        "        return At(2)\n"
        "    def actions(self, s):\n"
        "        return (0, 1) if s.at % 2 == 0 else (0,)\n"
        "    def outcomes(self, s, action):\n"
        "        yield (2, LOSE, s) if action else (2, AGAIN, At((s.at + 1) % 6))\n"
        "        yield (1, WIN, s) if action or s.at == 5 else (1, AGAIN, At((s.at - 1) % 6))\n"
    )
    line = ("balance", "bounce.py", "--evaluations", "0")
    assert "matter: to choose at random costs something" in output(*line, cwd=tmp_path)
    decisions = json.loads(output(*line, "--json", cwd=tmp_path))["decisions"]
    assert decisions["threshold"] == 0
    assert decisions["positions_that_matter"] == decisions["positions"] == 3
