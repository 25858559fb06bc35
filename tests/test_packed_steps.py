"""BiCGSTAB on sweeps of packed layers: its loops against NumPy, its steps against dense systems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollwise.answer.packed import lists_of, weights_of
from rollwise.answer.packed_steps import stepped
from rollwise.answer.packed_sweeps import PackedSweeps
from rollwise.builders.by_layer import find_layers
from rollwise.games.royal_ur import RoyalUr
from rollwise.kernels import krylov

pytestmark = pytest.mark.kernels


@given(seed=st.integers(0, 10**6), n=st.integers(1, 30))
def test_loops_do_what_their_formulas_say(seed, n):
    random = np.random.default_rng(seed)
    a, b, c, d, e = random.normal(size=(5, n))
    x, y, z = random.normal(size=3)
    direction = b.copy()
    krylov.turned(a, direction, c, x, y)
    assert direction == pytest.approx(a + x * (b - y * c))
    image, swept = np.empty(n), np.append(c, 7.0)
    products = krylov.imaged(b, swept, image, d)
    assert image == pytest.approx(b - c)
    assert products == pytest.approx((image @ d, image @ image))
    residual = a.copy()
    krylov.lessened(residual, c, z)
    assert residual == pytest.approx(a - z * c)
    solution, residual = a.copy(), b.copy()
    products = krylov.advanced(solution, c, residual, d, e, x, y)
    assert solution == pytest.approx(a + x * c + y * b)
    assert residual == pytest.approx(b - y * d)
    assert products == pytest.approx((residual @ e, residual @ residual))


@pytest.fixture(params=[0, 10**9], ids=["halves", "whole"])
def sweeps(request, monkeypatch):
    """The only layer of a game whose actions are chosen by some sweeps."""
    monkeypatch.setattr("rollwise.answer.packed_sweeps.WORTH_HALVING", request.param)
    (layer,) = find_layers(RoyalUr(pieces=1)).packed_last_first()
    lists, lotteries = lists_of(layer.arrays), weights_of(layer.arrays)
    nothing = np.zeros(len(lotteries.payoff))
    lotteries = lotteries._replace(payoff=nothing, passes=nothing.astype(np.bool_))
    found = PackedSweeps(layer, lists, lotteries, np.empty(0), 1.0, lambda: False)
    for _ in range(5):
        found.choose()
    return found


def slope(sweeps):
    """What a sweep of the chosen actions makes of values: a matrix, a column for each position."""
    columns = []
    for unit in np.eye(sweeps.n):
        values = [np.zeros(len(part)) for part in sweeps.values]
        for part in values:
            part[: sweeps.n] = unit
        sweeps.evaluate(values, 0.0)
        columns.append(values[0][: sweeps.n])
    return np.array(columns).T


@pytest.mark.needs_jit
def test_a_step_solves_the_linear_system(sweeps):
    moved = np.random.default_rng(1).normal(size=sweeps.n)
    exact = np.linalg.solve(np.eye(sweeps.n) - slope(sweeps), moved)
    for left, far in ((1e-10, 1e-7), (0.1, 2.0)):
        step = stepped(sweeps, moved.copy(), left, lambda: False)
        assert np.abs(step - exact).max() < far * np.abs(exact).max()


@pytest.mark.needs_jit
def test_a_step_ends_when_time_is_over(sweeps):
    looks = iter(range(3))
    step = stepped(sweeps, np.ones(sweeps.n), 1e-15, lambda: next(looks, None) is None)
    assert next(looks, None) is None
    assert np.all(np.isfinite(step))
    assert not np.any(stepped(sweeps, np.ones(sweeps.n), 1e-15, lambda: True))


@pytest.mark.needs_jit
def test_a_step_of_nothing_is_nothing(sweeps):
    assert not np.any(stepped(sweeps, np.zeros(sweeps.n), 1e-3, lambda: False))


@pytest.mark.needs_jit
def test_a_sweep_says_what_falls_and_what_rises(sweeps):
    """A sweep more of what it came to moves no value further either way."""
    n = sweeps.n
    random = np.random.default_rng(2)
    for _ in range(5):
        start = sweeps.values[0][:n] * random.uniform(0.9, 1.1, n)
        for part in sweeps.values:
            part[:n] = start
        moved = sweeps.choose()
        change = sweeps.values[0][:n] - start
        assert moved.fall == pytest.approx(max(0.0, -change.min()))
        assert moved.rise == pytest.approx(max(0.0, change.max()))
        assert moved.change == max(moved.fall, moved.rise)
        again = sweeps.choose()
        assert again.fall <= moved.fall + 1e-12
        assert again.rise <= moved.rise + 1e-12
