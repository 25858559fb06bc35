"""Means over the outcomes of actions, and their roundings: a part of the trusted code.

Doubles are rounded to nearest, as IEEE 754 prescribes; each sum and product here has its rounding
counted (Higham 2002, Accuracy and Stability of Numerical Algorithms, ch. 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.kernels.jit import index, kernel

SMALLEST = 2.0**-1074  # the smallest positive double
LEAST = 1e-300  # more than a sum of 2^40 terms loses by underflow
UNIT = 2.0**-53  # half the distance from 1 to the next double


def means_of(
    lotteries: Any,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The weights of lotteries, their totals, and the roundings of means with these weights.

    A mean of n terms is off by n roundings for the products and their sum, and by one each for a
    weight beyond 53 bits, the total, the division, a reward and the bound itself. Weights that
    aren't whole add n for their total, and 4 for having been rounded. The roundings are infinite
    where a number breaks the assumptions of the proof.

    Parameters
    ----------
    lotteries : rollwise.graph.lotteries.Lotteries
    """
    begin, sizes = lotteries.indptr[:-1], np.diff(lotteries.indptr)
    weight, normal = scale(lotteries)
    whole = are_whole(lotteries)
    total = np.add.reduceat(lotteries.weight if whole else weight, begin).astype(np.float64)
    fit = (lotteries.weight > 0) & np.isfinite(lotteries.weight) & np.isfinite(lotteries.payoff)
    sound = normal & np.isfinite(lotteries.reward) & np.logical_and.reduceat(fit, begin)
    sound &= bool(keeps_small_numbers(1.0))
    steps = sizes + 5 if whole else 2 * sizes + 9
    error: NDArray[np.float64] = np.where(sound, steps * (1.0 + 1e-12) * UNIT, np.inf)
    return weight, total, error


def are_whole(lotteries: Any) -> bool:
    """Whether all weights are whole numbers with sums of at most 62 bits."""
    weight, begin = lotteries.weight, lotteries.indptr[:-1]
    if weight.dtype.kind != "i":
        return False
    return bool(np.add.reduceat(weight.astype(np.float64), begin).max(initial=0.0) < 2.0**62)


def scale(lotteries: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The weights of lotteries as doubles, and whether each lottery has only normal ones.

    Weights that aren't whole are divided by a power of two, so that the largest of a
    lottery is at least 1/2 and below 1. This is exact as long as all stay normal.
    """
    weight = lotteries.weight.astype(np.float64)
    if are_whole(lotteries):
        return weight, np.ones(len(lotteries.reward), np.bool_)
    begin = lotteries.indptr[:-1]
    power = np.frexp(np.maximum.reduceat(weight, begin))[1]
    weight = np.ldexp(weight, -np.repeat(power, np.diff(lotteries.indptr)))
    return weight, np.minimum.reduceat(weight, begin) >= np.finfo(np.float64).tiny


@kernel
def keeps_small_numbers(one):
    """Whether numbers below 2^-1022 are kept; a library can disable them in the processor.

    Parameters
    ----------
    one : 1.0, unknown to the compiler
    """
    least_normal = one * 2.0**-1022
    return least_normal * 0.5 > 0.0 and least_normal * 2.0**-52 == SMALLEST * one


@kernel
def residuals(
    action_indptr, lottery, outcome_indptr, state, lotteries, means, values, bounds, gap, rounding,
    blur,
):  # fmt: skip
    """Look ahead once from every action: its value minus the value of its state.

    With w the weights, W their sum, n their number and x the value of each
    outcome for the mover, the value of an action is q = reward + sum(w x) / W. In
    doubles it is off by at most (n + 5) units of sum(w |x|) / W + |reward| +
    |v|, the subtraction of v included: n for the products and their sum, one
    each for a weight beyond 53 bits, W, the division, and two for the rest.
    Weights that aren't whole add n for their sum, and 4 for having been rounded
    themselves, by up to 2 units each. `means_of` gives the number of units.
    Below 2^-1022 errors are absolute: at most half the smallest double, eta, for
    each product and for the division. With W at least 1/2, the sum is less than
    (n + 2) eta. `LEAST` is more.
    Sums don't underflow.

    Parameters
    ----------
    state : (n_outcomes,) int32
        Next states.
    lotteries : rollwise.graph.lotteries.Lotteries
    means : tuple
        From `means_of`, with negative weights where the turn passes.
    values : (n_states + n_border,) float64
    bounds : (n_states + n_border,) float64
        Error bound of each value; empty if not needed.
    gap, rounding : (n_actions,) float64, filled
        The difference, and its error bound.
    blur : (n_actions,) float64, filled unless `bounds` is empty
        Error bound of each action's value from the bounds of the next values.
    """
    # arrays are unpacked once: the loop would count their references
    indptr, reward, payoff = lotteries.indptr, lotteries.reward, lotteries.payoff
    (signed, weights, error), blurs = means, bounds.shape[0] > 0
    for s in range(action_indptr.shape[0] - 1):
        for a in range(action_indptr[s], action_indptr[s + 1]):
            i, o = index(lottery[a]), index(outcome_indptr[a])
            # Outcome o of the action has the weight and the payoff of outcome k of its lottery.
            begin, end = index(indptr[i]), index(indptr[i + index(1)])
            total, size, bound = 0.0, 0.0, 0.0
            for k in range(begin, end):
                t, w = state[o], signed[k]
                o += index(1)
                part = w * payoff[k]
                # A weight is negative where the turn passes: the next value is the opponent's.
                if t >= 0:
                    part = w * values[np.uint32(t)]
                    if blurs:
                        bound += abs(w) * bounds[np.uint32(t)]
                total += part
                size += abs(part)
            value = values[s]
            gap[a] = reward[i] + total / weights[i] - value
            off = error[i] * (size / weights[i] + abs(reward[i]) + abs(value))
            rounding[a] = off + LEAST
            if blurs:
                # The factor covers the roundings of this sum and of its division.
                blur[a] = bound / weights[i] * (1.0 + 4.0 * error[i])
