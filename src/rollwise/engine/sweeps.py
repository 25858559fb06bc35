"""Sweeps over a layer, from its last position to its first: see `rollwise.layers.layer`.

`choose` takes the best action of each situation by the current values and records it as a
*choice*: the first outcome of the action, and its lottery. `evaluate` sweeps by these choices.
(Puterman and Shin, "Modified policy iteration algorithms for discounted Markov decision problems",
Management Science 24, 1978.) New values are used at once, as in the Gauss-Seidel method.

Errors have a recursion of the same kind. Let v be the values and e the local error of each value:
its distance from its own look ahead, and the rounding. Then

    b = e + sum over throws of chance * max over actions of
            (worth by v - worth of the best by v + sum over outcomes of  chance * b of the target)

bounds all errors: v + b is a supersolution of the equation and v - b is a subsolution, so
`rollwise.proofs.layers` can prove them. `measure` finds e and the *gap* of each action, its worth
by v minus the worth of the best action. With these and the absolute coefficients
(`tables_of_errors`), ``choose`` and ``evaluate`` sweep this recursion as they sweep values.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.kernels.indices import prefetch
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.layers.layer import Layer, Pool, Tables

TWO = index(2)
AHEAD = index(160)  # situations before its use a value of a large layer is prefetched
SPARE = 0.1  # share of the error of a position: `measure` left room for such a rise of its bound
FALLEN = 1e-6  # weight of the fall of a bound
NOT_CHOSEN = 2**32 - 1


class Choice(NamedTuple):
    """The chosen action of each situation of a block, and memory for the turns of a pool.

    Either `outcome` or `target` is empty. With `target`, every lottery has one outcome. Sweeps by
    such choices read it in order, instead of some of the targets of a large block.
    """

    outcome: Any  # (n_situations,) uint32: the first outcome of the action
    target: Any  # (n_situations,) uint32: its target
    lottery: Any  # (n_situations,) the type of the block's lotteries
    kept: Any  # (n_kept,) float64: see `fold`
    best: Any  # (n_kept,) float64, likewise


class Errors(NamedTuple):
    """Further data of the recursion of errors. All arrays are empty if values are searched.

    A byte is enough for a gap: its size is rounded down to a power of two, so bounds only grow.
    """

    off: Any  # (n,) float64: e, by place
    gap: Any  # (n_actions,) uint8: of the actions of a block, as rows of `gaps`
    gaps: Any  # (256,) float64: 0, then negative powers of two, the smallest first


NO_ERRORS = Errors(np.empty(0), np.empty(0, np.uint8), np.empty(0))
NO_SLOPE = np.empty(0)
NO_PLACES = np.empty(0, np.uint32)


def tables_of_errors(tables: Tables) -> Tables:
    """The tables of the recursion of errors: absolute coefficients and no rewards."""
    coefficient, reward = np.abs(tables.coefficient), np.zeros_like(tables.reward)
    return tables._replace(coefficient=coefficient, reward=reward)


def errors_for(layer: Layer, size: float) -> list[Errors]:
    """Memory for the local errors and gaps of each block.

    Parameters
    ----------
    size : float
        A typical absolute value. Gaps below its 2^-200th part count as 0.
    """
    off, gaps = np.empty(layer.n), np.zeros(256)
    least = max(math.frexp(size)[1] - 200, -1021)
    gaps[1:] = -np.ldexp(1.0, least + np.arange(255))
    return [Errors(off, np.empty(len(block.lottery), np.uint8), gaps) for _, block in layer.blocks]


def choices_for(layer: Layer, targets: bool = False) -> list[Choice]:
    """Memory for the choices of each block; no action is chosen yet.

    Parameters
    ----------
    targets : bool
        Whether choices have targets if possible: see `Choice`. This is worthwhile if the layer is
        swept often by the same choices.
    """
    n_kept, choices = len(layer.tables.pool.without), []
    has_targets = targets and np.diff(layer.tables.indptr).max(initial=0) == 1
    for _, block in layer.blocks:
        places = np.full(len(block.count), NOT_CHOSEN, np.uint32)
        each = (NO_PLACES, places) if has_targets else (places, NO_PLACES)
        lottery = np.empty(len(block.count), block.lottery.dtype)
        choices.append(Choice(*each, lottery, np.empty(n_kept), np.empty(n_kept)))
    return choices


def values_for(layer: Layer, border: NDArray[np.float64]) -> NDArray[np.float64]:
    """Memory for the values by place: 0 for positions, then the border and the endings."""
    values = np.zeros(layer.n_places)
    values[layer.n : layer.n + layer.n_border] = border
    values[layer.n + layer.n_border :] = layer.endings
    return values


@inner_kernel
def fold(pool: Pool, kept, best, is_last):
    """The value before a throw, from the values of ending the turn after it: the first of `kept`.

    It is called once for each round of situations of a position (`rollwise.layers.layer.Pool`).

    Parameters
    ----------
    kept : (n_kept,) float64, changed
        By kept dice. The values after the throws, at the end, must be filled. The others are the
        results of the call for the next throw of the turn.
    best : (n_kept,) float64, scratch
    is_last : bool
        It is the last throw of the turn.
    """
    with_face, without = pool.with_face, pool.without
    n_partial, sides = with_face.shape
    n_kept = without.shape[0]
    part = 1.0 / sides
    for again in range(pool.rerolls + 1):
        if again > 0 or not is_last:
            # Sets stand by size, so the best of a set with one die fewer is known.
            for k in range(n_kept):  # keep the best dice
                top = kept[k]
                for i in range(without.shape[1]):
                    fewer = without[k, i]
                    if fewer < 0:
                        break
                    top = max(top, best[fewer])
                best[k] = top
            for k in range(n_partial, n_kept):
                kept[k] = best[k]
        for k in range(n_partial - 1, -1, -1):  # add one die after the other
            total = 0.0
            for face in range(sides):
                total += kept[with_face[k, face]]
            kept[k] = total * part


@kernel
def choose(place, low, high, block, tables, values, errors, choice):
    """Take and record the best action of each situation, and replace the values.

    Parameters
    ----------
    place : int
        The place of the first position of the block.
    low, high : int
        The range of positions of the block, swept from the last to the first.
    values : (n_places,) float64, changed
        Values, or bounds with the tables and `errors` of their recursion.
    choice : Choice, changed

    Returns
    -------
    fall, rise : float
        The largest fall and rise of a number. A bound counts by its remaining change.
    scale : float
        The largest absolute value.
    switched : int
        Situations with a changed choice.
    """
    # Arrays are unpacked once: the loop would count their references. Memory allocated here would
    # have every call count them.
    first, throws, count, lottery, target = block
    lists, throw, pool = tables.lists, tables.throw, tables.pool
    indptr, coefficient, reward = tables.indptr, tables.coefficient, tables.reward
    has_targets, to_lottery = choice.target.shape[0] > 0, choice.lottery
    to_place = choice.target if has_targets else choice.outcome
    off, gap, gaps = errors.off, errors.gap, errors.gaps
    finds_bounds = off.shape[0] > 0
    n_partial = index(pool.with_face.shape[0])
    kept, scratch = choice.kept, choice.best
    n_kept, k = index(kept.shape[0]), n_partial
    fall, rise, scale, switched = 0.0, 0.0, 0.0, 0
    i = index(high)
    while i > index(low):
        i -= ONE
        p = index(place) + i
        s, a, o = index(first[i, 0]), index(first[i, 1]), index(first[i, 2])
        begin, end = index(lists[throws[i]]), index(lists[throws[i] + ONE])
        new = off[p] if finds_bounds else 0.0
        for t in range(begin, end):
            best, best_o, best_lottery = -np.inf, o, index(lottery[a])
            for _ in range(index(count[s])):
                number = index(lottery[a])
                j, after, at = index(indptr[number]), index(indptr[number + ONE]), o
                q, rest = gaps[gap[a]] if finds_bounds else reward[number], 0.0
                a += ONE
                if has_targets and o >= AHEAD:
                    prefetch(values, target[o - AHEAD])
                while j + ONE < after:  # two sums: neither addition waits for the other
                    q += coefficient[j] * values[target[o]]
                    rest += coefficient[j + ONE] * values[target[o + ONE]]
                    j += TWO
                    o += TWO
                if j < after:
                    q += coefficient[j] * values[target[o]]
                    o += ONE
                q += rest
                if q > best:
                    best, best_o, best_lottery = q, at, number
            chosen = index(target[best_o]) if has_targets else best_o
            if to_place[s] != chosen or to_lottery[s] != best_lottery:
                switched += 1
                to_place[s] = chosen
                to_lottery[s] = best_lottery
            s += ONE
            # Throws are averaged; with a pool, each round of situations is folded first.
            if n_partial == 0:
                new += throw[t] * best
                continue
            kept[k] = best
            k += ONE
            if k == n_kept:  # the end of a round of situations
                fold(pool, kept, scratch, t - begin < k - n_partial)
                k = n_partial
        if n_partial > 0:
            new += kept[0]
        change = new - values[p]
        values[p] = new
        if finds_bounds:
            # a fall leaves bounds that hold, and a small rise is covered by the slack of the error
            change = max(change - SPARE * off[p], 0.0) if change > 0.0 else FALLEN * change
        fall, rise, scale = max(fall, -change), max(rise, change), max(scale, abs(new))
    return fall, rise, scale, switched


@kernel
def evaluate(place, low, high, block, tables, choice, brought, values, slope):
    """Sweep by the chosen actions, where there are any; return the largest change of a value.

    Parameters
    ----------
    brought : (1,) or (n,) float64
        The constant term of each position, by place; a single number applies to all.
    values : (n_places,) float64, changed
    slope : (0,) or (n_places,) float64, changed
        The derivative of each value with respect to one of them. An empty array is left alone, and
        so is any array where the choice has targets.
    """
    first, throws, target = block.first, block.throws, block.target
    lists, throw = tables.lists, tables.throw
    indptr, coefficient, reward = tables.indptr, tables.coefficient, tables.reward
    outcome, lottery, has_slope = choice.outcome, choice.lottery, slope.shape[0] > 0
    to, has_targets = choice.target, choice.target.shape[0] > 0
    most = 0.0
    i = index(high)
    while i > index(low):
        i -= ONE
        p = index(place) + i
        s = index(first[i, 0])
        new, d = brought[p] if brought.shape[0] > 1 else brought[0], 0.0
        # Every lottery has one outcome, and its target stands beside it.
        if has_targets:
            for t in range(index(lists[throws[i]]), index(lists[throws[i] + ONE])):
                if s >= AHEAD:
                    prefetch(values, to[s - AHEAD])
                number = index(lottery[s])
                new += throw[t] * (reward[number] + coefficient[indptr[number]] * values[to[s]])
                s += ONE
            most = max(most, abs(new - values[p]))
            values[p] = new
            continue
        if outcome[s] == NOT_CHOSEN:
            continue
        for t in range(index(lists[throws[i]]), index(lists[throws[i] + ONE])):
            number, o = index(lottery[s]), index(outcome[s])
            s += ONE
            x, part = reward[number], 0.0
            for j in range(index(indptr[number]), index(indptr[number + ONE])):
                x += coefficient[j] * values[target[o]]
                if has_slope:
                    part += coefficient[j] * slope[target[o]]
                o += ONE
            new += throw[t] * x
            d += throw[t] * part
        most = max(most, abs(new - values[p]))
        values[p] = new
        if has_slope:
            slope[p] = d
    return most


@kernel
def measure(place, low, high, block, tables, slack, least, values, errors):
    """Measure the local errors of values: e of the recursion of errors, and the gaps.

    The local error is the distance of the value from its own look ahead, plus the rounding of the
    check, each with some room.

    Parameters
    ----------
    slack : float
        The relative room.
    least : float
        A likely upper limit of bounds, whose rounding counts too.
    errors : Errors
        `off` and `gap` are filled.

    Returns
    -------
    float
        The largest distance of a value from its own look ahead.
    """
    first, throws, count, lottery, target = block
    lists, throw, pool = tables.lists, tables.throw, tables.pool
    indptr, coefficient, reward = tables.indptr, tables.coefficient, tables.reward
    error, throw_error = tables.error, tables.throw_error
    off, gap, most = errors.off, errors.gap, np.int64(0)
    for s in range(index(first[low, 0]), index(first[high, 0])):
        most = max(most, np.int64(count[s]))
    worths = np.empty(most)  # of the actions of a situation
    bits = worths.view(np.int64)
    # the exponent of a double is in its bits from 52 to 62; row 1 of `gaps` has the least one
    before_least = ((errors.gaps.view(np.int64)[1] >> 52) & 2047) - 1
    n_partial = index(pool.with_face.shape[0])
    kept, scratch = np.empty(pool.without.shape[0]), np.empty(pool.without.shape[0])
    n_kept, of_turn, residual = index(kept.shape[0]), n_partial, 0.0
    for i in range(index(low), index(high)):
        p = index(place) + i
        s, a, o = index(first[i, 0]), index(first[i, 1]), index(first[i, 2])
        begin, end = index(lists[throws[i]]), index(lists[throws[i] + ONE])
        new, rounding, largest = 0.0, 0.0, 0.0
        for t in range(begin, end):
            best, room, size_of_best, first_a = -np.inf, 0.0, 0.0, a
            for _ in range(index(count[s])):
                number = index(lottery[a])
                q, size = reward[number], abs(reward[number])
                for j in range(index(indptr[number]), index(indptr[number + ONE])):
                    x = coefficient[j] * values[target[o]]
                    q += x
                    size += abs(x) + abs(coefficient[j]) * least
                    o += ONE
                is_sure = indptr[number + ONE] - indptr[number] == ONE
                if not (is_sure and reward[number] == 0.0):  # this case has no rounding
                    room = max(room, error[number] * size)
                size_of_best = max(size_of_best, size)
                best = max(best, q)
                worths[a - first_a] = q
                a += ONE
            for k in range(a - first_a):
                # A gap is the power of two at or below this difference: its exponent gives the row
                # of `gaps`.
                worths[k] = best - worths[k]
                gap[first_a + k] = min(max((bits[k] >> 52) - before_least, 0), 255)
            s += ONE
            largest = max(largest, size_of_best)
            if n_partial == 0:
                new += throw[t] * best
                rounding += throw[t] * (room + throw_error[throws[i]] * size_of_best)
                continue
            rounding = max(rounding, room)
            kept[of_turn] = best
            of_turn += ONE
            if of_turn == n_kept:  # the end of a round of situations
                fold(pool, kept, scratch, t - begin < of_turn - n_partial)
                of_turn = n_partial
        if n_partial > 0:
            new = kept[0]
            rounding += throw_error[throws[i]] * largest
        if not abs(new - values[p]) <= residual:  # also true for NaN
            residual = abs(new - values[p])
        off[p] = (abs(new - values[p]) + rounding) * (1.0 + slack) + 3.0 * UNIT * abs(new) + LEAST
    return residual


UNIT = 2.0**-53
LEAST = 1e-290  # in a bound, for numbers that underflow
