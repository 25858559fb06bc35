"""Results in Python: a short line as representation, and a notebook view in words."""

from __future__ import annotations

import dataclasses
import importlib
import pickle

import numpy as np
import pytest
from cli_runner import output, run

import rollwise
import rollwise.hidden
from rollwise.analysis.balance import balance
from rollwise.analysis.frontier import frontier
from rollwise.analysis.handicap import handicap
from rollwise.analysis.length_range import length_range
from rollwise.analysis.losses import loss_of
from rollwise.analysis.thumb.frontier import find_rules
from rollwise.answer.references import Policies
from rollwise.documents.views import VIEWS
from rollwise.games.kuhn_poker import KuhnPoker
from rollwise.games.pig import Pig, Piglet
from rollwise.games.threes import Threes
from rollwise.hooks import InWords
from rollwise.learn import Learner, learn
from rollwise.simulate import simulate, tournament
from rollwise.simulate.seats import tournament_of_many

PIGLET, THREES, MANY = Piglet(target=3), Threes(dice=2), Pig(target=3, players=3)


def seats(find):
    """A function of the graph of `MANY` and two policies."""
    solution = rollwise.solve(MANY)
    policies = Policies.of(solution, any_players=True)
    return find(solution.graph, [solution.policy, policies.find("random")])


RESULTS = {
    "match": lambda: simulate(PIGLET, "hold-at-2", "optimal", games=100, seed=1),
    "tournament": lambda: tournament(PIGLET, ["optimal", "random"]),
    "seats": lambda: simulate(MANY, ["optimal", "random", "random"], games=100, seed=1),
    "seatings": lambda: seats(lambda graph, of: tournament_of_many(graph, of, None)),
    "equilibrium": lambda: rollwise.equilibrium(MANY),
    "evaluation": lambda: rollwise.evaluate(PIGLET, "random"),
    "response": lambda: rollwise.best_response(PIGLET, "random"),
    "length": lambda: length_range(PIGLET),
    "frontier": lambda: frontier(THREES),
    "balance": lambda: balance(PIGLET),
    "handicap": lambda: handicap(PIGLET, "banked", range(2)),
    "contest": lambda: rollwise.solve_contest(rollwise.Contest(THREES, 2)),
    "many dice": lambda: rollwise.many_dice(THREES, 3),
    "distributions": lambda: rollwise.distributions(THREES, "optimal"),
    "grid": lambda: rollwise.solve(PIGLET).grid("turn == 0"),
    "rules of thumb": lambda: find_rules(PIGLET, 1, evaluations=20),
    "learned": lambda: learn(rollwise.build(PIGLET), 100, seed=1),
    "loss": lambda: loss_of(Policies.of(PIGLET), Policies.of(PIGLET).find("random")),
    "hidden": lambda: rollwise.hidden.solve(KuhnPoker()),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_a_short_line_and_a_view(name):
    result = RESULTS[name]()
    assert isinstance(result, InWords)
    assert len(repr(result)) < 700
    assert "\n" not in repr(result)
    assert "array([" not in repr(result)
    assert str(result).strip()
    assert "array([" not in str(result)
    assert result._repr_html_().startswith(("<p>", "<div", "<pre>"))


@pytest.mark.parametrize(
    "make",
    [
        *RESULTS.values(),
        lambda: rollwise.solve(MANY),
        lambda: rollwise.solve_by_layers(PIGLET),
        lambda: rollwise.distribution(THREES),
        lambda: rollwise.check(PIGLET),
    ],
)
def test_results_go_to_other_processes(make):
    result = make()
    again = pickle.loads(pickle.dumps(result))
    assert repr(again) == repr(result)
    assert again._repr_html_() == result._repr_html_()


def test_a_response_goes_to_another_process_with_its_policy():
    response = rollwise.best_response(PIGLET, "random")
    again = pickle.loads(pickle.dumps(response))
    assert np.array_equal(again.response.probability, response.response.probability)


def test_a_match_and_a_tournament_are_told_as_on_the_command_line():
    asked = ("simulate", "piglet", "target=3", "--policy", "random", "--games", "50", "--seed", "7")
    assert str(simulate(PIGLET, "random", games=50, seed=7)) == output(*asked).rstrip("\n")
    asked = ("tournament", "piglet", "target=3", "--policies", "random,hold-at-2")
    assert str(tournament(PIGLET, ["random", "hold-at-2"])) == output(*asked).rstrip("\n")


def test_seats_are_told_as_on_the_command_line():
    asked = ("simulate", "pig", "target=3", "players=3", "--policy", "optimal,random,random")
    played = simulate(MANY, ["optimal", "random", "random"], games=50, seed=7)
    assert str(played) == output(*asked, "--games", "50", "--seed", "7").rstrip("\n")
    assert (
        played.exact.win_probabilities
        == rollwise.evaluate(MANY, ["optimal", "random", "random"]).win_probabilities
    )


def test_a_match_of_optimal_policies_tells_of_ties():
    assert "several actions are equally good" in str(
        simulate(Threes(), "optimal", games=50, seed=7)
    )


def test_a_policy_and_a_tournament_tell_of_ties():
    game = Threes()
    for result in (
        rollwise.evaluate(game, "0.5*optimal+0.5*random"),
        tournament(game, ["optimal", "take-one"]),
    ):
        assert "several actions are equally good" in str(result)


def test_a_learner_names_its_game():
    learner = Learner(rollwise.build(PIGLET), seed=3)
    learner.record([("flip", (0, 0, turn)) for turn in (1, 2)] + [("flip", "win")])
    assert repr(learner) == "<Learner of piglet target=3: 1 game, seed 3>"


def test_every_view_is_of_a_class():
    for name in VIEWS:
        module, _, kind = name.rpartition(".")
        found = getattr(importlib.import_module(f"rollwise.{module}"), kind)
        if dataclasses.is_dataclass(found) and issubclass(found, InWords):
            assert "__repr__" not in vars(found), name


@pytest.mark.parametrize("players", [2, 3])
def test_exact_tournaments_tell_of_options_without_effect(players):
    asked = ("pig", "target=3", f"players={players}", "--policies", "optimal,random")
    done = run("tournament", *asked, "--seed", "1")
    assert done.returncode == 0
    assert "--no-exact simulates" in done.stderr
    assert "--no-exact" not in run("tournament", *asked).stderr
