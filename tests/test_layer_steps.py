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


@pytest.mark.needs_jit
def test_a_step_ends_when_time_is_over(search):
    looks, n = iter(range(3)), search.layer.n
    step, solved = search.stepped(np.ones(n), 1e-15, lambda: next(looks, None) is None)
    assert not solved
    assert next(looks, None) is None
    assert np.all(np.isfinite(step))
    assert not np.any(search.stepped(np.ones(n), 1e-15, lambda: True)[0])


@pytest.mark.needs_jit
def test_a_step_of_nothing_is_nothing(search):
    assert not np.any(search.stepped(np.zeros(search.layer.n), 1e-3)[0])


@pytest.mark.needs_jit
def test_a_sweep_says_what_falls_and_what_rises(search):
    """A sweep more of what it came to moves no value further either way."""
    n = search.layer.n
    random = np.random.default_rng(2)
    for _ in range(5):
        start = search.found[:n] * random.uniform(0.9, 1.1, n)
        search.found[:n] = start
        moved = search.choose()
        change = search.found[:n] - start
        assert moved.fall == pytest.approx(max(0.0, -change.min()))
        assert moved.rise == pytest.approx(max(0.0, change.max()))
        assert moved.change == max(moved.fall, moved.rise)
        again = search.choose()
        assert again.fall <= moved.fall + 1e-12
        assert again.rise <= moved.rise + 1e-12
