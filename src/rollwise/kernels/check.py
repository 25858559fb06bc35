"""Checks of claimed bounds, for games with endless play; and ranks of states.

`is_proved` is trusted, with `rollwise.kernels.chances`; `rollwise.proofs.check_endless` uses it.
Values and bounds may have any source. Ranks are checked by `rollwise.kernels.deviations`.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.chances import UNIT, gap_of, is_at_most
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel

NONE = np.uint32(2**32 - 1)


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
def find_ranks(order, action_indptr, outcome_indptr, state, ranks):
    """Rank the states by the first end of play: first the states that may end at once.

    A state gets the next rank when each of its actions may end the game, or may lead to a
    state with a rank. A waiting state waits at one action, for all of its next states.
    So each outcome is read twice at most (the worklist of Dowling and Gallier
    1984 for Horn clauses). The ranks aren't trusted: `rollwise.kernels.deviations` checks them.

    Parameters
    ----------
    order : (n_states,) int
        The order of the first pass: the order of the ranks saves time.
    ranks : (n_states + n_border,) int32, filled
        -1 on the border, and `n_states` where play may go on for ever.
    """
    n = index(action_indptr.shape[0] - 1)
    last = np.int32(n)
    ranks[:n] = last
    ranks[n:] = -1
    found = 0
    action = action_indptr[:-1].astype(np.uint32)  # the first one not known to end
    waiting = np.full(n, NONE, np.uint32)  # for each state, the last outcome waiting for it
    before = np.empty(state.shape[0], np.uint32)  # the previous outcome waiting for the same state
    owner = np.empty(state.shape[0], np.uint32)  # of a waiting outcome: its state
    stack = np.empty(n, np.uint32)
    for i in range(order.shape[0]):
        stack[0] = order[i]
        size = ONE
        while size > 0:
            size -= ONE
            s = index(stack[size])
            while action[s] < action_indptr[s + ONE]:
                a = index(action[s])
                k = index(outcome_indptr[a + ONE])
                ends = False
                while k > index(outcome_indptr[a]) and not ends:
                    k -= ONE
                    ends = state[k] < 0 or ranks[np.uint32(state[k])] < last
                if not ends:
                    break
                action[s] += np.uint32(1)
            if action[s] < action_indptr[s + ONE]:
                a = index(action[s])
                for k in range(index(outcome_indptr[a]), index(outcome_indptr[a + ONE])):
                    t = np.uint32(state[k])
                    owner[k], before[k] = s, waiting[t]
                    waiting[t] = k
                continue
            ranks[s] = found
            found += 1
            k = waiting[s]
            while k != NONE:
                w = index(owner[k])
                a = index(action[w])
                if outcome_indptr[a] <= k and k < outcome_indptr[a + ONE]:
                    action[w] += np.uint32(1)
                    stack[size] = w
                    size += ONE
                k = before[k]


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
