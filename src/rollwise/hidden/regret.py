"""Predictive counterfactual regret minimization plus (PCFR+), for large trees.

Each information set keeps the regrets of its actions, never below 0, and plays in proportion to
them, with the last regrets as a prediction of the next (Farina, Kroer and Sandholm 2021; regret
matching plus: Tammelin 2014). The players take turns. Average strategies, with the weight t^2 of
iteration t, approach an equilibrium; `check.bounds` proves how close they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.hidden.check import bounds, plan_of
from rollwise.hidden.tree import Seat, Tree
from rollwise.kernels.jit import inner_kernel, kernel

FEWEST = 16  # iterations before the first check


@inner_kernel
def _gather(begins, others, payoffs, plan, gains):
    """The gain of each sequence from the plays that end with it."""
    for s in range(len(gains)):
        total = 0.0
        for k in range(begins[s], begins[s + 1]):
            total += payoffs[k] * plan[others[k]]
        gains[s] = total


@inner_kernel
def _learn(parents, first, gains, regrets, strategy):
    """Update regrets and strategy of each information set."""
    # last sets first: the worth of a set is part of the gain of the sequence before it
    for k in range(len(parents) - 1, -1, -1):
        begin, end = first[k], first[k + 1]
        worth = 0.0
        for s in range(begin, end):
            worth += strategy[s] * gains[s]
        total = 0.0
        for s in range(begin, end):
            gain = gains[s] - worth
            # the last gain counts twice in the strategy: it predicts the next one
            regrets[s] = max(regrets[s] + gain, 0.0)
            strategy[s] = max(regrets[s] + gain, 0.0)
            total += strategy[s]
        for s in range(begin, end):
            strategy[s] = strategy[s] / total if total > 0.0 else 1.0 / (end - begin)
        gains[parents[k]] += worth


@inner_kernel
def _play(parents, first, strategy, weight, plan, sums):
    """Write the realization weights of a strategy, and add them to the average."""
    # parents come first, so their weights are final
    for k in range(len(parents)):
        for s in range(first[k], first[k + 1]):
            plan[s] = plan[parents[k]] * strategy[s]
            sums[s] += weight * plan[s]


@kernel
def _iterate(start, stop, one, other):
    """Iterations from `start` to `stop` - 1 of both players in turn."""
    for t in range(start, stop):
        for seat in range(2):
            mine, theirs = (one, other) if seat == 0 else (other, one)
            parents, first, begins, others, payoffs, gains, regrets, strategy, plan, sums = mine
            _gather(begins, others, payoffs, theirs[8], gains)
            _learn(parents, first, gains, regrets, strategy)
            _play(parents, first, strategy, float(t) * float(t), plan, sums)


def _seat_arrays(tree: Tree, number: int) -> tuple[NDArray[Any], ...]:
    seat = tree.seats[number]
    own, other = (tree.rows, tree.columns)[:: 1 if number == 0 else -1]
    order = np.argsort(own, kind="stable")
    begins = np.searchsorted(own[order], np.arange(seat.n_sequences + 1))
    payoffs = (1 if number == 0 else -1) * tree.payoffs[order]
    strategy = uniform(seat)
    plan = plan_of(seat, strategy)
    empty = [np.zeros(seat.n_sequences) for _ in range(3)]
    gathered = (seat.parents, seat.first, begins, other[order], payoffs)
    return (*gathered, empty[0], empty[1], strategy, plan, empty[2])


def uniform(seat: Seat) -> NDArray[np.float64]:
    """The strategy that chooses evenly."""
    counts = np.diff(seat.first)
    return np.concatenate([[1.0], np.repeat(1.0 / counts, counts)])


def average_of(seat: Seat, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The strategy of averaged realization weights."""
    if not len(seat.parents):
        return np.ones(1)
    totals = np.add.reduceat(sums, seat.first[:-1])
    counts = np.diff(seat.first)
    found = sums.copy()
    found[0] = 1.0
    found[1:] /= np.repeat(np.where(totals > 0, totals, 1.0), counts)
    return np.where(np.concatenate([[True], np.repeat(totals > 0, counts)]), found, uniform(seat))


def minimize_regret(
    tree: Tree,
    tolerance: float,
    iterations: int,
    seconds: float,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], int]:
    """Strategies with a proved bound of at most `tolerance` on the value, or the best found.

    Parameters
    ----------
    iterations, seconds : int, float
        Limits of the search.

    Returns
    -------
    strategies, iterations
    """
    one, other = _seat_arrays(tree, 0), _seat_arrays(tree, 1)
    begin, done, check, deadline = 1, 0, FEWEST, time.monotonic() + seconds
    while True:
        _iterate(begin, check + 1, one, other)
        begin, done = check + 1, check
        found = average_of(tree.seats[0], one[-1]), average_of(tree.seats[1], other[-1])
        low, high = bounds(tree, found)
        if progress is not None:
            progress(f"± {(high - low) / 2:.1e} after {done:,} iterations", done, iterations)
        if (high - low) / 2 <= tolerance or done >= iterations or time.monotonic() > deadline:
            return found, done
        # checks become rarer: the next one comes after half as many iterations again
        check = min(iterations, done + max(FEWEST, done // 2))
