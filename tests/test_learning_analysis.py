"""What was learned against what is true, and why it differs."""

from __future__ import annotations

import numpy as np
import pytest
from little_games import Ladder

from rollwise.analysis.learning import REASONS, Reference, assess
from rollwise.answer.evaluation import evaluate
from rollwise.builders import build
from rollwise.errors import UsageError
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Piglet
from rollwise.learn import Learned, Learner
from rollwise.play.games import PlayTable

pytestmark = pytest.mark.kernels


def perfect(reference, visits=1000):
    """As if every value had been learned exactly."""
    solution = reference.solution
    graph = solution.graph
    return Learned(
        graph,
        "counts",
        visits,
        1.0,
        0,
        1,
        np.full(graph.n_actions, visits),
        solution.action_values.copy(),
        np.full(graph.n_actions, 0.01),
    )


@pytest.mark.parametrize("game", [DiceBlackjack(sides=3, low=6, high=7), Piglet(), Ladder()])
def test_perfect_knowledge_has_no_faults(game):
    reference = Reference.of_graph(build(game))
    found = assess(perfect(reference), reference)
    assert found.weighted_error == pytest.approx(0, abs=1e-12)
    assert found.optimal.all()
    assert found.optimal_share == found.weighted_optimal_share == 1
    assert abs(found.loss) <= found.loss_bound + 1e-15
    assert np.all(found.deviations() < 1e-6)


def test_visits_under_good_play_are_those_of_games():
    """Expected visits, and their sum: the mean length of a game in moves."""
    graph = build(DiceBlackjack(sides=4, low=8, high=9))
    reference = Reference.of_graph(graph, near_tie=0.0)
    table = PlayTable.of(graph, reference.solution.policy)
    assert reference.visits[0] == pytest.approx(1)
    from rollwise.simulate.lengths import expected_lengths

    ((_, moves),) = expected_lengths(graph, reference.solution.policy)
    assert reference.visits.sum() == pytest.approx(moves.value, abs=1e-9)
    met = np.unique(graph.action_state[table.action[table.action >= 0]])
    assert set(met) == set(np.flatnonzero(reference.visits > 0))


def test_visits_where_play_goes_round():
    graph = build(Piglet(target=4))
    reference = Reference.of_graph(graph, near_tie=0.0)
    from rollwise.simulate.lengths import expected_lengths

    ((_, moves),) = expected_lengths(graph, reference.solution.policy)
    assert reference.visits.sum() == pytest.approx(moves.value, abs=1e-9)


def test_the_sources_examples_of_its_limits():
    # A: target 10 to 20, three sides, two dice; behind 2 to 9, B has lost ... for with 2 it
    # takes two more turns to come to 10, and the other needs one point.
    game = DiceBlackjack(sides=3, low=10, high=20, dice=2)
    graph = build(game)
    reference = Reference.of_graph(graph)
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
    reference = Reference.of_graph(other)
    assert not reference.reachable[other.find((5, 0))]
    learner = Learner(other, seed=1)
    learner.play(2000)
    found = assess(learner.result(), reference)
    assert REASONS[found.reasons[other.find((5, 0))]] == "unreachable"


def test_reasons_one_by_one():
    """Knowledge that is perfect but for one position at a time."""
    graph = build(DiceBlackjack())
    reference = Reference.of_graph(graph)
    solution = reference.solution

    def with_fault(s, cost_between, **changes):
        learned = perfect(reference, visits=changes.get("visits", 10**9))
        begin, end = graph.action_indptr[s], graph.action_indptr[s + 1]
        learned.values[begin:end] = -learned.values[begin:end]
        if changes.get("unsure"):
            learned.standard_errors[begin:end] = 1.0
        taken = changes.get("best_taken")
        if taken is not None:
            learned.visits[solution.best_actions[s]] = taken
        found = assess(learned, reference)
        low, high = cost_between
        assert low <= found.costs[s] <= high
        return REASONS[found.reasons[s]]

    cost = solution.regret[graph.action_indptr[:-1]] + solution.regret[graph.action_indptr[1:] - 1]
    often = reference.visits > 0.01
    clear = int(np.flatnonzero(often & (cost / 2 > 0.05))[0])
    close = int(np.flatnonzero((reference.visits > 0) & (cost / 2 < 0.01) & (cost > 1e-6))[0])
    assert with_fault(close, (1e-6, 0.01)) == "near tie"
    assert with_fault(clear, (0.05, 1)) == "early games"
    assert with_fault(clear, (0.05, 1), unsure=True) == "unexplained"
    assert with_fault(clear, (0.05, 1), best_taken=10) == "not explored"
    assert with_fault(clear, (0.05, 1), visits=100) == "rare"


def test_loss_is_what_a_best_response_takes():
    graph = build(DiceBlackjack(sides=3, low=6, high=7))
    reference = Reference.of_graph(graph)
    learner = Learner(graph, seed=1)
    learner.play(30)
    found = assess(learner.result(), reference)
    assert found.loss > 0
    ladder = build(Ladder())
    reference = Reference.of_graph(ladder)
    learner = Learner(ladder, seed=1)
    learner.play(5)
    found = assess(learner.result(), reference)
    worth = evaluate(ladder, learner.result().policy).values[0]
    assert found.loss == pytest.approx(reference.solution.value - worth)


def test_other_games_do_not_compare():
    graph, other = build(Piglet(target=3)), build(Piglet(target=4))
    learner = Learner(graph, seed=1)
    learner.play(10)
    with pytest.raises(UsageError):
        assess(learner.result(), Reference.of_graph(other))


@pytest.mark.needs_jit
@pytest.mark.parametrize(
    "game",
    [
        DiceBlackjack(),
        DiceBlackjack(sides=2),
        DiceBlackjack(sides=3, low=10, high=20),
        pytest.param(DiceBlackjack(dice=3), marks=pytest.mark.slow),
    ],
    ids=lambda game: f"{game.sides}-{game.low}-{game.high}-{game.dice}",
)
def test_a_million_games_learn_to_play(game):
    """Loss falls along the curve; the later games' rates are within sampling error."""
    graph = build(game)
    reference = Reference.of_graph(graph)
    learner = Learner(graph, explore=100, seed=1)
    learner.play(10_000)
    early = assess(learner.result(), reference)
    learner.play(490_000)
    half = learner.result()
    learner.play(500_000)
    late = assess(learner.result(), reference, half)
    assert late.loss <= early.loss + 1e-12
    assert late.weighted_error < early.weighted_error
    if game.dice == 2:
        assert late.loss < 0.002
        assert late.weighted_optimal_share > 0.95
        deviations = late.deviations(recent=True)
        assert (deviations < 3).mean() > 0.6
        assert late.weighted_error < 0.01
