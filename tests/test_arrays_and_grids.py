"""A strategy as arrays over the fields and as two matrices; columns and rows of worth."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cli_runner import output, refusal

from rollwise import solve
from rollwise.builders import build
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.threes import Threes
from rollwise.learn import Learner

BLACKJACK = DiceBlackjack(sides=6, low=15, high=17, dice=2)


def test_counters_as_three_dimensional_arrays():
    """The third game of the assignment raises these counters and no others."""
    learner = Learner(build(BLACKJACK), seed=1)
    learner.record([(2, (0, 7)), (2, (7, 5)), (2, (5, 14)), (2, (14, 13)), (1, "win")])
    wins, losses, draws = learner.count_arrays()
    assert wins.shape == losses.shape == (15, 15, 3)
    won, lost = np.argwhere(wins).tolist(), np.argwhere(losses).tolist()
    assert won == [[0, 0, 2], [7, 5, 2], [14, 13, 1]]
    assert lost == [[0, 7, 2], [5, 14, 2]]
    assert wins.sum() == 3
    assert losses.sum() == 2
    assert not draws.any()


def test_the_exact_answer_as_two_matrices():
    solution = solve(BLACKJACK)
    grid = solution.grid()
    assert grid.actions.shape == grid.worth.shape == (15, 15)
    assert grid.error_bound < 1e-13
    for mine, theirs in [(0, 0), (9, 5), (9, 6), (14, 13)]:
        state = solution.find((mine, theirs))
        assert grid.worth[mine, theirs] == solution.win_probabilities[state]
        assert (
            grid.actions[mine, theirs] == solution.graph.action_label[solution.best_actions[state]]
        )
    assert (grid.actions == 2).sum() == 140
    document = json.loads(output("table", "dice-blackjack", "--grid", "--json"))
    assert document["action_grid"] == grid.actions.tolist()
    assert document["win_probability_grid"] == grid.worth.tolist()
    text = output("table", "dice-blackjack", "--grid").splitlines()
    assert text[2].split() == ["0", "|", *map(str, grid.actions[0].tolist())]
    assert "certified ± " in text[18]


def test_a_grid_of_some_positions():
    document = json.loads(
        output("table", "super-six", "sticks=7", "--grid", "--json", "--where",
               "lid == 4 and forced == 0")
    )  # fmt: skip
    assert (document["rows"], document["columns"]) == ("mine", "theirs")
    assert document["action_grid"] == [[0, 1], [1, -1]]  # throw at 4/1/1 only; 4/2/2 has 8 sticks
    assert np.round(document["win_probability_grid"], 7).tolist() == [
        [0.5242297, 0.6814883],
        [0.3415501, -1],
    ]
    said = refusal("table", "pig", "target=9", "--grid")
    assert "banked, rival, turn differ" in said
    assert "--where" in said
    assert "no position where" in refusal(
        "table", "pig", "target=9", "--grid", "--where", "banked > 8 and turn == 0"
    )
    assert "throw" in refusal("table", "yahtzee", "boxes=1", "--grid")


def test_a_column_for_each_action():
    """P_roll and P_end of the fourth source, of which the larger is P_choice."""
    rows = json.loads(
        output("table", "super-six", "sticks=7", "--each-action", "--where", "lid == 4", "--json")
    )["rows"]
    by_place = {(row["mine"], row["theirs"], row["forced"]): row for row in rows}
    free, forced = by_place[1, 2, 0], by_place[1, 2, 1]
    assert free["P_throw"] == pytest.approx(0.6584499, abs=5e-8)
    assert free["P_stop"] == free["win_probability"] == pytest.approx(0.6814883, abs=5e-8)
    assert (forced["P_throw"], forced["P_stop"]) == (free["P_throw"], None)
    for row in rows:  # to end the turn is to let the other one roll
        if not row["forced"]:
            other = by_place[row["theirs"], row["mine"], 1]
            assert row["P_stop"] == pytest.approx(1 - other["P_throw"], abs=1e-14)
    text = output("table", "super-six", "sticks=7", "--each-action", "--limit", "1")
    assert text.splitlines()[0].split()[-2:] == ["P_throw", "P_stop"]
    frame = solve(Threes(dice=1)).table(each_action=True)
    assert frame.columns[-1] == "value_take 1"
    one_die = frame.drop_nulls("value_take 1")
    assert len(one_die) == 6
    assert one_die["value_take 1"].to_list() == one_die["value"].to_list()
    assert "before the throw" in refusal("table", "yahtzee", "boxes=1", "--each-action")
