"""Best choices of three or more players, by repeated sweeps: a vector of payoffs a state.

``values[s, k]`` is the average result of the seat k places after the mover. Where the turn moves on
by i seats, the mover of state s is the seat n - i of the next state.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import ONE, index, inner_kernel, kernel


@inner_kernel
def look_at(a, tables, outcome_indptr, outcome_state, values, found):
    """The average result of each seat after an action.

    Parameters
    ----------
    a : int
    tables : (lottery of each action, indptr, chance, over, passes, payoff) of the lotteries
    found : (n_seats,) float64, filled
    """
    lottery, indptr, chance, over, passes, payoff = tables
    n_seats = found.shape[0]
    i = index(lottery[a])
    found[:] = 0.0
    first, begin = index(indptr[i]), index(outcome_indptr[a])
    for j in range(first, index(indptr[i + ONE])):
        p = chance[j]
        if over[j]:
            for k in range(n_seats):
                found[k] += p * payoff[j, k]
        else:
            t = index(outcome_state[begin + j - first])
            on, seats = index(np.int64(passes[j])), index(n_seats)
            for k in range(on):
                found[k] += p * values[t, seats - on + k]
            for k in range(on, seats):
                found[k] += p * values[t, k - on]


@kernel
def sweep_components(
    component,
    stop,
    order,
    component_indptr,
    action_indptr,
    outcome_indptr,
    outcome_state,
    tables,
    values,
    chosen,
    margin,
    tolerance,
    most_sweeps,
):
    """Sweep components until each is settled; stop at the first that isn't.

    Parameters
    ----------
    component, stop : int
        The first component, and the end of the range.
    order, component_indptr : as in `rollwise.graph.lotteries.Components`
    values : (n_states, n_seats) float64, changed
    chosen : (n_states,) int64, changed
        An action of each state. It changes for a gain of the mover above `margin`.
    tolerance : float
        The largest change of a value in the last sweep.

    Returns
    -------
    int
        The first component that isn't settled, or `stop`.
    """
    n_seats = values.shape[1]
    found, best = np.empty(n_seats), np.empty(n_seats)
    for c in range(component, stop):
        first, last = component_indptr[c], component_indptr[c + 1]
        settled = False
        sweep = 0
        while not settled and sweep < most_sweeps:
            sweep += 1
            largest = 0.0
            for place in range(first, last):
                s = index(order[place])
                now = chosen[s]
                look_at(now, tables, outcome_indptr, outcome_state, values, best)
                for a in range(action_indptr[s], action_indptr[s + ONE]):
                    if a != chosen[s]:
                        look_at(a, tables, outcome_indptr, outcome_state, values, found)
                        if found[0] > best[0] + margin:
                            best[:] = found
                            now = a
                chosen[s] = now
                for k in range(n_seats):
                    largest = max(largest, abs(best[k] - values[s, k]))
                    values[s, k] = best[k]
            settled = largest <= tolerance
        if not settled:
            return c
    return stop


@kernel
def worth_of_actions(states, action_indptr, outcome_indptr, outcome_state, tables, values, worth):
    """The results of each seat for all actions of some states, one state after the other.

    Parameters
    ----------
    states : (n,) int64
    worth : (n_actions, n_seats) float64, filled
        Of the actions of these states.
    """
    place = 0
    for i in range(states.shape[0]):
        s = index(states[i])
        for a in range(action_indptr[s], action_indptr[s + ONE]):
            look_at(a, tables, outcome_indptr, outcome_state, values, worth[place])
            place += 1
