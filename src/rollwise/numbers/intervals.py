"""Confidence intervals valid for few games and for many.

Intervals of probabilities are those of Clopper and Pearson (1934), whose coverage is at least the
stated level for every probability. Intervals of means are those of Student (1908), exact for
normal data, and nearly so for data that aren't very skew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CONFIDENCE = 0.95


def of_share(count: Any, games: Any, confidence: float = CONFIDENCE) -> tuple[Any, Any]:
    """The interval of a chance, from how often something was so: floats, or arrays of them.

    Parameters
    ----------
    count, games : int or (n,) int64
    """
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    least = np.maximum(count, 1), np.minimum(count, np.subtract(games, 1))  # no 0 for `betaincinv`
    low = np.where(np.equal(count, 0), 0.0, betaincinv(least[0], games - least[0] + 1, tail))
    high = np.where(
        np.equal(count, games), 1.0, betaincinv(least[1] + 1, games - least[1], 1 - tail)
    )
    return low[()], high[()]


def of_chance(
    wins: int, draws: int, games: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The interval of a probability of winning in which a draw is half a win.

    It is the mean of two probabilities, of winning and of not losing. With drawn games, each has
    an interval at half the error level. The mean of their ends has at least the stated confidence.
    """
    if not draws:
        low, high = of_share(wins, games, confidence)
        return float(low), float(high)
    stricter = (1 + confidence) / 2
    # each of the two intervals may fail with half the probability
    won, unbeaten = (of_share(n, games, stricter) for n in (wins, wins + draws))
    return float(won[0] + unbeaten[0]) / 2, float(won[1] + unbeaten[1]) / 2


def of_mean(
    mean: float, standard_error: float, games: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The interval of a mean; all numbers where games give no spread, as a single game does."""
    from scipy.special import stdtrit

    if games < 2 or np.isnan(standard_error):
        return -np.inf, np.inf
    reach = float(stdtrit(games - 1, (1 + confidence) / 2)) * standard_error
    return mean - reach, mean + reach
