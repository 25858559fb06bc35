"""BiCGSTAB on sweeps of layers: its steps against dense systems."""

from __future__ import annotations

import numpy as np
import pytest

from rollwise.answer.layer_lengths import _of_moves
from rollwise.builders.by_layer import find_layers
from rollwise.engine.search import Search
from rollwise.engine.sweeps import values_for
from rollwise.games.royal_ur import RoyalUr

pytestmark = pytest.mark.kernels


@pytest.fixture(params=[0, 10**9], ids=["halves", "whole"])
def search(request, monkeypatch):
    """The only layer of a game, in which moves count, whose actions are chosen by some sweeps."""
    monkeypatch.setattr("rollwise.engine.search.WORTH_HALVING", request.param)
    (piece,) = find_layers(RoyalUr(pieces=1)).last_first()
    layer = _of_moves(piece.layer, 1.0)
    found = Search(layer, values_for(layer, np.empty(0)), is_free=lambda: False)
    for _ in range(5):
        found.choose()
    return found


def slope(search):
    """What a sweep of the chosen actions makes of values: a matrix, a column for each position."""
    columns, n = [], search.layer.n
    tables = search.layer.tables
    tables = tables._replace(reward=np.zeros(len(tables.reward)))
    for unit in np.eye(n):
        values = np.zeros(search.layer.n_places)
        values[:n] = unit
        search.evaluate(values, np.zeros(1), tables=tables)
        columns.append(values[:n].copy())
    return np.array(columns).T


@pytest.mark.needs_jit
def test_a_step_solves_the_linear_system(search):
    n = search.layer.n
    moved = np.random.default_rng(1).normal(size=n)
    exact = np.linalg.solve(np.eye(n) - slope(search), moved)
    for left, far in ((1e-10, 1e-7), (0.1, 2.0)):
        step, solved = search.stepped(moved.copy(), left)
        assert solved
        assert np.abs(step - exact).max() < far * np.abs(exact).max()
