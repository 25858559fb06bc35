"""Chances under a condition on events during play, against a naive recursion."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rollwise
from rollwise.analysis.distributions import distribution
from rollwise.analysis.events import distribution_given, followed
from rollwise.answer.references import Policies
from rollwise.games.craps import Craps
from rollwise.games.pig import Pig
from rollwise.games.threes import Threes


def naive(play, happens, state, sweeps):
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
    play = followed(policies.graph, policies.find(policy))
    found, share = distribution_given(play, event)
    marks = [happens(dict(zip(play.columns, row, strict=True))) for row in play.rows.tolist()]
    expected = naive(play, marks, 0, 12 if game.players == 1 else 150)
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
        followed(policies.graph, policies.find("optimal")), "point==6"
    )
    assert found.at_most(0) == pytest.approx(float(Fraction(6, 11)), abs=1e-12)
    assert share == pytest.approx(5 / 36, abs=1e-12)
