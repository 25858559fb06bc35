"""Turns with a pool of dice, played by a rule for keeping and for the final action.

All states of a turn lead forward, so one pass finds their values. Beside each value goes a bound of
its error, by running error analysis (Higham 2002, Accuracy and Stability of Numerical Algorithms,
section 3.3): the errors of the inputs, and every rounding. Bounds are rounded up by a
factor for each step. Turns are also simulated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.jit import index, inner_kernel, kernel
from rollwise.kernels.sampling import draw

ROUNDING = 2.0**-53  # of one operation, relative to its result
UP = 1.0 + 2.0**-36  # more than the roundings of some thousand operations on nonnegative numbers
TINY = 1e-300  # more than the error of an underflow
DROPPED = np.uint64(11)
TO_UNIT = 2.0**-53


class Chances(NamedTuple):
    """The lotteries of a graph, with chances in the place of weights."""

    reward: Any  # (n_lotteries,) float64
    indptr: Any  # (n_lotteries + 1,) int64
    chance: Any  # float64, off by a rounding
    payoff: Any  # float64: where the game ends
    sign: Any  # float64: -1 where the turn passes


class Says(NamedTuple):
    """The choices of a rule in some positions.

    Sets of kept dice have their numbers in `rollwise.layers.layer.Pool`.
    """

    keep_group: Any  # (n,) int32
    keep: Any  # (n_groups, rerolls, n_throws) int32: with one roll left first
    fill_group: Any  # (n,) int32
    fill: Any  # (n_groups, n_throws, n_labels) int64: the scores of actions, without points
    points: Any  # (n_groups,) int64: the number before an action's points


@inner_kernel
def look_ahead(a, lottery, outcome_indptr, outcome_state, chances, values, bounds):
    """The value of an action, and a bound of its error.

    Parameters
    ----------
    chances : Chances
    values, bounds : (n_positions,) float64
    """
    i = lottery[a]
    begin, end = index(chances.indptr[i]), index(chances.indptr[i + 1])
    chance, payoff, turned = chances.chance, chances.payoff, chances.sign
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
    steps = 2.0 * (end - begin) + 6.0  # of each term: its chance, product and sums
    if end - begin == index(1):
        steps = 0.0  # a chance of 1 is exact
    value = chances.reward[i] + total
    return value, (off + ROUNDING * (steps * size + abs(value))) * UP


@inner_kernel
def thrown(with_face, value, off):
    """Values of sets of kept dice, with the other dice yet to fall, from the values of throws.

    Parameters
    ----------
    with_face
        Of the pool.
    value, off : (n_kept,) float64, changed
        By kept dice: for all dice the value of each throw; error bounds.
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


@kernel
def most_kept(scores, part_indptr, part, found):
    """The part of each throw with the largest score; of several the first.

    Parameters
    ----------
    scores : (n_groups, n_kept) int64
    part_indptr : (n_throws + 1,) int64
    part : int32
        The numbers of the sets of dice that can be kept of each throw.
    found : (n_groups, n_throws) int32, filled
    """
    for g in range(scores.shape[0]):
        for t in range(part_indptr.shape[0] - 1):
            first = index(part_indptr[t])
            best, most = part[first], scores[g, part[first]]
            for i in range(first, index(part_indptr[t + 1])):
                if scores[g, part[i]] > most:
                    best, most = part[i], scores[g, part[i]]
            found[g, t] = best


@inner_kernel
def preferred(first, last, label, lottery, reward, scores, points):
    """The action of a situation with the rule's largest score."""
    best, most = first, np.int64(0)
    for a in range(first, last):
        score = scores[label[a]] + points * np.int64(reward[lottery[a]])
        if a == first or score > most:
            best, most = a, score
    return best


@kernel
def follow_turns(
    n,
    situation_indptr,
    action_indptr,
    label,
    lottery,
    outcome_indptr,
    outcome_state,
    chances,
    pool,
    says,
    values,
    bounds,
    new_values,
    new_bounds,
):
    """The values of positions where a rule is played, and error bounds.

    Parameters
    ----------
    n : int
        Positions.
    situation_indptr : (n + 1,) int64
        The first situation of each: after the last throw, in the order of the throws.
    action_indptr, lottery, outcome_indptr, outcome_state
        Of the situations, from a builder (`rollwise.builders.arrays.Arrays`).
    chances : Chances
    pool : rollwise.layers.layer.Pool
    label : int32
        Of each action, as an index into `says`.
    says : Says
    values, bounds : (n_known,) float64
    new_values, new_bounds : (n,) float64, filled
    """
    n_kept, n_partial = pool.without.shape[0], pool.with_face.shape[0]
    n_throws = n_kept - n_partial
    value, off = np.empty(n_kept), np.empty(n_kept)
    last, last_off = np.empty(n_throws), np.empty(n_throws)
    for p in range(index(n)):
        begin, end = index(situation_indptr[p]), index(situation_indptr[p + index(1)])
        group, keep_group = says.fill_group[p], says.keep_group[p]
        for t in range(begin, end):
            throw = t - begin
            a = preferred(
                index(action_indptr[t]),
                index(action_indptr[t + index(1)]),
                label,
                lottery,
                chances.reward,
                says.fill[group, throw],
                says.points[group],
            )
            known = chances, values, bounds
            worth, doubt = look_ahead(a, lottery, outcome_indptr, outcome_state, *known)
            last[throw], last_off[throw] = worth, doubt
            value[n_partial + throw], off[n_partial + throw] = worth, doubt
        for left in range(pool.rerolls):
            thrown(pool.with_face, value, off)
            for throw in range(n_throws):
                k = says.keep[keep_group, left, throw]
                if k < n_partial:
                    value[n_partial + throw], off[n_partial + throw] = value[k], off[k]
                else:
                    value[n_partial + throw] = last[k - n_partial]
                    off[n_partial + throw] = last_off[k - n_partial]
        thrown(pool.with_face, value, off)
        new_values[p], new_bounds[p] = value[0], off[0] + TINY


@kernel
def throw_turns(
    n,
    situation_indptr,
    action_indptr,
    label,
    lottery,
    outcome_indptr,
    outcome_state,
    chances,
    pool,
    says,
    words,
    after,
):
    """Play one turn from each position by a rule.

    Parameters
    ----------
    words : (4,) uint64, changed
        The state of the random numbers.
    after : (n,) int32, filled
        The next position, or the arrays' number of an ending.
    **others
        As in `follow_turns`.
    """
    n_partial, sides = pool.with_face.shape
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    for p in range(index(n)):
        k, throw = 0, 0
        for left in range(pool.rerolls, -1, -1):
            while k < n_partial:
                bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
                face = int(np.float64(bits >> DROPPED) * TO_UNIT * sides)
                k = pool.with_face[k, min(face, sides - 1)]
            throw = k - n_partial
            if left == 0:
                break
            k = says.keep[says.keep_group[p], left - 1, throw]
            if k >= n_partial:
                break
        t = index(situation_indptr[p]) + index(throw)
        group = says.fill_group[p]
        a = preferred(
            index(action_indptr[t]),
            index(action_indptr[t + index(1)]),
            label,
            lottery,
            chances.reward,
            says.fill[group, throw],
            says.points[group],
        )
        begin, o = index(chances.indptr[lottery[a]]), index(outcome_indptr[a])
        bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
        left_over = np.float64(bits >> DROPPED) * TO_UNIT
        last = index(outcome_indptr[a + index(1)])
        while o + index(1) < last:
            left_over -= chances.chance[begin]
            if left_over < 0.0:
                break
            begin += index(1)
            o += index(1)
        after[p] = outcome_state[o]
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3
