"""A contest of two at the same time: its equilibrium against all policies there are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from throwing import TwoBoxes

import rollwise
from rollwise.analysis.blind_contest import solve_blind_contest
from rollwise.analysis.distributions import distributions
from rollwise.derive.by_score import by_score
from rollwise.games.threes import Threes
from rollwise.graph.choices import has_choice
from rollwise.graph.policies import Policy


def wins(one, other):
    """How often a score of the one distribution (a dict) is fewer than one of the other."""
    return sum(
        p * q * (1 if a < b else 0.5 if a == b else 0)
        for a, p in one.items()
        for b, q in other.items()
    )


def every_distribution(game):
    """The final scores of every policy that looks at the points made so far."""
    graph = by_score(rollwise.build(game)).graph
    choices = np.flatnonzero(has_choice(graph))
    ranges = [graph.view[s].action_range for s in choices.tolist()]
    found = set()
    for actions in product(*ranges):
        chosen = np.array([graph.view[s].action_range[0] for s in range(graph.n_states)])
        chosen[choices] = actions
        policy = Policy.of_actions(graph, "one", chosen)
        ends = {}
        arrive(graph, policy, 0, 1.0, ends)
        found.add(tuple(sorted(ends.items())))
    return [dict(ends) for ends in found]


def arrive(graph, policy, state, chance, ends):
    """Follow a policy to the scores it ends with, which stand in the last field."""
    for action in graph.view[state].actions:
        taken = policy.probability[action.index]
        for outcome in action.outcomes if taken else ():
            ahead = chance * taken * outcome.chance
            if outcome.target < graph.n_states:
                arrive(graph, policy, outcome.target, ahead, ends)
            else:
                place = outcome.target - graph.n_states
                ends[place] = round(ends.get(place, 0.0) + ahead, 12)


def test_no_policy_beats_the_mixture():
    """Places stand for scores, the best first, so that the fewer is the better one."""
    game = TwoBoxes()
    found = solve_blind_contest(game)
    assert found.mean < found.for_mean.mean
    scores = list(found.scored.scores)
    mixed = {}
    for part in found.parts:
        for value, p in zip(part.scores.values, part.scores.probabilities, strict=True):
            mixed[scores.index(value)] = mixed.get(scores.index(value), 0.0) + part.weight * p
    every = every_distribution(game)
    best = [wins(ends, mixed) for ends in every]
    assert len(every) > 100
    assert max(best) <= 0.5 + found.gain + 1e-9
    mean = {
        scores.index(v): p
        for v, p in zip(found.for_mean.values, found.for_mean.probabilities, strict=True)
    }
    assert max(wins(ends, mean) for ends in every) == pytest.approx(found.against_mean.value)


def test_the_response_to_the_mean_wins_what_it_says():
    """Against somebody who plays for the mean and isn't seen, by another way through the scores."""
    game = Threes(dice=4)
    found, solution = solve_blind_contest(game), rollwise.solve(game)
    row = distributions(solution.graph, solution.policy).of(0)
    blind = dict(zip(row.values.tolist(), row.probabilities.tolist(), strict=True))
    mean = dict(zip(found.for_mean.values, found.for_mean.probabilities, strict=True))
    assert wins(mean, blind) == pytest.approx(0.5, abs=1e-12)
    parts = [
        dict(zip(part.scores.values, part.scores.probabilities, strict=True))
        for part in found.parts
    ]
    against = sum(
        part.weight * wins(mean, ends) for part, ends in zip(found.parts, parts, strict=True)
    )
    assert against == pytest.approx(found.mean_against.value, abs=1e-9)
