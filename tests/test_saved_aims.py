"""Policies of second aims in files, and games with the points made so far in their states."""

from __future__ import annotations

import numpy as np
import pytest
from test_optimal_set import Walk

from rollwise import Game, evaluate, solve
from rollwise.analysis.distributions import distribution
from rollwise.analysis.second_aims import second_aims
from rollwise.answer.references import Policies
from rollwise.derive.chase import WithScore
from rollwise.errors import PolicyError
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
            policies, str(tmp_path / "aim.csv"), points=np.ones(policies.graph.n_outcomes, np.int64)
        )
        assert made.mean == pytest.approx(worth.value, abs=1e-9)


def test_a_saved_policy_of_a_game_for_two(tmp_path):
    solution = solve(Pig(target=12))
    second_aims(solution, ["most:roll"]).table(solution).write_parquet(tmp_path / "roll.parquet")
    result = evaluate(Pig(target=12), str(tmp_path / "roll.parquet"))
    assert float(result.values[0]) == pytest.approx(solution.value, abs=1e-9)
    assert evaluate(Pig(target=12), "optimal", str(tmp_path / "roll.parquet"))
