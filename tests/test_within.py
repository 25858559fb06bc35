"""Wins within some turns: against the definition and play followed forward."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output
from stalling_games import Dials
from throwing import SavedRolls

import rollwise
from rollwise import Chase, build, evaluate, solve
from rollwise.analysis import reaching
from rollwise.analysis.chain import distribution_given, followed
from rollwise.analysis.distributions import distribution
from rollwise.analysis.lengths import Turns, lengths, within
from rollwise.analysis.reaching import best_chances, reach, reach_by_layer
from rollwise.answer.evaluation import evaluate_seats
from rollwise.answer.references import Policies
from rollwise.derive.within import Within
from rollwise.errors import EndlessPlay, TooManyStates, UsageError
from rollwise.game import Game
from rollwise.games import find
from rollwise.games.craps import Craps
from rollwise.games.first_orchard import FirstOrchard
from rollwise.games.frozen_lake import FrozenLake
from rollwise.games.pig import Pig, Piglet
from rollwise.games.snakes_and_ladders import SnakesAndLadders
from rollwise.games.super_six import SuperSix
from rollwise.games.threes import Threes
from rollwise.games.yahtzee import Yahtzee
from rollwise.graph.policies import Policy
from rollwise.then import AGAIN, END, PASS, WIN, is_over

GAMES = [Craps(), FirstOrchard(trees=2, fruit=2, raven=2), Piglet(target=3), SuperSix(sticks=5)]


def naive(game, s, left, is_first):
    """The chance that the first player wins within the turns left, by the definition."""
    way = max if is_first else min
    throws = list(game.throws(s)) if game.has_throws else [(1, None)]
    total = Fraction(0)
    for ways, throw in throws:
        choice = () if throw is None else (throw,)
        best = []
        for action in game.actions(s, *choice):
            value = weights = Fraction(0)
            for weight, then, after in game.outcomes(s, *choice, action):
                weights += weight
                if is_over(then):
                    value += weight * ((then == WIN) == is_first)
                else:
                    ends = game.players == 1 or then == PASS
                    mover = is_first != (then == PASS)
                    if left > ends:
                        value += weight * naive(game, after, left - ends, mover)
            best.append(value / weights)
        total += ways * way(best)
    return total / sum(ways for ways, _ in throws)


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_the_best_chance_against_the_definition(game):
    best = within(build(game), [Policies.of(game).find("optimal")], 4, best=True).best
    for turns in range(1, 5):
        chance = naive(game, game.start(), turns, is_first=True)
        solution = solve(Within(game, turns))
        assert abs(Fraction(solution.win_probability) - chance) <= solution.error_bound < 1e-13
        assert abs(Fraction(float(best[turns - 1])) - chance) < Fraction(1, 10**13)


class Chosen(Dials):
    """The same without turning: the dial is chosen, as turning it for ever gains nothing."""

    endless = "forbidden"

    def outcomes(self, s, action):
        yield from super().outcomes(s._replace(dial=action), 1)


def test_an_endless_turn_is_lost_to_its_player():
    curve = within(build(Dials()), [Policies.of(Dials()).find("optimal")], 5, best=True)
    assert curve.best[4] > 0.2
    for turns, chance in enumerate(curve.best, 1):
        twin = solve(Chosen().within(turns)).win_probability
        assert chance == pytest.approx(twin, abs=1e-12)
        assert solve(Dials().within(turns)).win_probability == pytest.approx(twin, abs=1e-12)


def test_an_endless_turn_wins_for_the_other_player_or_is_a_draw():
    graph = build(Dials())
    turn, take = (Policy(str(a), (graph.action_label == a).astype(float)) for a in (0, 1))
    for players, won in [([turn, take], [1, 1, 1]), ([take, turn], [0, 1, 1])]:
        curve = within(graph, players, 3)
        assert np.allclose(curve.won[players[0] is turn], won)
        assert np.allclose(curve.won[players[0] is take], 0)
        assert np.allclose(curve.over, 0)
    curve = within(replace(graph, endless="draw"), [turn, take], 3, best=True)
    assert np.allclose([curve.over, *curve.won, curve.best], 0)


class Standstill(Dials):
    endless = "draw"


def test_a_drawn_turn_has_no_place_in_a_win_in_time():
    """It would be lost to the first player, even if the second one keeps it up."""
    with pytest.raises(EndlessPlay, match=r'only where it is lost \(endless = "lose"\)'):
        solve(Standstill().within(3))


@pytest.mark.parametrize("game", ["piglet target=3", "first-orchard trees=2 fruit=2 raven=2"])
def test_the_exact_check_reads_the_rule_sheet(game, tmp_path):
    file = str(tmp_path / "answer.parquet")
    output("solve", *game.split(), "as=within", "turns=5", "--save", file)
    assert "on the rule sheet itself, in exact arithmetic" in output("verify", file, "--exact")


def test_the_published_chance_of_a_walk_of_100_steps():
    solution = solve(FrozenLake().within(100))
    # Gymnasium's FrozenLake-v1, whose episodes have 100 steps; a field of the rules counts them too
    assert abs(solution.win_probability - 0.7441902878) < 5e-11
    assert solution.win_probability == pytest.approx(
        solve(FrozenLake(steps=100)).win_probability, abs=2 * solution.error_bound
    )


def test_chances_against_play_followed_forward():
    policies = Policies.of(Pig(target=20))
    plan = policies.find("hold-at-20")
    curve, found = within(policies.graph, [plan], 15), lengths(policies.graph, plan)
    for row, ended in ((curve.over, found.chance), (curve.won[0], found.first)):
        assert np.abs(row - np.cumsum(ended)[1:16]).max() < 1e-13
    assert np.abs(curve.won[1] - np.cumsum(found.second)[1:16]).max() < 1e-13


def test_in_the_end_each_seat_has_its_share():
    policies = Policies.of(Pig(target=3, players=3), any_players=True)
    plan = policies.find("hold-at-20")
    curve = within(policies.graph, [plan], 120)
    shares = evaluate_seats(policies.graph, [plan]).win_probabilities
    assert [row[-1] for row in curve.won] == pytest.approx(list(shares), abs=1e-9)


def test_each_player_has_a_policy():
    game, names = Pig(target=20), "hold-at-20,random"
    words = ("length", "pig", "target=20", "--within", "9", "--policy", names, "--json")
    rows = json.loads(output(*words))["rows"]
    worth = evaluate(game.within(9), *names.split(","))
    assert rows[8]["won"][0] == pytest.approx(worth.win_probability[0], abs=1e-13)


# ---- the best chance of each score, by layers and from a graph: against the definition and chases


class Stall(NamedTuple):
    left: int
    held: int


@dataclass(frozen=True)
class Fair(Game):
    """Three throws. Throw a die for its points, or take two points; a 1 ends it all.

    With `lower` it costs a point to take them.
    """

    lower: bool = False
    players: ClassVar = 1
    objective: ClassVar = "maximize"

    def start(self):
        return Stall(3, 0)

    def progress(self, s):
        return -s.left

    def throws(self, s) -> Iterator[tuple[int, int]]:
        for face in range(1, 7):
            yield 1, face

    def actions(self, s, throw):
        yield 0
        if s.held < 2:
            yield 1

    def reward(self, s, throw, action):
        return (-1 if self.lower else 2) if action else throw

    def outcomes(self, s, throw, action):
        after = Stall(s.left - 1, s.held + action)
        yield 2, END if s.left == 1 or throw == 1 else AGAIN, after
        yield 1, END, after


def naive_of_reaching(game: Fair, score: int) -> Fraction:
    """By the definition, with a policy that knows the points so far."""

    @cache
    def chance(s, gap):
        total = Fraction(0)
        for weight, throw in game.throws(s):
            best = Fraction(0)
            for action in game.actions(s, throw):
                left, value = gap - game.reward(s, throw, action), Fraction(0)
                for ways, then, after in game.outcomes(s, throw, action):
                    value += Fraction(ways, 3) * (left <= 0 if then == END else chance(after, left))
                best = max(best, value)
            total += Fraction(weight, 6) * best
        return total

    return chance(game.start(), score)


def test_layers_against_the_definition():
    game = Fair()
    found = reach_by_layer(game, 18)
    for score, chance in enumerate(found.chances.tolist()):
        assert abs(Fraction(chance) - naive_of_reaching(game, score)) <= found.error_bound < 1e-13


@pytest.mark.parametrize(
    ("game", "most"), [(Yahtzee(boxes=2), 15), (SavedRolls(), 18), (SavedRolls(n=3), 27)], ids=str
)
def test_a_pool_of_dice_against_the_graph(game, most):
    """Also where the rules read the rolls left, so that each has actions of its own."""
    scores = list(range(most + 3))
    by_layer = reach_by_layer(game, scores[-1])
    by_graph = reach(game, scores)
    bound = by_layer.error_bound + by_graph.error_bound
    assert by_layer.chances == pytest.approx(by_graph.chances, abs=bound, rel=0)
    assert by_layer.chances[most] > 0
    assert by_layer.chances[most + 1] == 0
    assert by_layer.chances[0] == pytest.approx(1)


@pytest.mark.parametrize("game", [Threes(dice=2), SnakesAndLadders()], ids=str)
def test_few_points_against_chases(game):
    scores = [7, 12, 9]
    found = reach(game, scores)
    for score, chance in zip(scores, found.chances.tolist(), strict=True):
        one = solve(Chase(game, score))
        assert abs(one.win_probability - chance) <= found.error_bound + one.error_bound
    assert reach(Threes(dice=2), [-1, 99]).chances.tolist() == [0, 1]


STROKES = """
from typing import NamedTuple
from rollwise import AGAIN, END, Game, dice

class Hole(NamedTuple):
    hole: int

class Strokes(Game):
    players, objective = 1, "minimize"

    def start(self):
        return Hole(1)

    def throws(self, s):
        return dice.pool(2, sides=4, rerolls=1)

    def actions(self, s, throw):
        yield 0

    def reward(self, s, throw, action):
        return throw[0] + throw[1]

    def outcomes(self, s, throw, action):
        yield 1, END if s.hole == 2 else AGAIN, Hole(s.hole + 1)

    def progress(self, s):
        return s.hole
"""


@pytest.mark.parametrize("aim", ["minimize", "maximize"])
@pytest.mark.parametrize("less", [0, 5])
def test_the_scores_of_a_pool_with_progress_have_chances(aim, less, tmp_path):
    """Layers are for the most points from 0 on; other small games are solved by a chase."""
    path = tmp_path / "strokes.py"
    path.write_text(STROKES.replace("minimize", aim).replace("throw[1]", f"throw[1] - {less}"))
    rows = json.loads(output("distribution", str(path), "--reach", "4,5", "--json"))["rows"]
    solved = [solve(find(str(path))().chase(score)).win_probability for score in (4, 5)]
    assert [row["chance"] for row in rows] == pytest.approx(solved, abs=1e-12)


def test_other_games_are_refused():
    with pytest.raises(UsageError, match="whole points from 0 on"):
        reach_by_layer(Fair(lower=True), 5)
    with pytest.raises(UsageError, match="one player who wants many points"):
        reach_by_layer(Threes(), 5)


# ---- chances under a condition on events during play, against a naive recursion


def naive_of_events(play, happens, state, sweeps):
    """The chances of each total with the event, by sweeps over states and whether it happened."""
    graph, n = play.graph, play.graph.n_states
    rows = [[{}, {}] for _ in range(n + 1)]
    rows[-1] = [{}, {0: 1.0}]  # play is over: the event has happened, or never does
    for _ in range(sweeps):
        for s in range(n - 1, -1, -1):
            for flag in range(2):
                row = {}
                for action in graph.view[s].actions:
                    taken = play.policy.probability[action.index]
                    for outcome in action.outcomes:
                        t = outcome.target
                        points = action.reward + (
                            graph.outcome_payoff[outcome.index] if t < 0 else 0
                        )
                        after = rows[t][1 if flag or (t >= 0 and happens[t]) else 0]
                        for total, chance in after.items():
                            key = total + points
                            row[key] = row.get(key, 0.0) + taken * outcome.chance * chance
                rows[s][flag] = row
    return rows[state][int(happens[state])]


@pytest.mark.parametrize(
    ("game", "policy", "event", "happens"),
    [
        (Threes(dice=3), "optimal", "to_roll == 1", lambda row: row["to_roll"] == 1),
        (Threes(dice=2), "random", "to_roll == 2", lambda row: row["to_roll"] == 2),
        (
            Pig(target=6),
            "optimal",
            "seat == 2 and turn >= 4",
            lambda row: row["seat"] == 2 and row["turn"] >= 4,
        ),
    ],
    ids=["threes", "at the start", "pig"],
)
def test_it_is_the_share_of_plays_with_the_event(game, policy, event, happens):
    policies = Policies.of(rollwise.solve(game))
    play = followed(policies.graph, [policies.find(policy)] * policies.graph.players)
    found, share = distribution_given(play, event)
    marks = [happens(dict(zip(play.columns, row, strict=True))) for row in play.rows.tolist()]
    expected = naive_of_events(play, marks, 0, 12 if game.players == 1 else 150)
    assert share == pytest.approx(sum(expected.values()), abs=1e-9)
    for value, chance in zip(found.values, found.probabilities, strict=True):
        assert chance == pytest.approx(expected.get(value, 0.0) / share, abs=1e-9)
    whole = distribution(play.graph, play.policy)
    assert found.error_bound >= whole.error_bound
    if share > 1 - 1e-12:
        assert np.allclose(found.mean, whole.mean)


def test_craps_after_a_six():
    """After a point of 6 the shooter wins 5 of 11 games; 5 of 36 games have this point."""
    policies = Policies.of(rollwise.solve(Craps()))
    found, share = distribution_given(
        followed(policies.graph, [policies.find("optimal")]), "point==6"
    )
    assert found.at_most(0) == pytest.approx(float(Fraction(6, 11)), abs=1e-12)
    assert share == pytest.approx(5 / 36, abs=1e-12)


def test_a_quantile_is_reached_by_a_sum_equal_to_it():
    """Ten tenths in doubles: the sum of eight is less than 0.8."""
    chance = np.array([0.0, *[0.1] * 10])
    assert np.cumsum(chance)[8] < 0.8
    assert [Turns(chance, 0.0).quantile(q) for q in (0.05, 0.1, 0.5, 0.8)] == [1, 1, 5, 8]
    assert Turns(chance / 2, 0.5).quantile(0.8) is None


@pytest.mark.parametrize("cause", ["points", "cycle", "players"])
def test_games_without_fitting_layers_are_solved_from_one_graph(cause, monkeypatch):
    """The choice is explicit: a mistake met in layers isn't taken for their refusal."""
    game = {"points": Fair(lower=True), "cycle": Fair(), "players": Threes(dice=2)}[cause]
    if cause == "cycle":
        monkeypatch.setattr(reaching, "has_no_cycle", lambda _: False)
    found = best_chances(game, [3], in_layers=True)
    assert found.chances.tolist() == reach(game, [3]).chances.tolist()
    with pytest.raises(UsageError, match="chances of scores by layers are for"):
        best_chances(game, [3], in_layers=True, max_states=2)
    with pytest.raises(TooManyStates):
        best_chances(game, [3], in_layers=False, max_states=2)

    def broken(*_):
        raise UsageError("a mistake")

    monkeypatch.setattr(reaching, "sweep_rows", broken)
    monkeypatch.setattr(reaching, "has_no_cycle", lambda _: True)
    with pytest.raises(UsageError, match="a mistake"):
        best_chances(Fair(), [3], in_layers=True)
