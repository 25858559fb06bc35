"""The rules of games made from games with throws are given the throw."""

from __future__ import annotations

import numpy as np
import pytest
from throwing import TwoBoxes

import rollwise
from rollwise import DRAW, LOSE, PASS, WIN
from rollwise.derive.chase import Chase
from rollwise.derive.contest import Duel
from rollwise.graph import NO_THROW
from rollwise.graph.naming import spread
from rollwise.words.game_words import rules_situation

PAYOFF = {WIN: 1.0, DRAW: 0.0, LOSE: -1.0}


@pytest.mark.parametrize(
    "game",
    [Chase(TwoBoxes(3), 7), Chase(TwoBoxes(3), 7, ties="draw"), Duel(TwoBoxes(2))],
    ids=["chase", "chase-draw", "contest"],
)
def test_rules_and_graph_agree(game):
    solution = rollwise.solve(game)
    graph, worth = solution.graph, solution.action_values
    before = dict.fromkeys(graph.throw_names, NO_THROW)
    situation = rules_situation(game, graph)
    thrown = np.setdiff1d(np.arange(graph.n_states), graph.positions)
    assert len(thrown)
    for s in thrown.tolist():
        at = situation(s)
        assert len(at) == 2
        actions = graph.view[s].actions
        assert sorted(game.actions(*at)) == sorted(graph.view[s].labels)
        for number in actions:
            total = ahead = 0.0
            for weight, then, after in game.outcomes(*at, number.label):
                if then in PAYOFF:
                    value = PAYOFF[then]
                else:
                    value = solution.values[graph.find({**spread(after._asdict()), **before})]
                    value = -value if then == PASS else value
                total, ahead = total + weight, ahead + weight * value
            assert ahead / total == pytest.approx(worth[number], abs=1e-9)
