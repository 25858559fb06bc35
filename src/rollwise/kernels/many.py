"""Best choices of three or more players, by repeated sweeps: a vector of payoffs a state."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.deviations import look
from rollwise.kernels.jit import ONE, index, kernel


@kernel
def sweep_components(component, stop, table, values, chosen, margin, tolerance, most_sweeps):
    """Sweep components until each is settled; stop at the first that isn't.

    Parameters
    ----------
    component, stop : int
        The first component, and the end of the range.
    table : rollwise.kernels.deviations.Table
    values : (1, n_states, n_seats) float64, changed
        Of each state for the seats from the mover on.
    chosen : (n_states,) int64, changed
        An action of each state. It changes for a gain of the mover above `margin`.
    tolerance : float
        The largest change of a value in the last sweep.

    Returns
    -------
    int
        The first component that isn't settled, or `stop`.
    """
    n_seats, action_indptr = values.shape[2], table.action_indptr
    found, best = np.empty((1, n_seats)), np.empty((1, n_seats))
    for c in range(component, stop):
        settled = False
        sweep = 0
        while not settled and sweep < most_sweeps:
            sweep += 1
            largest = 0.0
            for place in range(table.ends[c], table.ends[c + 1]):
                s = index(table.order[place])
                now = chosen[s]
                look(now, table, values, best)
                for a in range(action_indptr[s], action_indptr[s + ONE]):
                    if a != chosen[s]:
                        look(a, table, values, found)
                        if found[0, 0] > best[0, 0] + margin:
                            best[:] = found
                            now = a
                chosen[s] = now
                for k in range(n_seats):
                    largest = max(largest, abs(best[0, k] - values[0, s, k]))
                    values[0, s, k] = best[0, k]
            settled = largest <= tolerance
        if not settled:
            return c
    return stop


@kernel
def worth_of_actions(states, table, values, worth):
    """The results of each seat for all actions of some states, one state after the other.

    Parameters
    ----------
    states : (n,) int64
    values : (1, n_states, n_seats) float64
    worth : (n_actions, n_seats) float64, filled
        Of the actions of these states.
    """
    place = 0
    for i in range(states.shape[0]):
        s = index(states[i])
        for a in range(table.action_indptr[s], table.action_indptr[s + ONE]):
            look(a, table, values, worth[place : place + 1])
            place += 1
