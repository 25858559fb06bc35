"""Best choices of three or more players, swept over and over: a vector of payoffs a state.

``values[s, k]`` is what the seat k places after the mover gets on average. Where the die moves on
by i seats, the mover of state s is the seat n - i of the next state.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import ONE, index, inner_kernel, kernel


@inner_kernel
def look_at(a, tables, outcome_indptr, outcome_state, values, found):
    """What each seat gets on average by an action.

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
        Where to begin, and before which to end.
    order, component_indptr : as in `rollwise.graph.components.Components`
    values : (n_states, n_seats) float64, changed
    chosen : (n_states,) int64, changed
        An action of each state. Another is taken where the mover gets more by it than by
        `margin`.
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
    """What each seat gets by each action of some states, one state after the other.

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


@kernel
def mark_ties(
    action_indptr,
    outcome_indptr,
    outcome_state,
    tables,
    values,
    probability,
    tolerance,
    room,
    tied,
    spread,
):
    """Find the actions that are equally good to the mover, where several are and he mixes none.

    Parameters
    ----------
    tolerance : float
        What an action may be worse than the best.
    room : (largest number of actions of a state, n_seats) float64, to write in
    tied : (n_actions,) bool, filled
    spread : (n_states,) float64, filled
        The most that what a seat gets differs between them.
    """
    n_seats = values.shape[1]
    for place in range(values.shape[0]):
        s = index(place)
        first, last = index(action_indptr[s]), index(action_indptr[s + ONE])
        if last - first < 2:
            continue
        best, several, taken = -1.0, 0, 0
        for a in range(first, last):
            look_at(a, tables, outcome_indptr, outcome_state, values, room[a - first])
            best = max(best, room[a - first, 0])
            if probability[a] > 0.0:
                taken += 1
        for a in range(first, last):
            if room[a - first, 0] >= best - tolerance:
                several += 1
        if several < 2 or taken > 1:
            continue
        for a in range(first, last):
            tied[a] = room[a - first, 0] >= best - tolerance
        for k in range(n_seats):
            low, high = np.inf, -np.inf
            for a in range(first, last):
                if tied[a]:
                    low, high = min(low, room[a - first, k]), max(high, room[a - first, k])
            spread[s] = max(spread[s], high - low)


@kernel
def sweep_ties(
    order,
    component_indptr,
    action_indptr,
    outcome_indptr,
    outcome_state,
    tables,
    probability,
    tied,
    low,
    high,
    tolerance,
    most_sweeps,
):
    """Find the least and the most that each seat has over all ways to break ties.

    Parameters
    ----------
    order, component_indptr : as in `rollwise.graph.components.Components`
    probability : (n_actions,) float64
        Of the profile. Where no action of a state is tied, it is kept to.
    tied : (n_actions,) bool
        The actions that may be taken in states with ties.
    low, high : (n_states, n_seats) float64
        The values of the profile, changed: for each seat by itself, as if it chose.
    """
    n_seats = low.shape[1]
    found, least, most = np.empty(n_seats), np.empty(n_seats), np.empty(n_seats)
    for c in range(component_indptr.shape[0] - 1):
        largest, sweep = 1.0, 0
        while largest > tolerance and sweep < most_sweeps:
            sweep += 1
            largest = 0.0
            for place in range(component_indptr[c], component_indptr[c + 1]):
                s = index(order[place])
                free = False
                for a in range(action_indptr[s], action_indptr[s + ONE]):
                    free = free or tied[a]
                for k in range(n_seats):
                    least[k], most[k] = (np.inf, -np.inf) if free else (0.0, 0.0)
                for a in range(action_indptr[s], action_indptr[s + ONE]):
                    if (free and not tied[a]) or (not free and probability[a] == 0.0):
                        continue
                    look_at(a, tables, outcome_indptr, outcome_state, low, found)
                    for k in range(n_seats):
                        if free:
                            least[k] = min(least[k], found[k])
                        else:
                            least[k] += probability[a] * found[k]
                    look_at(a, tables, outcome_indptr, outcome_state, high, found)
                    for k in range(n_seats):
                        if free:
                            most[k] = max(most[k], found[k])
                        else:
                            most[k] += probability[a] * found[k]
                for k in range(n_seats):
                    largest = max(largest, abs(least[k] - low[s, k]), abs(most[k] - high[s, k]))
                    low[s, k], high[s, k] = least[k], most[k]
