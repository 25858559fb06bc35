"""Confidence intervals hold for few games, rare wins and draws; no warning is for nothing."""

import numpy as np
import pytest
from scipy.stats import binomtest

from rollwise.numbers.intervals import of_chance, of_mean, of_share

CASES = 4000  # simulated samples: a share of 0.95 of them is known to 0.0035


def share_covered(games, win, draw=0.0):
    drawn = np.random.default_rng(1).multinomial(games, (win, draw, 1 - win - draw), size=CASES)
    counts, times = np.unique(drawn, axis=0, return_counts=True)
    inside = 0
    for (wins, draws, _), n in zip(counts.tolist(), times.tolist(), strict=True):
        low, high = of_chance(wins, draws, games)
        inside += n * (low <= win + draw / 2 <= high)
    return inside / CASES


@pytest.mark.parametrize("games", [20, 100])
@pytest.mark.parametrize("win", [0.003, 0.02, 0.1, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("draw", [0.0, 0.02, 0.5])
def test_intervals_of_chances_cover_what_they_promise(games, win, draw):
    if win + draw <= 1:
        assert share_covered(games, win, draw) >= 0.94


@pytest.mark.parametrize("games", [20, 100])
@pytest.mark.parametrize(
    ("draw_one", "mean", "least"),
    [
        (lambda rng, shape: rng.normal(3.0, 2.0, shape), 3.0, 0.94),
        (lambda rng, shape: rng.integers(1, 7, (*shape, 3)).sum(axis=-1), 10.5, 0.94),
        (lambda rng, shape: rng.geometric(0.3, shape), 1 / 0.3, 0.91),  # skew, as lengths are
    ],
)
def test_intervals_of_means_cover_what_they_promise(games, draw_one, mean, least):
    samples = draw_one(np.random.default_rng(2), (CASES, games))
    errors = samples.std(axis=1, ddof=1) / np.sqrt(games)
    ends = [of_mean(m, e, games) for m, e in zip(samples.mean(axis=1), errors, strict=True)]
    assert np.mean([low <= mean <= high for low, high in ends]) >= least


@pytest.mark.parametrize(("count", "games"), [(0, 1), (1, 1), (0, 20), (3, 20), (20, 20)])
def test_shares_are_those_of_clopper_and_pearson(count, games):
    expected = binomtest(count, games).proportion_ci(0.95, "exact")
    assert of_share(count, games) == pytest.approx((expected.low, expected.high), abs=1e-12)
    low, high = of_share(np.array([count]), games)
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-12)
