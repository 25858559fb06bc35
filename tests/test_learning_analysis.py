"""What was learned against what is true, and why it differs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from cli_runner import output, refusal
from little_games import Ladder
from stakes import Gammons

from rollwise import AGAIN, END, Game, solve
from rollwise.analysis.learning import REASONS, Reference, assess, loss_of
from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.solution import Solution
from rollwise.builders import build
from rollwise.documents.learned import learned_document
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Piglet
from rollwise.games.threes import Threes
from rollwise.learn import Learner, learn
from rollwise.play.games import PlayTable


def test_visits_under_good_play_are_those_of_games():
    """Expected visits, and their sum: the mean length of a game in moves."""
    graph = build(DiceBlackjack(sides=4, low=8, high=9))
    reference = Reference.of(Solution.of_graph(graph), near_tie=0.0)
    table = PlayTable.of(graph, reference.solution.policy)
    assert reference.visits[0] == pytest.approx(1)
    from rollwise.simulate.match import expected_lengths

    ((_, moves),) = expected_lengths(graph, reference.solution.policy)
    assert reference.visits.sum() == pytest.approx(moves.value, abs=1e-9)
    met = np.unique(graph.action_state[table.action[table.action >= 0]])
    assert set(met) == set(np.flatnonzero(reference.visits > 0))


def test_the_sources_examples_of_its_limits():
    # A: target 10 to 20, three sides, two dice; behind 2 to 9, B has lost ... for with 2 it
    # takes two more turns to come to 10, and the other needs one point.
    game = DiceBlackjack(sides=3, low=10, high=20, dice=2)
    graph = build(game)
    reference = Reference.of(Solution.of_graph(graph))
    solution = reference.solution
    assert solution.win_probabilities[graph.find((2, 9))] == 0
    learned = Learner(graph, seed=1)
    learned.play(20_000)
    found = assess(learned.result(), reference)
    reasons = np.array([*REASONS, "right"])[found.reasons]
    assert reasons[graph.find((2, 9))] in ("hopeless", "right")
    # C: nobody should throw one die there, so a total of 1 takes bad play
    assert reference.reachable[graph.find((1, 2))]
    assert reference.visits[graph.find((1, 2))] == 0
    # B: two sides, two dice: <5, 0> can't be come to
    other = build(DiceBlackjack(sides=2, low=15, high=17, dice=2))
    reference = Reference.of(Solution.of_graph(other))
    assert not reference.reachable[other.find((5, 0))]
    learner = Learner(other, seed=1)
    learner.play(2000)
    found = assess(learner.result(), reference)
    assert REASONS[found.reasons[other.find((5, 0))]] == "unreachable"


def test_loss_is_what_a_best_response_takes():
    graph = build(DiceBlackjack(sides=3, low=6, high=7))
    reference = Reference.of(Solution.of_graph(graph))
    learner = Learner(graph, seed=1)
    learner.play(30)
    found = assess(learner.result(), reference)
    assert found.loss > 0
    ladder = build(Ladder())
    reference = Reference.of(Solution.of_graph(ladder))
    learner = Learner(ladder, seed=1)
    learner.play(5)
    found = assess(learner.result(), reference)
    worth = evaluate(ladder, learner.result().policy).values[0]
    assert found.loss == pytest.approx(reference.solution.value - worth)


# ---- a strategy as arrays over the fields and as two matrices; columns and rows of worth


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


@pytest.mark.parametrize("game", [Gammons(length=5), Piglet(target=3), Threes(dice=2)], ids=str)
def test_a_loss_is_in_the_unit_of_the_results(game):
    """Payoffs of a game for stakes, points, or a share of the games won."""
    solution = solve(game)
    learner = Learner(solution.graph, seed=1)
    learner.play(20)
    learned = learner.result()
    if solution.graph.players == 2:
        response = best_response(solution, learned.policy)
        lost = (response.values[0] + response.values_second[0]) / 2
    else:
        lost = evaluate(solution, learned.policy).values[0] - solution.value  # few points are good
    scale = 1.0 if solution.is_score else 0.5
    loss, bound = loss_of(learned, solution)
    assert loss == pytest.approx(scale * lost, abs=1e-12)
    assert 0 < bound < 1e-9


class Square(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class Steps(Game):
    """A step right, and perhaps one up, for a point each; a square of four positions."""

    players: ClassVar = 1
    objective: ClassVar = "minimize"

    def start(self):
        return Square(0, 0)

    def roots(self):
        for x in range(2):
            yield Square(x, 0)
            yield Square(x, 1)

    def actions(self, s):
        yield 0

    def reward(self, s, action):
        return 1.0

    def outcomes(self, s, action):
        yield 1, END if s.x else AGAIN, Square(1, s.y)


def test_a_matrix_of_scores_says_how_unseen_positions_look():
    lines = list(learned_document(learn(build(Steps()), 3, seed=1)).blocks())
    assert "\nScore of that action (nan: never seen)" in lines
    assert "nan" in str(lines[-1])
