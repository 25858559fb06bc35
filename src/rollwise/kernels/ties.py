"""Ties of a profile of several players, and the range of values over all choices among them.

The ends of the range are the values of a game with one player who picks among the tied
actions of all movers, and wants the most of a seat's payoff, or the least. `sweep_ties` estimates
them. Errors e are proved for them where, in each state with ties, no tied action leads to more than
v + e, with the next e added, and one of them leads to no less than v - e; elsewhere where
e is at least the distance of v from its average over the next states, plus the average of their e.
`bound_ties` finds candidates, and they aren't trusted; `check_ties` is the proof. Roundings are
counted as in `rollwise.kernels.deviations`, and play must end with probability 1, as there.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.deviations import LARGER, TINY, UNIT, look
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel


@kernel
def mark_ties(table, values, probability, off, room, tied, spread):
    """Find actions equally good for the mover, in states without mixing and with several of them.

    Parameters
    ----------
    values : (1, n_states, n_seats) float64
    off : (n_actions,) float64
        Error bound of the mover's result by an action.
    room : (largest number of actions of a state, n_seats) float64, to write in
    tied : (n_actions,) bool, filled
    spread : (n_states,) float64, filled
        The largest difference of a seat's result between them.
    """
    n_seats, action_indptr = values.shape[2], table.action_indptr
    for place in range(values.shape[1]):
        s = index(place)
        first, last = index(action_indptr[s]), index(action_indptr[s + ONE])
        if last - first < 2:
            continue
        least, several, taken = -np.inf, 0, 0
        for a in range(first, last):
            look(a, table, values, n_seats, room[a - first : a - first + 1])
            least = max(least, room[a - first, 0] - off[a])
            if probability[a] > 0.0:
                taken += 1
        for a in range(first, last):
            if room[a - first, 0] + off[a] >= least:
                several += 1
        if several < 2 or taken > 1:
            continue
        for a in range(first, last):
            tied[a] = room[a - first, 0] + off[a] >= least
        for k in range(n_seats):
            low, high = np.inf, -np.inf
            for a in range(first, last):
                if tied[a]:
                    low, high = min(low, room[a - first, k]), max(high, room[a - first, k])
            spread[s] = max(spread[s], high - low)


@kernel
def sweep_ties(component, stop, table, probability, tied, low, high, tolerance, most_sweeps):
    """Find the least and the largest result of each seat over all choices among ties.

    Parameters
    ----------
    component, stop : int
        The first component, and the end of the range.
    table : rollwise.kernels.deviations.Table
    probability : (n_actions,) float64
        Of the profile. It is used in states without ties.
    tied : (n_actions,) bool
        The possible actions in states with ties.
    low, high : (1, n_states, n_seats) float64
        The values of the profile, changed: for each seat by itself, as if it chose.

    Returns
    -------
    int
        The first component in which they aren't found, or `stop`.
    """
    n_seats, action_indptr = low.shape[2], table.action_indptr
    found, least, most = np.empty((1, n_seats)), np.empty(n_seats), np.empty(n_seats)
    for c in range(component, stop):
        largest, sweep = 1.0, 0
        while largest > tolerance and sweep < most_sweeps:
            sweep += 1
            largest = 0.0
            for place in range(table.ends[c], table.ends[c + 1]):
                s = index(table.order[place])
                free = False
                for a in range(action_indptr[s], action_indptr[s + ONE]):
                    free = free or tied[a]
                for k in range(n_seats):
                    least[k], most[k] = (np.inf, -np.inf) if free else (0.0, 0.0)
                for a in range(action_indptr[s], action_indptr[s + ONE]):
                    if (free and not tied[a]) or (not free and probability[a] == 0.0):
                        continue
                    look(a, table, low, n_seats, found)
                    for k in range(n_seats):
                        if free:
                            least[k] = min(least[k], found[0, k])
                        else:
                            least[k] += probability[a] * found[0, k]
                    look(a, table, high, n_seats, found)
                    for k in range(n_seats):
                        if free:
                            most[k] = max(most[k], found[0, k])
                        else:
                            most[k] += probability[a] * found[0, k]
                for k in range(n_seats):
                    largest = max(largest, abs(least[k] - low[0, s, k]))
                    largest = max(largest, abs(most[k] - high[0, s, k]))
                    low[0, s, k], high[0, s, k] = least[k], most[k]
        if largest > tolerance:
            return c
    return stop


@inner_kernel
def need_of_ties(s, table, profile, sign, numbers, rooms):
    """The required error of each seat's value in a state: the first of `rooms`.

    Parameters
    ----------
    profile : (probability, tied), as in `sweep_ties`
    sign : 1.0 for the largest result of each seat, -1.0 for the least
    numbers : (2, n_states, n_seats) float64
        Values and errors.
    rooms : arrays to write in: (n_seats,), (n_seats,), (2, n_seats), (2, n_seats)
    """
    probability, tied = profile
    values, action_indptr, indptr = numbers[0], table.action_indptr, table.indptr
    need, near, found, mixed = rooms
    n_seats = values.shape[1]
    need[:] = 0.0
    near[:] = np.inf
    mixed[:] = 0.0
    first, last = index(action_indptr[s]), index(action_indptr[s + ONE])
    steps = 12.0 + float(last - first)
    most, free = 0.0, False
    for a in range(first, last):
        free = free or tied[a]
    for a in range(first, last):
        if (free and not tied[a]) or (not free and probability[a] == 0.0):
            continue
        look(a, table, numbers, n_seats, found)
        i = index(table.lottery[a])
        outcomes = float(indptr[i + ONE] - indptr[i])
        most = max(most, outcomes)
        larger = LARGER + 8.0 * outcomes * UNIT
        for k in range(n_seats):
            if free:
                rounding = (steps + outcomes) * UNIT * (found[0, k] + values[s, k]) + TINY
                off = sign * (found[0, k] - values[s, k])
                need[k] = max(need[k], (off + rounding + found[1, k]) * larger)
                near[k] = min(near[k], (rounding - off + found[1, k]) * larger)
            else:
                for j in range(2):
                    mixed[j, k] += probability[a] * found[j, k]
    larger = LARGER + 8.0 * (steps + most) * UNIT
    for k in range(n_seats):
        if free:
            need[k] = max(need[k], near[k])
        else:
            rounding = (steps + most) * UNIT * (mixed[0, k] + values[s, k]) + TINY
            need[k] = (abs(mixed[0, k] - values[s, k]) + rounding + mixed[1, k]) * larger


@inner_kernel
def rooms_of_ties(n_seats):
    """Room for `need_of_ties` to write in."""
    return np.empty(n_seats), np.empty(n_seats), np.empty((2, n_seats)), np.empty((2, n_seats))


@kernel
def bound_ties(component, stop, table, probability, tied, sign, numbers, room, most_sweeps):
    """Find candidates for the errors of one end of the range, component by component.

    Parameters
    ----------
    component, stop : int
        The first component, and the end of the range.
    table : rollwise.kernels.deviations.Table
    probability, tied : as in `sweep_ties`
    sign : 1.0 for the largest result of each seat, -1.0 for the least
    numbers : (2, n_states, n_seats) float64
        The result of `sweep_ties`; and errors, 0 at first, which grow as far as is needed.
    room : float
        Their relative excess over the required errors.

    Returns
    -------
    int
        The first component in which they would grow further, or `stop`.
    """
    n_seats = numbers.shape[2]
    profile, rooms, errors = (probability, tied), rooms_of_ties(n_seats), numbers[1]
    need = rooms[0]
    for c in range(component, stop):
        grows, sweep = True, 0
        while grows and sweep < most_sweeps:
            sweep += 1
            grows = False
            for place in range(table.ends[c], table.ends[c + 1]):
                s = index(table.order[place])
                need_of_ties(s, table, profile, sign, numbers, rooms)
                for k in range(n_seats):
                    grows = grows or need[k] > errors[s, k]
                    errors[s, k] = max(errors[s, k], need[k] * (1.0 + room))
        if grows:
            return c
    return stop


@kernel
def check_ties(table, probability, tied, sign, numbers):
    """The proof of one end of the range: how many states don't prove their errors."""
    n_seats = numbers.shape[2]
    profile, rooms = (probability, tied), rooms_of_ties(n_seats)
    need = rooms[0]
    unproved = 0
    for place in range(numbers.shape[1]):
        s = index(place)
        need_of_ties(s, table, profile, sign, numbers, rooms)
        holds = True
        for k in range(n_seats):
            holds = holds and need[k] <= numbers[1, s, k] and 0.0 <= numbers[0, s, k] <= 1.0 + 1e-9
        if not holds:
            unproved += 1
    return unproved
