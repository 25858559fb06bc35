"""Sweeps over a graph as it stands, in any order: what textbook methods are made of.

Values are those of the graph, in the mover's eyes; a sweep replaces the value of
each state by what one look ahead makes of it. Where ``old`` and ``new`` are the
same array the sweep is in place and later states see what earlier ones were
given; where they differ it is synchronous.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.chances import SMALLEST, UNIT
from rollwise.kernels.chances import look_ahead as look_from
from rollwise.kernels.jit import ONE, index, kernel


@kernel
def look_ahead(
    order,
    action_indptr,
    action_reward,
    outcome_indptr,
    outcome_state,
    outcome_weight,
    outcome_passes,
    outcome_payoff,
    sign,
    chosen,
    improve,
    margin,
    old,
    new,
):
    """Sweep once over the states in `order`.

    Parameters
    ----------
    order : (m,) int64
    sign : 1 to make values large, -1 for small
    chosen : (n_states,) int64
        The action of each state, as an index into the actions.
    improve : (n_states,) bool
        Whether a state takes the best action (and enters it into `chosen`, where
        it is better by more than `margin` than the one that stands there) or
        keeps to the chosen one.
    margin : float
    old, new : (n_states + n_border,) float64

    Returns
    -------
    change : float
        The largest change of a value.
    switched : int
        States whose chosen action is another now.
    """
    change = 0.0
    switched = 0
    for i in range(order.shape[0]):
        s = order[i]
        first, last = action_indptr[s], action_indptr[s + 1]
        current = chosen[s]
        if not improve[s]:
            first, last = current, current + 1
        best = -np.inf
        kept = -np.inf
        best_action = first
        for a in range(first, last):
            begin, end = outcome_indptr[a], outcome_indptr[a + 1]
            weights = outcome_weight[begin] * 0
            total = 0.0
            for k in range(begin, end):
                w = outcome_weight[k]
                weights += w
                t = outcome_state[k]
                if t < 0:
                    total += w * outcome_payoff[k]
                elif outcome_passes[k]:
                    total -= w * old[t]
                else:
                    total += w * old[t]
            q = sign * (action_reward[a] + total / weights)
            if a == current:
                kept = q
            if q > best:
                best = q
                best_action = a
        if best > kept + margin and best_action != current:
            chosen[s] = best_action
            switched += 1
        change = max(change, abs(sign * best - old[s]))
        new[s] = sign * best
    return change, switched


@kernel
def close_bounds(
    order,
    action_indptr,
    action_reward,
    outcome_indptr,
    outcome_state,
    outcome_weight,
    outcome_passes,
    outcome_payoff,
    sign,
    whole_weights,
    lower,
    upper,
    new_lower,
    new_upper,
):
    """Sweep once over bounds that hold, and leave bounds that hold and are no wider.

    After a PASS the other player's upper bound is the mover's lower bound with
    its sign changed. Roundings are counted as in `rollwise.kernels.chances`
    and given away on the safe side.

    Parameters
    ----------
    outcome_weight : (n_outcomes,) float64
        As `rollwise.graph.choices.scaled` gives them.
    lower, upper, new_lower, new_upper : (n_states + n_border,) float64

    Returns
    -------
    width : float
        The largest distance left between the bounds of a state of `order`.
    change : float
        The most that a bound moved.
    """
    width = 0.0
    change = 0.0
    for i in range(order.shape[0]):
        s = order[i]
        best_low = -np.inf
        best_high = -np.inf
        for a in range(action_indptr[s], action_indptr[s + 1]):
            begin, end = outcome_indptr[a], outcome_indptr[a + 1]
            weights = outcome_weight[begin] * 0
            low = 0.0
            high = 0.0
            size = 0.0
            for k in range(begin, end):
                w = outcome_weight[k]
                weights += w
                t = outcome_state[k]
                if t < 0:
                    x_low = outcome_payoff[k]
                    x_high = x_low
                elif outcome_passes[k]:
                    x_low = -upper[t]
                    x_high = -lower[t]
                else:
                    x_low = lower[t]
                    x_high = upper[t]
                low += w * x_low
                high += w * x_high
                size += w * max(abs(x_low), abs(x_high))
            steps = (end - begin) + 5
            if not whole_weights:
                steps += end - begin + 4
            size = size / weights + abs(action_reward[a])
            room = steps * (1.0 + 1e-12) * UNIT * size + 4.0 * (steps + 2.0) * SMALLEST
            q_low = action_reward[a] + low / weights - room
            q_high = action_reward[a] + high / weights + room
            if sign < 0:
                q_low, q_high = -q_high, -q_low
            best_low = max(best_low, q_low)
            best_high = max(best_high, q_high)
        if sign < 0:
            best_low, best_high = -best_high, -best_low
        new_low = max(lower[s], best_low)
        new_high = min(upper[s], best_high)
        change = max(change, new_low - lower[s], upper[s] - new_high)
        new_lower[s] = new_low
        new_upper[s] = new_high
        width = max(width, new_high - new_low)
    return width, change


@kernel
def count_moves(action_indptr, outcome_indptr, outcome_state, outcome_weight, old, new):
    """One sweep of "one move, and then as many as can be expected at most".

    Parameters
    ----------
    old, new : (n_states + n_border,) float64

    Returns
    -------
    float
        The largest change.
    """
    change = 0.0
    for s in range(action_indptr.shape[0] - 1):
        most = 0.0
        for a in range(action_indptr[s], action_indptr[s + 1]):
            begin, end = outcome_indptr[a], outcome_indptr[a + 1]
            weights = outcome_weight[begin] * 0
            total = 0.0
            for k in range(begin, end):
                weights += outcome_weight[k]
                if outcome_state[k] >= 0:
                    total += outcome_weight[k] * old[outcome_state[k]]
            most = max(most, total / weights)
        change = max(change, abs(1.0 + most - old[s]))
        new[s] = 1.0 + most
    return change


@kernel
def first_best(action_indptr, lottery, outcome_indptr, state, chances, values, sign, chosen):
    """The first best action of each state, one look ahead.

    Parameters
    ----------
    action_indptr, lottery, outcome_indptr, state : of a StateGraph
    chances : rollwise.kernels.chances.Chances
    values : (n_states + n_border,) float64
    sign : 1 to make values large, -1 for small
    chosen : (n_states,) int64, filled
    """
    for s in range(action_indptr.shape[0] - 1):
        first, last = action_indptr[s], action_indptr[s + 1]
        chosen[s] = first
        if last - first == 1:
            continue
        most = 0.0
        for a in range(first, last):
            gap, _ = look_from(
                chances, lottery[a], state, outcome_indptr[a], values, values[s], sign
            )
            if a == first or gap > most:
                most = gap
                chosen[s] = a


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
    """Look ahead once from every action (see `rollwise.kernels.chances.look_ahead`).

    Parameters
    ----------
    bounds : (n_states + n_border,) float64
        How far each value can be off; empty where nobody asks.
    gap, rounding : (n_actions,) float64, filled
    blur : (n_actions,) float64, filled unless `bounds` is empty
        How far the worth of each action can be off by what follows it.
    """
    for s in range(action_indptr.shape[0] - 1):
        for a in range(action_indptr[s], action_indptr[s + 1]):
            gap[a], rounding[a] = look_from(
                chances, lottery[a], state, outcome_indptr[a], values, values[s], sign
            )
            if bounds.shape[0]:
                i, bound = np.uint32(lottery[a]), 0.0
                for k in range(chances.indptr[i], chances.indptr[i + ONE]):
                    t = np.uint32(state[index(outcome_indptr[a]) + chances.offset[k]])
                    bound += chances.weight[k] * bounds[t]
                blur[a] = bound / chances.total[i] * (1.0 + 4.0 * chances.error[i])
