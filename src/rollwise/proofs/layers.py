"""The proof of a layer: whether the values of its positions lie within claimed bounds.

It reads a layer (`rollwise.layers.layer`) and an interval for each place, from any source. Two
facts prove that every interval contains the value of its position.

1. *Every play leaves the layer, whatever the players do* (`staying`). A position is marked
   if, after one of its throws, each action may end the game, may leave the layer or may lead to a
   marked position. If all n positions are marked, any n successive moves leave the layer with at
   least a fixed positive probability. Play therefore stays forever with probability zero.
2. *The upper bounds are a supersolution of the equation of the layer, and the lower bounds a
   subsolution* (`sweep`). No action is worth more than the upper bound, if its targets are worth
   their upper bounds. Some action is worth at least the lower bound, if its targets are worth their
   lower bounds. By always taking this action a player gets at least the lower bound on average.
   Against an opponent with this policy, no policy gets more than the upper bound.

(Shapley, "Stochastic games", PNAS 39, 1953, for games that end with a chance at each move; Condon,
"The complexity of stochastic games", Information and Computation 96, 1992, for games that end with
probability one; Bertsekas and Tsitsiklis, "An analysis of stochastic shortest path problems",
Mathematics of Operations Research 16, 1991, for points.)

Every rounding is bounded and counted on the safe side (Higham 2002, Accuracy and Stability of
Numerical Algorithms, chapter 3). Assumptions: IEEE 754 doubles, rounded to nearest; positive finite
weights; fewer than 2^40 outcomes of an action; valid intervals on the border; and a layer that
represents the game, as `rollwise check` and `rollwise.proofs.check_rules` test. A game with
other weights has no proved bounds (`rollwise.builders.arrays`). If bounds are replaced and not
checked, `rollwise.layers.has_no_cycle` is trusted too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.layers.layer import Layer

Floats = NDArray[np.float64]
Apply = Callable[..., Iterable[object]]

UNIT = 2.0**-53  # half the distance from 1 to the next double
UP = 1.0 + 2.0**-40  # more than the rounding of a bound of rounding errors
PHI, ETA = UNIT * (1.0 + 2.0 * UNIT), 2.0**-1074  # Rump et al., BIT 49 (2009)
LEAST = 1e-300  # more than the loss of a sum by underflow
NOBODY = np.empty(0, np.bool_)
NO_ORDER = np.empty(0, np.int64)


def staying(
    layer: Layer, most_sweeps: float = np.inf, order: NDArray[np.int64] = NO_ORDER
) -> NDArray[np.int64]:
    """The places of the positions from which players can stay in a layer forever, ascending.

    After `most_sweeps` sweeps, the places of all unmarked positions.

    Parameters
    ----------
    order : (m,) int64, optional
        Places of a layer of one block to examine first, from any source. It saves sweeps.
    """
    ending = np.zeros(layer.n, np.bool_)
    if len(order):
        mark(*layer.blocks[0], layer.tables, ending, order)
    left, marked, sweeps = layer.n - np.count_nonzero(ending), 1, 0
    while left and marked and sweeps < most_sweeps:
        sweeps += 1
        marked = sum(
            mark(place, block, layer.tables, ending, NO_ORDER)
            for place, block in reversed(layer.blocks)
        )
        left -= marked
    return np.flatnonzero(~ending)


@kernel
def intervals(values, bounds, known, out):
    """Compute the intervals of values and error bounds, rounded on the safe side.

    Parameters
    ----------
    values, bounds : (n,) float64
    known : bool
        The errors are proved, and the intervals are rounded outward. Otherwise they are claims, and
        the intervals are rounded inward: the bounds hold if the intervals hold.
    out : (n, 2) float64, filled
    """
    for i in range(values.shape[0]):
        for column in range(2):
            bound = bounds[i] if column == 1 else -bounds[i]
            end = values[i] + bound
            # end + rest is the exact sum (Knuth, The Art of Computer Programming 2,
            # 1997, section 4.2.2, theorem B); infinite sums have no rest
            part = end - values[i]
            rest = (values[i] - (end - part)) + (bound - part)
            step = abs(end) * PHI + ETA  # end + step is at least the next double
            if (column == 1) == known:
                end += step if rest > 0.0 else 0.0
            else:
                end -= step if rest < 0.0 else 0.0
            out[i, column] = end


def claims(
    layer: Layer, values: Floats, bounds: Floats, border_values: Floats, border_bounds: Floats
) -> Floats:
    """The intervals of all places, claimed for positions and known for the border: (n_places, 2).

    Parameters
    ----------
    values, bounds : (n,) float64
        By place.
    border_values, border_bounds : (n_border,) float64
        Proved already.
    """
    found, begin, end = np.empty((layer.n_places, 2)), layer.n, layer.n + layer.n_border
    intervals(values, bounds, False, found[:begin])
    intervals(border_values, border_bounds, True, found[begin:end])
    found[end:] = layer.endings[:, None]
    return found


def unproved(layer: Layer, bounds: Floats, each: Apply = map) -> NDArray[np.int64]:
    """The places without proved bounds; `bounds` as in `broken`, `each` applies as `map`."""
    proved = np.zeros(layer.n, np.bool_)
    rest = layer.tables, bounds, False, proved
    list(each(lambda part: sweep(part[0], part[1], *rest), layer.blocks))
    return np.flatnonzero(~proved)


def broken(layer: Layer, bounds: NDArray[np.float64]) -> tuple[int, int]:
    """The numbers of lower and of upper bounds without a proof: (n_places, 2) float64, both."""
    lists = layer.tables, bounds, False, NOBODY
    found = [sweep(place, block, *lists) for place, block in layer.blocks]
    return sum(low for low, _ in found), sum(high for _, high in found)


@kernel
def sweep(place, block, tables, bounds, replace, proved):
    """Check the bounds of the positions of a block, from the last one on.

    Parameters
    ----------
    place : int
        The place of the first position of the block.
    bounds : (n_places, 2) float64, changed
    replace : bool
        Each position gets the bounds implied by its targets. They are proved if the sweep has
        already visited all positions among the targets.
    proved : (n,) bool, changed
        True is set at positions with proved bounds. An empty array is left alone.

    Returns
    -------
    n_low, n_high : int
        Numbers of lower and upper bounds without a proof.
    """
    first, throws, count, lottery, target = block
    lists, indptr, pool = tables.lists, tables.indptr, tables.pool
    throw_weight = tables.throw_weight
    n_partial, n_kept = index(pool.with_face.shape[0]), index(pool.without.shape[0])
    kept, best = np.empty((n_kept, 2)), np.empty((n_kept, 2))
    found, low_high = np.empty(2), np.empty(2)
    n_low, n_high, k, i = 0, 0, n_partial, index(throws.shape[0])
    while i > 0:
        i -= ONE
        p = index(place) + i
        s, a, o = index(first[i, 0]), index(first[i, 1]), index(first[i, 2])
        number = index(throws[i])
        begin, end = index(lists[number]), index(lists[number + ONE])
        low, high, size = 0.0, 0.0, 0.0
        for t in range(begin, end):
            low_high[0] = low_high[1] = -np.inf
            for _ in range(index(count[s])):
                look_ahead(tables, index(lottery[a]), target, o, bounds, found)
                low_high[0] = max(low_high[0], found[0])
                low_high[1] = max(low_high[1], found[1])
                o += index(indptr[lottery[a] + ONE]) - index(indptr[lottery[a]])
                a += ONE
            s += ONE
            if n_partial > 0:
                kept[k, 0], kept[k, 1] = low_high[0], low_high[1]
                k += ONE
                if k == n_kept:  # the end of a round of situations
                    keep_the_best(pool, kept, best, t - begin < k - n_partial)
                    k = n_partial
            elif end - begin == ONE:
                low, high = low_high[0], low_high[1]
            else:
                w = throw_weight[t]
                low += w * low_high[0]
                high += w * low_high[1]
                size += w * max(abs(low_high[0]), abs(low_high[1]))
        if n_partial > 0:
            low, high = kept[0, 0], kept[0, 1]
        elif end - begin > ONE:
            total = tables.throw_total[number]
            room = tables.throw_error[number] * (size / total) + LEAST
            if room < np.inf:
                room = room if size > 0.0 else 0.0
                low, high = low / total - room, high / total + room
            else:
                low, high = -np.inf, np.inf
        if replace:
            bounds[p, 0], bounds[p, 1] = low, high
        n_low += not bounds[p, 0] <= low  # also true for NaN
        n_high += not high <= bounds[p, 1]
        if proved.shape[0] > 0:
            proved[p] = bounds[p, 0] <= low and high <= bounds[p, 1]
    return n_low, n_high


@inner_kernel
def look_ahead(tables, number, target, o, bounds, found):
    """Bounds of the worth of an action, from the bounds of its targets.

    Parameters
    ----------
    number, o : index
        The lottery of the action, and its first outcome.
    found : (2,) float64, filled
    """
    reward = tables.reward[number]
    j, after = index(tables.indptr[number]), index(tables.indptr[number + ONE])
    if after - j == ONE:  # a single outcome is certain, and exact
        to = target[o]
        low, high = bounds[to, 0], bounds[to, 1]
        if tables.weight[j] < 0.0:
            low, high = -high, -low
        if reward != 0.0:
            room = 2.0 * UNIT * UP * (max(abs(low), abs(high)) + abs(reward)) + LEAST
            low, high = reward + low - room, reward + high + room
        found[0], found[1] = low, high
        return
    low, high, size, least, most = 0.0, 0.0, 0.0, np.inf, -np.inf
    while j < after:
        w, to = tables.weight[j], target[o]
        below, above = bounds[to, 0], bounds[to, 1]
        if w < 0.0:  # the other player's upper bound
            below, above = -above, -below
        w = abs(w)
        low += w * below
        high += w * above
        size += w * max(abs(below), abs(above))
        least, most = min(least, below), max(most, above)
        j, o = j + ONE, o + ONE
    total = tables.total[number]
    size = size / total + abs(reward)
    room = tables.error[number] * size * UP + LEAST
    found[0], found[1] = -np.inf, np.inf  # an infinite error proves no bounds
    if room < np.inf:  # neither does NaN, from infinity times 0
        room = room if size > 0.0 else 0.0  # zeros are exact
        found[0], found[1] = reward + low / total - room, reward + high / total + room
        if reward == 0.0:  # a mean lies between its terms
            found[0], found[1] = max(found[0], least), min(found[1], most)


@inner_kernel
def keep_the_best(pool, kept, best, is_last):
    """Bounds before a throw with a pool of dice, from the bounds of ending the turn after it.

    Parameters
    ----------
    kept : (n_kept, 2) float64, changed
        By kept dice (`rollwise.layers.layer.Pool`). The throws, the last rows, must be filled. The
        others are the results of the next throw, if not `is_last`. The first row is the result.
    best : (n_kept, 2) float64, scratch
    """
    n_partial, n_kept = pool.with_face.shape[0], kept.shape[0]
    for again in range(pool.rerolls + 1):
        if again > 0 or not is_last:
            for k in range(n_kept):  # keep the best dice: all of them, or one fewer, and so on
                low, high = kept[k, 0], kept[k, 1]
                for i in range(pool.without.shape[1]):
                    fewer = pool.without[k, i]
                    if fewer < 0:
                        break
                    low, high = max(low, best[fewer, 0]), max(high, best[fewer, 1])
                best[k, 0], best[k, 1] = low, high
            for k in range(n_partial, n_kept):
                kept[k, 0], kept[k, 1] = best[k, 0], best[k, 1]
        throw_dice(pool, kept)


@inner_kernel
def throw_dice(pool, kept):
    """Bounds of sets of kept dice before the other dice fall, from the bounds of the throws."""
    n_partial, sides = pool.with_face.shape
    for k in range(n_partial - 1, -1, -1):  # add one die after the other
        low, high, size = 0.0, 0.0, 0.0
        for face in range(sides):
            after = pool.with_face[k, face]
            low += kept[after, 0]
            high += kept[after, 1]
            size += max(abs(kept[after, 0]), abs(kept[after, 1]))
        room = (sides + 2.0) * UNIT * UP * (size / sides) + LEAST if size > 0.0 else 0.0
        kept[k, 0], kept[k, 1] = low / sides - room, high / sides + room


@kernel
def mark(place, block, tables, ending, order):
    """Mark the positions of a block from which every play may leave the layer.

    With a pool of dice the mover influences the last throw. Every throw must then qualify.

    Parameters
    ----------
    place : int
        The place of the first position of the block.
    ending : (n,) bool, changed
        Of the positions of the layer.
    order : (m,) int64
        Positions to examine, in this order. If empty: all, from the last one on.

    Returns
    -------
    int
        Number of newly marked positions.
    """
    first, throws, count, lottery, target = block
    lists, indptr, n = tables.lists, tables.indptr, ending.shape[0]
    has_pool = tables.pool.with_face.shape[0] > 0
    n_rows = index(throws.shape[0] if order.shape[0] == 0 else order.shape[0])
    n_marked = 0
    for k in range(n_rows):
        i = n_rows - ONE - index(k) if order.shape[0] == 0 else index(order[k])
        p = index(place) + i
        if ending[p]:
            continue
        s, a, o = index(first[i, 0]), index(first[i, 1]), index(first[i, 2])
        every, one = True, False
        for _ in range(index(lists[throws[i] + ONE]) - index(lists[throws[i]])):
            each = True
            for _ in range(index(count[s])):
                number, some = index(lottery[a]), False
                after = o + index(indptr[number + ONE]) - index(indptr[number])
                while o < after and not some:
                    t = index(target[o])
                    some = t >= n or ending[t]
                    o += ONE
                a, o, each = a + ONE, after, each and some
            s += ONE
            every = every and each
            one = one or each
        if every or (one and not has_pool):
            ending[p] = True
            n_marked += 1
    return n_marked
