"""Checks of claimed bounds, for games with endless play.

`is_proved` is trusted, with `rollwise.kernels.chances`; `rollwise.proofs.check_endless` uses it.
Values and bounds may have any source.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.chances import UNIT, gap_of, is_at_most
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel


@inner_kernel
def is_proved(s, a, lottery, outcome_indptr, state, chances, values, bounds, sign):
    """Whether an action can't be worth more than the bound allows, and whether not less."""
    not_better, not_worse = ties(
        s, a, lottery, outcome_indptr, state, chances, values, bounds, sign
    )
    if not_better and not_worse:
        return True, True
    i, begin = np.uint32(lottery[a]), index(outcome_indptr[a])
    total, size, bound = chances.over_total[i], chances.over_size[i], 0.0
    for k in range(chances.indptr[i], chances.indptr[i + ONE]):
        t = np.uint32(state[begin + chances.offset[k]])
        part = chances.signed[k] * values[t]
        total += part
        size += abs(part)
        bound += chances.weight[k] * bounds[t]
    gap, rounding = gap_of(chances, i, total, size, values[s], sign)
    after = bound / chances.total[i] * (1.0 + 4.0 * chances.error[i])
    room = bounds[s] * (1.0 - 8.0 * UNIT)
    above, below = gap + rounding + after <= room, -gap + rounding + after <= room
    return not_better or above, not_worse or below


@inner_kernel
def ties(s, a, lottery, outcome_indptr, state, chances, values, bounds, sign):
    """Whether no outcome of an action is better than its state, and whether none is worse.

    Better is a larger sum of value and bound; worse is a smaller difference. The test is exact.
    If no outcome is better, then the action isn't either, and likewise for worse.
    """
    i, begin = np.uint32(lottery[a]), index(outcome_indptr[a])
    first, last = index(chances.indptr[i]), index(chances.indptr[i + ONE])
    value, bound = sign * values[s], bounds[s]
    if chances.reward[i] != 0.0 or not chances.error[i] < np.inf or not abs(value) < np.inf:
        return False, False
    not_better = not_worse = bound >= 0.0
    if last - first < index(outcome_indptr[a + ONE]) - begin:
        payoff = sign * chances.over_payoff[i]  # NaN for several payoffs proves neither
        not_better &= is_at_most(payoff, 0.0, value, bound)
        not_worse &= is_at_most(-payoff, 0.0, -value, bound)
    for k in range(first, last):
        t = np.uint32(state[begin + chances.offset[k]])
        worth = sign * (values[t] if chances.signed[k] > 0.0 else -values[t])
        not_better &= is_at_most(worth, bounds[t], value, bound)
        not_worse &= is_at_most(-worth, bounds[t], -value, bound)
    return not_better, not_worse


@kernel
def find_upholding(
    action_indptr, lottery, outcome_indptr, state, chances, values, sign, bounds, upholds
):
    """Mark the actions worth at least v - bound if the next values are worse by their bounds.

    Parameters
    ----------
    upholds : (n_actions,) bool, filled
    """
    for s in range(index(action_indptr.shape[0] - 1)):
        for a in range(index(action_indptr[s]), index(action_indptr[s + ONE])):
            upholds[a] = is_proved(
                s, a, lottery, outcome_indptr, state, chances, values, bounds, sign
            )[1]


@kernel
def find_worth_it(worth, values, bounds, free, forcing):
    """Mark the states with an upper bound of at least the value of endless play.

    Parameters
    ----------
    worth : float
    values, bounds : (n_states,) float64
    free, forcing : (n_states,) bool, filled
        By the upper bound of the mover, and by that of the other player.
    """
    for s in range(values.shape[0]):
        vague = bounds[s] == np.inf
        free[s] = vague or is_at_most(worth, 0.0, values[s], bounds[s])
        forcing[s] = vague or is_at_most(worth, 0.0, -values[s], bounds[s])


@kernel
def force_an_end(
    action_indptr, outcome_indptr, outcome_state, passes, component, upholds, free, forcing
):
    """Mark the states where one player can force an end of play, or a state marked at first.

    This player takes only actions that uphold the value, the other one any. A state is
    marked as soon as, for all actions of the other, there is a chance to reach a marked state
    or to leave the component. If all are marked, play can't go round for ever among states
    unmarked at first: in as many moves as there are states there is always a chance
    to leave them (the attractor of de Alfaro 1997, chance on the player's side).

    Parameters
    ----------
    outcome_state : (n_outcomes,) int32
    passes : (n_outcomes,) bool
    component : (n_states,) int32
        A number of each state; no outcome raises it.
    upholds : (n_actions,) bool
    free, forcing : (n_states,) bool, filled
        With the other one as the mover, and with this player.
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
