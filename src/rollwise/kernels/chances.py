"""The outcomes of actions, in a form for error bounds: a part of the trusted code.

`rollwise.proofs.check` uses it. Doubles are rounded to nearest, as IEEE 754 prescribes; each
sum and product here has its rounding counted (Higham 2002, Accuracy and Stability
of Numerical Algorithms, ch. 3).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.kernels.jit import ONE, index, inner_kernel, kernel

SMALLEST = 2.0**-1074  # the smallest positive double
UNIT = 2.0**-53  # half the distance from 1 to the next double


class Chances(NamedTuple):
    """The lotteries of a graph in a form for error bounds.

    Outcomes that go on stand at ``indptr[i]:indptr[i + 1]`` for lottery i; outcomes
    that end the game are summed up beforehand.
    """

    indptr: Any  # (n_lotteries + 1,) uint32
    weight: Any  # (n,) float64
    signed: Any  # (n,) float64: negative where the turn passes
    offset: Any  # (n,) uint32: the index of the outcome within the action
    total: Any  # (n_lotteries,) float64: of all weights
    over_total: Any  # (n_lotteries,) float64: weight times payoff, of outcomes that end the game
    over_size: Any  # (n_lotteries,) float64: weight times size of payoff, of the same
    over_payoff: Any  # (n_lotteries,) float64: of these, if it is the same for all; else NaN
    reward: Any  # (n_lotteries,) float64
    error: Any  # (n_lotteries,) float64: see `gap_of`
    underflow: Any  # (n_lotteries,) float64: see `gap_of`


def chances_of(lotteries: Any) -> Chances:
    """The lotteries of a graph in a form for error bounds.

    Parameters
    ----------
    lotteries : rollwise.graph.lotteries.Lotteries
    """
    begin, sizes = lotteries.indptr[:-1], np.diff(lotteries.indptr)
    goes_on = ~lotteries.over
    weight, total, error = means_of(lotteries)
    signed = np.where(lotteries.passes, -weight, weight)
    ended = np.where(lotteries.over, weight * lotteries.payoff, 0.0)
    offset = np.arange(len(weight)) - np.repeat(begin, sizes)
    least = np.minimum.reduceat(np.where(lotteries.over, lotteries.payoff, np.inf), begin)
    most = np.maximum.reduceat(np.where(lotteries.over, lotteries.payoff, -np.inf), begin)
    return Chances(
        np.concatenate([[0], np.cumsum(goes_on)])[lotteries.indptr].astype(np.uint32),
        weight[goes_on],
        signed[goes_on],
        offset[goes_on].astype(np.uint32),
        total,
        np.add.reduceat(ended, begin),
        np.add.reduceat(np.abs(ended), begin),
        np.where(least == most, least, np.nan),
        lotteries.reward,
        error,
        4.0 * (sizes + 2) * SMALLEST,
    )


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


@inner_kernel
def gap_of(chances, lottery, total, size, value, sign):
    """The value of an action minus the value of its state.

    With w the weights, W their sum, n their number and x the value of each
    outcome for the mover, the value of an action is q = reward + sum(w x) / W. In
    doubles it is off by at most (n + 5) units of sum(w |x|) / W + |reward| +
    |v|, the subtraction of v included: n for the products and their sum, one
    each for a weight beyond 53 bits, W, the division, and two for the rest.
    Weights that aren't whole add n for their sum, and 4 for having been rounded
    themselves, by up to 2 units each. ``chances.error`` is the number of units.
    Below 2^-1022 errors are absolute: at most half the smallest double, eta, for
    each product and for the division. With W at least 1/2, the sum is less than
    (n + 2) eta. ``chances.underflow`` has four times as much: for the following
    bounds too, and to spare. Sums don't underflow.

    Parameters
    ----------
    chances : Chances
    lottery : int
        Of the action.
    total, size : float
        The sums of w x and of w |x|, begun with those of outcomes that end the game.
    value : float
        Of the action's state.
    sign : 1 to make values large, -1 for small

    Returns
    -------
    gap : float
        sign * (q - v).
    rounding : float
        Error bound of `gap`.
    """
    reward, weights = chances.reward[lottery], chances.total[lottery]
    gap = sign * (reward + total / weights - value)
    rounding = chances.error[lottery] * (size / weights + abs(reward) + abs(value))
    return gap, rounding + chances.underflow[lottery]


@inner_kernel
def look_ahead(chances, lottery, state, begin, values, value, sign):
    """The value of an action minus the value of its state, and its rounding error.

    Parameters
    ----------
    chances : Chances
    lottery, begin : int
        The action's lottery, and the first of its outcomes in `state`.
    state : (n_outcomes,) int32
        Next states.
    values : (n_states + n_border,) float64
    value, sign : see `gap_of`
    """
    lottery, begin = np.uint32(lottery), index(begin)
    total, size = chances.over_total[lottery], chances.over_size[lottery]
    for k in range(chances.indptr[lottery], chances.indptr[lottery + ONE]):
        part = chances.signed[k] * values[np.uint32(state[begin + chances.offset[k]])]
        total += part
        size += abs(part)
    return gap_of(chances, lottery, total, size, value, sign)


@inner_kernel
def is_at_most(a, b, c, d):
    """Whether a + b <= c + d, exactly; False where a sum is no finite number.

    A sum of doubles is its nearest double plus a rest, itself a double (Knuth 1997, The Art
    of Computer Programming 2, 4.2.2, theorem B). Of two sums the smaller has no larger nearest
    double, so the rests decide only where these are equal.
    """
    left, right = a + b, c + d
    shift, move = left - a, right - c
    left_rest = (a - (left - shift)) + (b - shift)
    right_rest = (c - (right - move)) + (d - move)
    if not (abs(left) < np.inf and abs(right) < np.inf):
        return False
    return left < right or (left == right and left_rest <= right_rest)


@kernel
def residuals(
    action_indptr,
    lottery,
    outcome_indptr,
    state,
    chances,
    values,
    bounds,
    sign,
    gap,
    rounding,
    blur,
):
    """Look ahead once from every action (see `look_ahead`).

    Parameters
    ----------
    bounds : (n_states + n_border,) float64
        Error bound of each value; empty if not needed.
    gap, rounding : (n_actions,) float64, filled
    blur : (n_actions,) float64, filled unless `bounds` is empty
        Error bound of each action's value from the bounds of the next values.
    """
    for s in range(action_indptr.shape[0] - 1):
        for a in range(action_indptr[s], action_indptr[s + 1]):
            gap[a], rounding[a] = look_ahead(
                chances, lottery[a], state, outcome_indptr[a], values, values[s], sign
            )
            if bounds.shape[0]:
                i, bound = np.uint32(lottery[a]), 0.0
                for k in range(chances.indptr[i], chances.indptr[i + ONE]):
                    t = np.uint32(state[index(outcome_indptr[a]) + chances.offset[k]])
                    bound += chances.weight[k] * bounds[t]
                blur[a] = bound / chances.total[i] * (1.0 + 4.0 * chances.error[i])
