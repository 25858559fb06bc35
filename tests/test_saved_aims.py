"""Policies of second aims in files, and games with the points made so far in their states."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from cli_runner import output, refusal
from test_optimal_set import Walk

from rollwise import Game, evaluate, solve
from rollwise.analysis.distributions import distribution
from rollwise.analysis.second_aims import ranges_of_scores, second_aims
from rollwise.answer.references import Policies
from rollwise.builders import build
from rollwise.derive.chase import WithScore
from rollwise.errors import PolicyError, UsageError
from rollwise.games.pig import Pig
from rollwise.games.threes import Threes

SOLITAIRE = [Walk(3), Threes(dice=3), Threes(dice=4, skip=False)]


def saved(game: Game, aim: str, place):
    """The policy of an aim, written to a file, and the certified value of the aim."""
    solution = solve(game)
    found = second_aims(solution, [aim])
    found.table(solution).write_csv(place)
    return found.values[0]


@pytest.mark.parametrize("game", SOLITAIRE, ids=str)
def test_with_score_the_rules_and_the_arrays_give_one_graph(game):
    """Derived from arrays, and built from the rules: the same."""
    derived, built = build(WithScore(game)), build(WithScore(game), mode="interpreted")
    assert derived.field_names == built.field_names == (*build(game).field_names, "score")
    assert np.array_equal(derived.states, built.states)
    assert np.array_equal(derived.action_label, built.action_label)
    assert np.array_equal(derived.action_reward, built.action_reward)
    assert np.array_equal(derived.outcome_state, built.outcome_state)
    assert np.array_equal(derived.outcome_weight, built.outcome_weight)
    assert solve(WithScore(game)).value == pytest.approx(solve(game).value, abs=1e-12)


@pytest.mark.parametrize("game", SOLITAIRE, ids=str)
@pytest.mark.parametrize("aim", ["variance", "most:variance", "most:score<=3"])
def test_a_saved_policy_reaches_its_aim(game, aim, tmp_path):
    worth = saved(game, aim, tmp_path / "aim.csv")
    scored = WithScore(game)
    policies = Policies.of(scored)
    reference = str(tmp_path / "aim.csv")
    result = evaluate(policies, reference)
    assert float(result.values[0]) == pytest.approx(solve(game).value, abs=1e-9)
    made = distribution(policies, reference)
    reached = made.at_most(3) if "score" in aim else made.sd**2
    assert reached == pytest.approx(worth.value, abs=1e-9)
    with pytest.raises(PolicyError, match="looks at the points made so far"):
        Policies.of(game).find(reference)


def test_where_the_score_counts_for_nothing_it_is_a_policy_of_the_game(tmp_path):
    """How long a play takes doesn't rest on points, so the file has the game's own fields."""
    for aim in ("moves", "least:moves"):
        worth = saved(Threes(dice=3), aim, tmp_path / "aim.csv")
        policies = Policies.of(Threes(dice=3))
        made = distribution(
            policies, str(tmp_path / "aim.csv"), points=np.ones(policies.graph.n_actions, np.int64)
        )
        assert made.mean == pytest.approx(worth.value, abs=1e-9)


def test_a_saved_policy_of_a_game_for_two(tmp_path):
    solution = solve(Pig(target=12))
    second_aims(solution, ["most:roll"]).table(solution).write_parquet(tmp_path / "roll.parquet")
    result = evaluate(Pig(target=12), str(tmp_path / "roll.parquet"))
    assert float(result.values[0]) == pytest.approx(solution.value, abs=1e-9)
    assert evaluate(Pig(target=12), "optimal", str(tmp_path / "roll.parquet"))


def test_ranges_with_score_are_those_of_the_game():
    game = Threes(dice=3)
    assert ranges_of_scores(WithScore(game), [0, 4]) == ranges_of_scores(game, [0, 4])


def test_with_score_is_for_points():
    with pytest.raises(UsageError, match="played for points"):
        WithScore(Pig(target=12))


def test_the_commands(tmp_path):
    game = ("threes", "dice=3")
    shown = output("optimal", *game, "--then", "variance", "--save", "calm.csv", cwd=tmp_path)
    assert "Saved to calm.csv (a policy with as=score)." in shown
    told = json.loads(
        output(
            "optimal", *game, "--then", "variance", "--save", "calm.parquet", "--json", cwd=tmp_path
        )
    )
    assert pl.read_csv(tmp_path / "calm.csv").equals(
        pl.read_parquet(tmp_path / "calm.parquet").cast({pl.Int32: pl.Int64})
    )
    options = ("--policy", "calm.csv", "as=score")
    value = json.loads(output("evaluate", *game, *options, "--json", cwd=tmp_path))["value"]
    assert value == pytest.approx(told["value"], abs=1e-9)
    played = output("simulate", *game, *options, "--games", "1000", "--seed", "1", cwd=tmp_path)
    assert "as=score" in played
    narrated = output("simulate", *game, *options, "--tell", "1", "--seed", "1", cwd=tmp_path)
    assert "calm.csv" in narrated
    wrote = output("plot", *game, "scores", *options, "--out", "a.html", cwd=tmp_path)
    assert "wrote a.html" in wrote
    blind = ("simulate", *game, "--policy", "calm.csv")
    assert "ask with as=score" in refusal(*blind, cwd=tmp_path)
    assert "goes with --then" in refusal("optimal", *game, "--save", "x.csv", cwd=tmp_path)
    named = ("optimal", *game, "--then", "variance", "--save", "x.txt")
    assert "must end in .csv or .parquet" in refusal(*named, cwd=tmp_path)
    both = ("simulate", *game, "--policy", "optimal", "as=score", "as=contest")
    assert "given twice" in refusal(*both)
