"""Passes over a graph that bound the error of its values, rounding included.

Independent of every solver. What proves the bounds reads the graph as it is; the other
passes read it in solving order, which is the same graph with its states renumbered.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.kernels.prefetch import prefetch

NEAR = 1 << 20  # values that are near enough for memory not to be asked for
AHEAD = index(8)  # states between a line's being asked for and its being read
SMALLEST = 2.0**-1074  # the smallest positive double
UNIT = 2.0**-53  # half the distance from 1 to the next double


class Chances(NamedTuple):
    """The lotteries of a graph in the form in which errors are counted.

    Outcomes that go on stand at ``indptr[i]:indptr[i + 1]`` for lottery i; those
    that end the game are summed up beforehand.
    """

    indptr: Any  # (n_lotteries + 1,) uint32
    weight: Any  # (n,) float64
    signed: Any  # (n,) float64: negative where the turn passes
    offset: Any  # (n,) uint32: which outcome of the action this is
    total: Any  # (n_lotteries,) float64: of all weights
    over_total: Any  # (n_lotteries,) float64: weight times payoff, of outcomes that end the game
    over_size: Any  # (n_lotteries,) float64: weight times size of payoff, of the same
    reward: Any  # (n_lotteries,) float64
    error: Any  # (n_lotteries,) float64: see `gap_of`
    underflow: Any  # (n_lotteries,) float64: see `gap_of`


@inner_kernel
def gap_of(chances, lottery, total, size, value, sign):
    """How much better an action looks than the value of its state.

    With w the weights, W their sum, n their number and x the value of each
    outcome for the mover, an action is worth q = reward + sum(w x) / W. In
    doubles that is off by at most (n + 5) units of sum(w |x|) / W + |reward| +
    |v|, the subtraction of v included: n for the products and their sum, one
    each for a weight beyond 53 bits, W, the division, and two for the rest.
    Weights that aren't whole add n for their sum, and 4 for having been rounded
    themselves, by up to 2 units each. ``chances.error`` is that many units.
    Below 2^-1022 errors are absolute: at most half the smallest double, eta, for
    each product and for the division. With W at least 1/2, that is less than
    (n + 2) eta, which ``chances.underflow`` has four times: for the bounds that
    follow too, and to spare. Sums don't underflow.

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
        How far `gap` can be off.
    """
    reward, weights = chances.reward[lottery], chances.total[lottery]
    gap = sign * (reward + total / weights - value)
    rounding = chances.error[lottery] * (size / weights + abs(reward) + abs(value))
    return gap, rounding + chances.underflow[lottery]


@inner_kernel
def look_ahead(chances, lottery, state, begin, values, value, sign):
    """How much better an action looks than the value of its state, and the rounding in that.

    Parameters
    ----------
    chances : Chances
    lottery, begin : int
        The action's lottery, and the first of its outcomes in `state`.
    state : (n_outcomes,) int32
        Where outcomes lead.
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


@kernel
def keeps_small_numbers(one):
    """Whether numbers below 2^-1022 are kept, which a library may have told the processor not to.

    Parameters
    ----------
    one : 1.0, which the compiler doesn't know
    """
    least_normal = one * 2.0**-1022
    return least_normal * 0.5 > 0.0 and least_normal * 2.0**-52 == SMALLEST * one


@kernel
def residuals(action_indptr, lottery, outcome_indptr, state, chances, values, sign, gap, rounding):
    """Look ahead once from every action (see `look_ahead`).

    Parameters
    ----------
    gap, rounding : (n_actions,) float64, filled
    """
    for s in range(action_indptr.shape[0] - 1):
        for a in range(action_indptr[s], action_indptr[s + 1]):
            gap[a], rounding[a] = look_ahead(
                chances, lottery[a], state, outcome_indptr[a], values, values[s], sign
            )


@kernel
def error_terms(low, high, arranged, chances, values, sign, slack, least, terms, chosen):
    """What each action of the positions `low` to `high` adds to the error (see `gap_of`).

    That is what it can be worth beyond the value, and for the best one also what
    it can fall short. Each gets a little more, `slack` times that of the best or its own,
    and `least`, for the check to have room.

    Parameters
    ----------
    values : (n_states + n_border,) float64
        By position.
    terms : (n_actions,) float64, filled
    chosen : (n_states,) uint32, filled
        The action that is best at these values.
    """
    action_indptr, outcome_indptr = arranged.action_indptr, arranged.outcome_indptr
    lottery, target = arranged.lottery, arranged.target
    indptr, signed = chances.indptr, chances.signed
    k = index(outcome_indptr[action_indptr[low]])
    for i in range(index(low), index(high)):
        first, last = index(action_indptr[i]), index(action_indptr[i + ONE])
        best = first
        best_gap = -np.inf
        best_rounding = 0.0
        value = values[i]
        for a in range(first, last):
            which = np.uint32(lottery[a])
            total, size = chances.over_total[which], chances.over_size[which]
            c = index(indptr[which])
            while k < index(outcome_indptr[a + ONE]):
                part = signed[c] * values[target[k]]
                total += part
                size += abs(part)
                c += ONE
                k += ONE
            gap, rounding = gap_of(chances, which, total, size, value, sign)
            terms[a] = gap + rounding
            if gap > best_gap:
                best, best_gap, best_rounding = index(a), gap, rounding
        off = abs(best_gap) + best_rounding
        terms[best] = off
        chosen[i] = best
        for a in range(first, last):
            terms[a] += slack * max(off, terms[a]) + least


@inner_kernel
def is_level(s, a, lottery, outcome_indptr, state, chances, values, bound):
    """Whether all that can come of an action is worth just what its state is.

    Then the action is worth that too, with nothing rounded, and the state's bound covers
    it if no bound of what follows is larger.

    Parameters
    ----------
    s, a : int
        The state and its action; the rest as in `count_unproven`.
    """
    i, begin = np.uint32(lottery[a]), index(outcome_indptr[a])
    first, last = index(chances.indptr[i]), index(chances.indptr[i + ONE])
    if chances.reward[i] != 0.0 or last - first != index(outcome_indptr[a + ONE]) - begin:
        return False
    for k in range(first, last):
        t = np.uint32(state[begin + chances.offset[k]])
        worth = values[t] if chances.signed[k] > 0.0 else -values[t]
        if not (worth == values[s] and bound[t] <= bound[s]):
            return False
    return True


@inner_kernel
def is_proved(s, a, lottery, outcome_indptr, state, chances, values, sign, bound):
    """Whether an action can't be worth more than the bound allows, nor less.

    Returns
    -------
    above, below : bool
        The one, and the other (see `count_unproven`).
    """
    if is_level(s, a, lottery, outcome_indptr, state, chances, values, bound):
        return True, True
    i, begin = np.uint32(lottery[a]), index(outcome_indptr[a])
    gap, rounding = look_ahead(chances, i, state, begin, values, values[s], sign)
    bounds = 0.0
    for k in range(chances.indptr[i], chances.indptr[i + ONE]):
        bounds += chances.weight[k] * bound[np.uint32(state[begin + chances.offset[k]])]
    after = bounds / chances.total[i] * (1.0 + 4.0 * chances.error[i])
    room = bound[s] * (1.0 - 8.0 * UNIT)
    return gap + rounding + after <= room, -gap + rounding + after <= room


@inner_kernel
def proves_by_ties(s, action_indptr, lottery, outcome_indptr, state, chances, values, sign, bound):
    """Whether a state proves its bound if exact ties are counted as such (see `is_level`)."""
    below = False
    for a in range(index(action_indptr[s]), index(action_indptr[s + ONE])):
        not_more, not_less = is_proved(
            s, a, lottery, outcome_indptr, state, chances, values, sign, bound
        )
        if not not_more:
            return False
        below = below or not_less
    return below


@kernel
def find_upholding(
    action_indptr, lottery, outcome_indptr, state, chances, values, sign, bound, upholds
):
    """Mark the actions that are worth at least v - bound when what follows is worse by its own.

    Parameters
    ----------
    upholds : (n_actions,) bool, filled
    """
    for s in range(index(action_indptr.shape[0] - 1)):
        for a in range(index(action_indptr[s]), index(action_indptr[s + ONE])):
            upholds[a] = is_proved(
                s, a, lottery, outcome_indptr, state, chances, values, sign, bound
            )[1]


@kernel
def force_an_end(
    action_indptr, outcome_indptr, outcome_state, passes, component, upholds, free, forcing
):
    """Mark the states from which one player can see to it that play ends, or stops to matter.

    That player takes only actions that uphold the value, the other one any. A state is
    marked as soon as, whatever the other does, there is a chance to come to a marked one
    or out of the component. If all are marked, play can't go round for ever among states that
    were not marked to begin with: in as many moves as there are states there is always a chance
    to leave them (the attractor of de Alfaro 1997, chance on the player's side).

    Parameters
    ----------
    outcome_state : (n_outcomes,) int32
    passes : (n_outcomes,) bool
    component : (n_states,) int32
        The strongly connected component of each state.
    upholds : (n_actions,) bool
    free, forcing : (n_states,) bool, filled
        Where the other one is to move, and where the player is.
    """
    n = action_indptr.shape[0] - 1
    changed = True
    while changed:
        changed = False
        for s in range(n):
            if free[s] and forcing[s]:
                continue
            every, some = True, False
            for a in range(action_indptr[s], action_indptr[s + 1]):
                with_free, with_forcing = False, False
                for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                    t = outcome_state[k]
                    if t < 0 or t >= n or component[t] != component[s]:
                        with_free, with_forcing = True, True
                        break
                    with_free = with_free or (forcing[t] if passes[k] else free[t])
                    with_forcing = with_forcing or (free[t] if passes[k] else forcing[t])
                every = every and with_free
                some = some or (upholds[a] and with_forcing)
            if every and not free[s]:
                free[s], changed = True, True
            if some and not forcing[s]:
                forcing[s], changed = True, True


@kernel
def count_unproven(
    low, high, action_indptr, lottery, outcome_indptr, state, chances, values, sign, bound
):
    """How many of some states don't prove their bound from the bounds of what follows.

    A state does, if no action can be worth more than v + bound when everything
    that follows is better by its own bound, and some action is worth at least
    v - bound when everything that follows is worse by its own.

    Parameters
    ----------
    low, high : int
        Which states: from `low` to below `high`.
    bound : (n_states + n_border,) float64

    Returns
    -------
    unproven : int
    residual : float
        The largest distance of a value from what one look ahead makes of it.
    """
    unproven = 0
    residual = 0.0
    indptr, weight, signed = chances.indptr, chances.weight, chances.signed
    offset, weights, error = chances.offset, chances.total, chances.error
    a = index(action_indptr[low])
    asked = index(high) if values.shape[0] > NEAR else index(low)  # below, memory is asked for
    for s in range(index(low), index(high)):
        if s + AHEAD < asked:
            first, last = action_indptr[s + AHEAD], action_indptr[s + AHEAD + ONE]
            for k in range(index(outcome_indptr[first]), index(outcome_indptr[last])):
                t = state[k]
                if t >= 0:
                    prefetch(values, t)
                    prefetch(bound, t)
        above = True
        below = False
        best = -np.inf
        value = values[s]
        room = bound[s] * (1.0 - 8.0 * UNIT)
        while a < index(action_indptr[s + ONE]):
            i, begin = np.uint32(lottery[a]), index(outcome_indptr[a])
            total, size, bounds = chances.over_total[i], chances.over_size[i], 0.0
            for k in range(indptr[i], indptr[i + ONE]):
                t = np.uint32(state[begin + offset[k]])
                part = signed[k] * values[t]
                total += part
                size += abs(part)
                bounds += weight[k] * bound[t]
            gap, rounding = gap_of(chances, i, total, size, value, sign)
            best = max(best, gap)
            # all terms are positive, so their sum is right to (2 n + 4) units, and to
            # the same once more for weights that aren't whole: less than `error` allows
            after = bounds / weights[i] * (1.0 + 4.0 * error[i])
            if not gap + rounding + after <= room:
                above = False
            if -gap + rounding + after <= room:
                below = True
            a += ONE
        if not (above and below) and not proves_by_ties(
            s, action_indptr, lottery, outcome_indptr, state, chances, values, sign, bound
        ):
            unproven += 1
        if not abs(best) <= residual:  # also where it is no number
            residual = abs(best)
    return unproven, residual


@kernel
def find_endless(indptr, arranged, ends, endless):
    """Mark the positions in which play can be kept up for ever.

    Play can stay in a set of states for ever if each has an action all of whose
    outcomes lie in the set (an end component, de Alfaro 1997). States without
    such an action are taken out until none is left to take out; if no state
    remains anywhere, every play ends, whatever the players do. No number is
    rounded in this.

    Parameters
    ----------
    indptr : (n_components + 1,) int64
    arranged : rollwise.kernels.recursion.Arranged
        The graph in solving order.
    ends : (n_lotteries,) bool
        Whether some outcome ends the game.
    endless : (indptr[-1] - indptr[0],) bool, filled
        By position, from that of the first component on.
    """
    action_indptr, outcome_indptr = arranged.action_indptr, arranged.outcome_indptr
    lottery, target = arranged.lottery, arranged.target
    base = index(indptr[0])
    for c in range(indptr.shape[0] - 1):
        low, high = index(indptr[c]), index(indptr[c + 1])
        for i in range(low, high):
            endless[i - base] = True
        remaining = high - low
        removed = True
        while removed and remaining > 0:
            removed = False
            for i in range(low, high):
                if not endless[i - base]:
                    continue
                stays = False
                for a in range(action_indptr[i], action_indptr[i + ONE]):
                    if ends[lottery[a]]:
                        continue
                    stays = True
                    # later outcomes tend to lead away: look at them first
                    k = index(outcome_indptr[a + ONE])
                    while k > index(outcome_indptr[a]):
                        k -= ONE
                        t = index(target[k])
                        if t < low or t >= high or not endless[t - base]:
                            stays = False
                            break
                    if stays:
                        break
                if not stays:
                    endless[i - base] = False
                    remaining -= 1
                    removed = True
