"""What a game does to its players: every figure against games that are played out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from balance_games import figures_of_games
from hypothesis import given, settings
from hypothesis import strategies as st
from little_games import RandomTable
from stakes import Gammons
from throwing import Runners

from rollwise.analysis.balance import balance
from rollwise.answer.references import Policies
from rollwise.derive.contest import Duel
from rollwise.errors import EndlessPlay
from rollwise.games.pig import Pig
from rollwise.games.shut_the_box import ShutTheBox
from rollwise.games.threes import Threes

BESIDE = {  # one for a single player, two that choose first, one that throws first, one for stakes
    "shut-the-box": (ShutTheBox(tiles=5), {"expected score", "at most 2 rolls", "decisions"}),
    "pig": (Pig(target=12), {"first player wins", "lead changes", "comebacks", "greedy wins"}),
    "throws": (Runners(), {"decisions that matter", "decided in turn", "random wins"}),
    "draws": (Duel(Threes(dice=2)), {"draws", "luck", "share of skill", "rule of thumb wins"}),
    "stakes": (Gammons(), {"expected payoff", "luck", "turns", "share of skill"}),
}


@pytest.mark.parametrize("name", BESIDE)
def test_every_figure_is_that_of_games_that_are_played(name):
    """Two samples of each figure that isn't a count of positions."""
    game, names = BESIDE[name]
    policies = Policies.of(game)
    figures = balance(policies, evaluations=8)
    one, two = (figures_of_games(policies, figures, 600, seed) for seed in (5, 6))
    there = {figure.name for figure in one}
    assert names <= there, there
    assert not np.allclose([f.sample.mean for f in one], [f.sample.mean for f in two])
    furthest = max(figure.off(600) for figure in (*one, *two))
    assert 0.5 < furthest < 5  # of so many figures one is off by half an error at least


@given(st.integers(0, 10_000))
@settings(max_examples=8)
def test_any_game_has_its_figures(seed):
    try:
        figures = balance(RandomTable(seed=seed), evaluations=0)
    except EndlessPlay:
        return
    assert figures.luck.value >= 0
    assert figures.decisions.matter <= figures.decisions.positions
    if figures.skill is not None:
        assert -1e-9 <= figures.skill.share.value <= 1
    if figures.drama is not None:
        total = figures.drama.decided.turn.sum() + figures.drama.draws.value
        assert total == pytest.approx(1, abs=1e-6)
