"""Random numbers and alias tables against their naive twins, and against chance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import Xoshiro, alias_probabilities, pick
from scipy.stats import chi2

from rollwise.errors import UsageError
from rollwise.kernels import sampling
from rollwise.kernels.sampling import draw
from rollwise.numbers.randomness import check_seed, stream

pytestmark = pytest.mark.kernels


def drawn(state):
    """64 random bits, and the state changed in place."""
    with np.errstate(over="ignore"):
        bits, *state[:] = (np.uint64(word) for word in draw(*state))
    return bits


@given(st.integers(0, 2**64), st.integers(0, 1000))
def test_the_generator_is_xoshiro(seed, number):
    words = stream(seed, number)
    twin = Xoshiro(words)
    state = list(words)
    for _ in range(50):
        assert int(drawn(state)) == twin.draw()


def test_the_generator_on_known_numbers():
    """The first outputs from the state 1, 2, 3, 4, as other implementations print them."""
    twin = Xoshiro([1, 2, 3, 4])
    assert [twin.draw() for _ in range(3)] == [41943041, 58720359, 3588806011781223]


def test_streams_differ_and_repeat():
    assert np.array_equal(stream(5, 3), stream(5, 3))
    words = {tuple(stream(seed, number)) for seed in range(20) for number in range(20)}
    assert len(words) == 400


def test_seeds():
    assert check_seed(np.int64(3)) == 3
    for wrong in (-1, 1.5, "1", True, None):
        with pytest.raises(UsageError):
            check_seed(wrong)


weights = st.one_of(
    st.lists(st.integers(1, 10**9), min_size=1, max_size=40).map(np.array),
    st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=40).map(np.array),
)


def table(weight):
    n = len(weight)
    codes = np.arange(n, dtype=np.int32)
    cells = np.empty((n, 4), np.int32)
    sampling.alias_tables(np.array([0, n]), weight, codes, cells)
    return cells


@given(weights)
def test_alias_tables_hold_the_distribution(weight):
    found = alias_probabilities(table(weight), range(len(weight)))
    for code, chance in found.items():
        assert float(chance) == pytest.approx(weight[code] / weight.sum(), abs=2.0**-30)


@given(weights, st.integers(0, 2**32 - 1))
def test_picking_is_its_twin(weight, bits):
    cells = table(weight)
    found = sampling.pick(cells, 0, len(weight), np.int64(bits))
    assert found == pick(cells, 0, len(weight), bits)


def test_picks_fall_as_the_weights_say():
    weight = np.array([1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1])
    cells = table(weight)
    state = list(stream(1, 0))
    n = 40_000
    counts = np.zeros(len(weight))
    for _ in range(n):
        bits = np.int64(drawn(state) >> np.uint64(32))
        counts[sampling.pick(cells, 0, len(weight), bits)] += 1
    expected = n * weight / weight.sum()
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert statistic < chi2.ppf(0.9999, len(weight) - 1)
