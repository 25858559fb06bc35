"""Turns with a pool of dice in which a rule says what is kept and what is done at last.

As `rollwise.kernels.turns`, with a rule in the place of the best choice: values and bounds of
their errors in one pass. And turns that are thrown, to see where play goes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.jit import index, inner_kernel, kernel
from rollwise.kernels.random import draw
from rollwise.kernels.turns import TINY, chosen, thrown

DROPPED = np.uint64(11)
TO_UNIT = 2.0**-53


class Says(NamedTuple):
    """What a rule says in some positions.

    What is kept has the number that it has in `rollwise.kernels.turns.PoolTables`.
    """

    keep_group: Any  # (n,) int32
    keep: Any  # (n_groups, rerolls, n_throws) int32: with one roll left first
    fill_group: Any  # (n,) int32
    fill: Any  # (n_groups, n_throws, n_labels) int64: what actions have, the points aside
    points: Any  # (n_groups,) int64: the number before an action's points


@kernel
def most_kept(scores, part_indptr, part, found):
    """The part of each throw that has most; of several the first.

    Parameters
    ----------
    scores : (n_groups, n_kept) int64
    part_indptr : (n_throws + 1,) int64
    part : int32
        The numbers of what can be kept of each throw.
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
    """The action of a situation that a rule prefers."""
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
    """What positions are worth where a rule is played, and bounds of the errors.

    Parameters
    ----------
    n, situation_indptr, action_indptr, lottery, outcome_indptr, outcome_state, chances, pool
        As `rollwise.kernels.turns.solve_turns` takes them.
    label : int32
        Of each action, by its place in `says`.
    says : Says
    values, bounds : (n_known,) float64
    new_values, new_bounds : (n,) float64, filled
    """
    n_kept, n_partial = pool.without.shape[0], pool.with_face.shape[0]
    n_throws = n_kept - n_partial
    value, off = np.empty(n_kept), np.empty(n_kept)
    last, last_off = np.empty(n_throws), np.empty(n_throws)
    found = np.empty(2)
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
            chosen(
                a,
                a + index(1),
                1.0,
                lottery,
                outcome_indptr,
                outcome_state,
                chances,
                values,
                bounds,
                found,
            )
            last[throw], last_off[throw] = found[0], found[1]
            value[n_partial + throw], off[n_partial + throw] = found[0], found[1]
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
        The next position; what the arrays say where the game ends.
    **others
        As `follow_turns` takes them.
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
