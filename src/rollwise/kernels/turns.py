"""What positions are worth whose turns all lead to positions that are known: values and errors.

A turn is thrown in, and then something is chosen; with a pool of dice, some are kept and the
others thrown again. All states of a turn lead forward, so one pass finds their values. Beside
each value goes a bound of its error, by running error analysis (Higham 2002, Accuracy and
Stability of Numerical Algorithms, section 3.3): what is known of the numbers that go in, and every
rounding. Bounds are rounded up by a factor for each step.

This is part of what is trusted (see `rollwise.proofs.check`): it imports no solver.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.jit import index, inner_kernel, kernel

ROUNDING = 2.0**-53  # of one operation, relative to its result
UP = 1.0 + 2.0**-36  # more than the roundings of some thousand operations on what isn't negative
TINY = 1e-300  # more than what underflow may lose


class PoolTables(NamedTuple):
    """A pool of n dice as tables of what is kept: m dice, 0 to n.

    What is kept has a number. First comes nothing; all that has m dice stands together, and all
    of n dice, which are the throws, last and in the order of the throws.
    """

    with_face: Any  # (n_partial, sides) int32: what it is with one more die
    without: Any  # (n_kept, n) int32: what it is without one die; -1 behind the last
    rerolls: Any  # int


@inner_kernel
def chosen(
    first, last, sign, lottery, outcome_indptr, outcome_state, chances, values, bounds, found
):
    """The value of the best action of a situation, and a bound of its error.

    Parameters
    ----------
    first, last : the actions
    sign : 1 where more is better, -1 where less is
    chances : Chances
    values, bounds : (n_positions,) float64
    found : (2,) float64, filled
    """
    best, doubt = -np.inf, 0.0
    reward, indptr, chance = chances.reward, chances.indptr, chances.chance
    payoff, turned = chances.payoff, chances.sign
    for a in range(first, last):
        i = lottery[a]
        begin, end = index(indptr[i]), index(indptr[i + 1])
        o = index(outcome_indptr[a])
        total, size, off = 0.0, 0.0, 0.0
        for k in range(begin, end):
            t = outcome_state[o]
            o += index(1)
            if t < 0:
                total += chance[k] * payoff[k]
                size += chance[k] * abs(payoff[k])
            else:
                total += chance[k] * (turned[k] * values[t])
                size += chance[k] * abs(values[t])
                off += chance[k] * bounds[t]
        points = reward[i]
        steps = 2.0 * (end - begin) + 6.0  # of each term: its chance, product and sums
        if end - begin == index(1):
            steps = 0.0  # a chance of 1 is exact
        value = points + total
        off += ROUNDING * (steps * size + abs(value))
        value *= sign
        best = max(best, value)
        doubt = max(doubt, off)
    found[0], found[1] = best * sign, doubt * UP


class Chances(NamedTuple):
    """The lotteries of a graph, with chances in the place of weights."""

    reward: Any  # (n_lotteries,) float64
    indptr: Any  # (n_lotteries + 1,) int64
    chance: Any  # float64, off by a rounding
    payoff: Any  # float64: where the game ends
    sign: Any  # float64: -1 where the turn passes


@inner_kernel
def thrown(with_face, value, off):
    """From what each throw is worth to what is kept, with the other dice yet to fall.

    Parameters
    ----------
    with_face
        Of the pool.
    value, off : (n_kept,) float64, changed
        As `pooled` takes them.
    """
    n_partial, sides = with_face.shape
    part = 1.0 / sides
    for k in range(n_partial - 1, -1, -1):  # one die after the other falls
        total, size, doubt = 0.0, 0.0, 0.0
        for face in range(sides):
            after = with_face[k, face]
            total += value[after]
            size += abs(value[after])
            doubt += off[after]
        value[k] = total * part
        off[k] = (doubt + ROUNDING * (sides + 2.0) * size) * part * UP


@inner_kernel
def pooled(pool, value, off, sign, best, best_off):
    """From what each throw is worth at last to what the turn is worth: in the first place.

    Parameters
    ----------
    pool : PoolTables
    value, off : (n_kept,) float64, changed
        By what is kept: of all dice what each throw is worth; a bound of the error.
    best, best_off : (n_kept,) float64, scratch
    """
    n_partial, n_kept = pool.with_face.shape[0], pool.without.shape[0]
    without = pool.without
    for left in range(pool.rerolls + 1):
        thrown(pool.with_face, value, off)
        if left == pool.rerolls:
            return
        for k in range(n_kept):  # the best that can be kept of it
            top, doubt = sign * value[k], off[k]
            for i in range(without.shape[1]):
                before = without[k, i]
                if before < 0:
                    break
                top = max(top, best[before])
                doubt = max(doubt, best_off[before])
            best[k], best_off[k] = top, doubt
        for k in range(n_partial, n_kept):
            value[k], off[k] = sign * best[k], best_off[k]


@kernel
def solve_turns(
    n,
    sign,
    situation_indptr,
    action_indptr,
    lottery,
    outcome_indptr,
    outcome_state,
    chances,
    pool,
    throw_chances,
    values,
    bounds,
    new_values,
    new_bounds,
):
    """The values of positions from those that their turns lead to, and bounds of their errors.

    Parameters
    ----------
    n : int
        Positions.
    sign : float
    situation_indptr : (n + 1,) int64
        Where the situations of each begin: after the last throw, in the order of the throws.
    action_indptr, lottery, outcome_indptr, outcome_state
        Of the situations, as a builder finds them (`rollwise.builders.arrays.Arrays`).
    chances : Chances
    pool : PoolTables
        Without dice where nothing is thrown again.
    throw_chances : (list_indptr, of_state, chance)
        Of the throws, where there is no pool.
    values, bounds : (n_known,) float64
    new_values, new_bounds : (n,) float64, filled
    """
    n_kept = max(pool.without.shape[0], 1)
    n_partial = pool.with_face.shape[0]
    value, off = np.empty(n_kept), np.empty(n_kept)
    best, best_off = np.empty(n_kept), np.empty(n_kept)
    found = np.empty(2)
    list_indptr, of_state, chance = throw_chances
    for p in range(index(n)):
        begin, end = index(situation_indptr[p]), index(situation_indptr[p + index(1)])
        total, size, doubt = 0.0, 0.0, 0.0
        at = index(0) if n_partial else index(list_indptr[of_state[p]])
        for t in range(begin, end):
            chosen(
                index(action_indptr[t]),
                index(action_indptr[t + index(1)]),
                sign,
                lottery,
                outcome_indptr,
                outcome_state,
                chances,
                values,
                bounds,
                found,
            )
            if n_partial:
                k = index(n_partial) + (t - begin)
                value[k], off[k] = found[0], found[1]
            else:
                total += chance[at] * found[0]
                size += chance[at] * abs(found[0])
                doubt += chance[at] * found[1]
                at += index(1)
        if n_partial:
            pooled(pool, value, off, sign, best, best_off)
            new_values[p], new_bounds[p] = value[0], off[0] + TINY
        else:
            new_values[p] = total
            new_bounds[p] = (doubt + ROUNDING * (2.0 * (end - begin) + 6.0) * size) * UP + TINY
