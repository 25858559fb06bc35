"""Passes over a graph that bound the error of its values, rounding included.

Independent of every solver: these read the graph as it is, not the solving order.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel

UNIT = 2.0**-53  # half the distance from 1 to the next double


@kernel
def residuals(
    action_indptr,
    action_reward,
    outcome_indptr,
    outcome_state,
    outcome_weight,
    outcome_passes,
    outcome_payoff,
    values,
    sign,
    whole_weights,
    gap,
    rounding,
    best,
):
    """Look ahead once from every action.

    With w the weights, W their sum, n their number and x the value of each
    outcome for the mover, an action is worth q = reward + sum(w x) / W. In
    doubles that is off by at most (n + 5) units of sum(w |x|) / W + |reward| +
    |v|, the subtraction of v included: n for the products and their sum, one
    each for a weight beyond 53 bits, W, the division, and two for the rest.
    Weights that aren't whole add n for their sum, and 4 for having been rounded
    themselves, by up to 2 units each.

    Parameters
    ----------
    values : (n_states + n_border,) float64
    sign : 1 to make values large, -1 for small
    gap : (n_actions,) float64, filled
        sign * (q - v): how much better the action looks than the state's value.
    rounding : (n_actions,) float64, filled
        How far `gap` can be off.
    best : (n_states,) int64, filled
        The action with the largest gap.
    """
    n_states = action_indptr.shape[0] - 1
    for s in range(n_states):
        value = values[s]
        best[s] = action_indptr[s]
        for a in range(action_indptr[s], action_indptr[s + 1]):
            begin, end = outcome_indptr[a], outcome_indptr[a + 1]
            weights = outcome_weight[begin] * 0
            total = 0.0
            size = 0.0
            for k in range(begin, end):
                w = outcome_weight[k]
                weights += w
                t = outcome_state[k]
                x = outcome_payoff[k] if t < 0 else values[t]
                if t >= 0 and outcome_passes[k]:
                    x = -x
                total += w * x
                size += w * abs(x)
            steps = (end - begin) + 5
            if not whole_weights:
                steps += end - begin + 4
            gap[a] = sign * (action_reward[a] + total / weights - value)
            size = size / weights + abs(action_reward[a]) + abs(value)
            rounding[a] = steps * (1.0 + 1e-12) * UNIT * size
            if gap[a] > gap[best[s]]:
                best[s] = a


@kernel
def count_unproven(
    action_indptr, outcome_indptr, outcome_state, outcome_weight, gap, rounding, bound
):
    """How many states don't prove their bound from the bounds of what follows.

    A state does, if no action can be worth more than v + bound when everything
    that follows is better by its own bound, and some action is worth at least
    v - bound when everything that follows is worse by its own.

    Parameters
    ----------
    bound : (n_states + n_border,) float64
    """
    unproven = 0
    for s in range(action_indptr.shape[0] - 1):
        above = True
        below = False
        for a in range(action_indptr[s], action_indptr[s + 1]):
            begin, end = outcome_indptr[a], outcome_indptr[a + 1]
            weights = outcome_weight[begin] * 0
            total = 0.0
            for k in range(begin, end):
                w = outcome_weight[k]
                weights += w
                if outcome_state[k] >= 0:
                    total += w * bound[outcome_state[k]]
            # all terms are positive, so their sum is right to (2 n + 4) units
            after = total / weights * (1.0 + (2 * (end - begin) + 4) * 2.0 * UNIT)
            room = bound[s] * (1.0 - 8.0 * UNIT)
            if not gap[a] + rounding[a] + after <= room:
                above = False
            if -gap[a] + rounding[a] + after <= room:
                below = True
        if not (above and below):
            unproven += 1
    return unproven


@kernel
def find_endless(order, indptr, action_indptr, outcome_indptr, outcome_state, endless):
    """Mark the states in which play can be kept up for ever.

    Play can stay in a set of states for ever if each has an action all of whose
    outcomes lie in the set (an end component, de Alfaro 1997). States without
    such an action are taken out until none is left to take out; if no state
    remains anywhere, every play ends, whatever the players do. No number is
    rounded in this.

    Parameters
    ----------
    order, indptr : the components of the graph
    endless : (n_states,) bool, filled

    Returns
    -------
    int
        Number of states marked.
    """
    n = order.shape[0]
    component = np.empty(n, np.int32)
    for c in range(indptr.shape[0] - 1):
        for i in range(indptr[c], indptr[c + 1]):
            component[order[i]] = c
            endless[order[i]] = True
    found = 0
    for c in range(indptr.shape[0] - 1):
        remaining = indptr[c + 1] - indptr[c]
        removed = True
        while removed and remaining > 0:
            removed = False
            for i in range(indptr[c], indptr[c + 1]):
                s = order[i]
                if not endless[s]:
                    continue
                stays = False
                for a in range(action_indptr[s], action_indptr[s + 1]):
                    stays = True
                    # later outcomes tend to lead away: look at them first
                    for k in range(outcome_indptr[a + 1] - 1, outcome_indptr[a] - 1, -1):
                        t = outcome_state[k]
                        if t < 0 or t >= n or component[t] != c or not endless[t]:
                            stays = False
                            break
                    if stays:
                        break
                if not stays:
                    endless[s] = False
                    remaining -= 1
                    removed = True
        found += remaining
    return found
