"""What was learned against what is true, and why it differs."""

from __future__ import annotations

import numpy as np
import pytest
from little_games import Ladder

from rollwise.analysis.learning import REASONS, Reference, assess
from rollwise.answer.evaluation import evaluate
from rollwise.answer.solution import Solution
from rollwise.builders import build
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.learn import Learner
from rollwise.play.games import PlayTable


def test_visits_under_good_play_are_those_of_games():
    """Expected visits, and their sum: the mean length of a game in moves."""
    graph = build(DiceBlackjack(sides=4, low=8, high=9))
    reference = Reference.of(Solution.of_graph(graph), near_tie=0.0)
    table = PlayTable.of(graph, reference.solution.policy)
    assert reference.visits[0] == pytest.approx(1)
    from rollwise.simulate.exact import expected_lengths

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
