"""Scores that were made, tested against all optimal policies together.

Where several policies are optimal, scores fit best play if they fit one of them. The least
chi-square over the set is found by conditional gradients (Frank and Wolfe 1956): the slope of
chi-square is a payoff for each final score, the set is solved for it, and the next step goes
towards the policy that was found. The same solution bounds how much lower chi-square can get.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.distributions import Distribution
from rollwise.analysis.observed_scores import cells_of
from rollwise.analysis.quantities import of_scores
from rollwise.analysis.second_aims import distribution_in
from rollwise.answer.optimal_set import OptimalSet
from rollwise.derive.by_score import Ints

Reals = NDArray[np.float64]

MOST_STEPS = 200
CLOSE = 1e-3  # of chi-square: more would not be seen in how likely it is by chance


class BestFit(NamedTuple):
    """How well scores fit the optimal policy that they fit best.

    Attributes
    ----------
    chi_square : float
        Of the best policy found, which may mix others.
    least : float
        No optimal policy has a smaller one.
    cells : int
    p_shape : float
        How likely the least chi-square, or more, is by chance.
    """

    chi_square: float
    least: float
    cells: int
    p_shape: float


def best_fit(scores: Ints, policies: OptimalSet, expected: Distribution) -> BestFit | None:
    """Test scores against all policies of a set; None where fewer than two cells are left.

    Parameters
    ----------
    scores : (n,) int64
    policies : OptimalSet
    expected : Distribution
        Of one of the policies, which says where the cells are.
    """
    from scipy.optimize import minimize_scalar
    from scipy.stats import chi2

    every, n = policies.with_scores, len(scores)
    assert every.scores is not None
    cells = cells_of(n * expected.probabilities)
    n_cells = int(cells.max()) + 1
    if n_cells < 2:
        return None

    def cell_of(values: Ints) -> Ints:
        return np.asarray(cells[np.clip(values - expected.values[0], 0, len(cells) - 1)])

    def shares(found: Distribution) -> Reals:
        return np.bincount(cell_of(found.values), found.probabilities, n_cells).astype(np.float64)

    counts = np.bincount(cell_of(scores), minlength=n_cells).astype(np.float64)

    def chi_square(share: Reals) -> float:
        return float(((counts - n * share) ** 2 / (n * share)).sum())

    share, gap = shares(expected), np.inf
    for _ in range(MOST_STEPS):
        slope = n - counts**2 / (n * share**2)
        payoffs = -slope[cell_of(every.scores)]
        aim = of_scores("fit", payoffs, np.zeros(len(payoffs)), every.scores)
        _, towards = every.then(aim)
        other = shares(distribution_in(towards, towards.policy("fit")))
        gap = float(slope @ (share - other))
        if gap <= CLOSE:
            break
        step = minimize_scalar(
            lambda t, a=share, b=other: chi_square(a + t * (b - a)), bounds=(0, 1), method="bounded"
        ).x
        share = share + step * (other - share)
    found = chi_square(share)
    least = max(found - max(gap, 0.0), 0.0)
    return BestFit(found, least, n_cells, float(chi2.sf(least, n_cells - 1)))
