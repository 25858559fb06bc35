"""Wins within some turns: against the definition and play followed forward."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from cli_runner import output

from rollwise import build, evaluate, solve
from rollwise.analysis.lengths import lengths, within
from rollwise.answer.certified import solve_and_certify
from rollwise.answer.evaluate_seats import evaluate_seats
from rollwise.answer.references import Policies
from rollwise.derive.within import Within
from rollwise.game import PASS, WIN, is_over
from rollwise.games.craps import Craps
from rollwise.games.first_orchard import FirstOrchard
from rollwise.games.frozen_lake import FrozenLake
from rollwise.games.pig import Pig, Piglet
from rollwise.games.super_six import SuperSix

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


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_the_graph_made_from_the_graph_is_that_of_the_rules(game):
    form = game.within(4)
    made, written = build(form), build(form, mode="interpreted")
    values = [solve_and_certify(graph)[0].values[0] for graph in (made, written)]
    assert values[0] == pytest.approx(values[1], abs=1e-14)
    if not game.has_throws:
        assert np.array_equal(made.states, written.states)


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
