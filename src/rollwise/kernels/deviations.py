"""The value of a profile of several players, and the gain of a deviation: bounds by sweeps.

Values V are given, ``V[s, k]`` of the seat k places after the mover. Two arrays bound the truth:

- L: the value of the profile is within ``V[s, k] - L[s, k]`` and ``V[s, k] + L[s, k]``. It
  is proved where each L is at least the distance of V from its average over the next states, plus
  the average of the next L.
- E: with the others at the profile, no policy of seat k has more than ``V[s, k] + E[s, k]``.
  It is proved where V + E is a supersolution: where seat k moves (k = 0) for each of its actions,
  and elsewhere for the profile's action.

Both need that play ends with probability 1. `bound_components` finds candidates, and they aren't
trusted. `check_bounds` is the proof; together with `look`, `rounding_of` and
`rollwise.kernels.check.find_ranks` it is the trusted code. Every rounding is counted:
probabilities are right to 4 units (2^-53), an average of m outcomes to m + 2 more, a mixture of n
actions to n + 4 more, and the difference from V to one more.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import ONE, index, inner_kernel, kernel

UNIT = 2.0**-53
LARGER = 1.0 + 1e-12  # for the roundings of sums of bounds, which are positive, and some more
TINY = 1e-300


@inner_kernel
def look(a, tables, outcome_indptr, outcome_state, values, gains, errors, found):
    """Averages over an action's outcomes: of values, gains and errors, (3, n_seats) `found`."""
    lottery, indptr, chance, over, passes, payoff = tables
    n_seats = found.shape[1]
    i = index(lottery[a])
    found[:] = 0.0
    first, begin = index(indptr[i]), index(outcome_indptr[a])
    for j in range(first, index(indptr[i + ONE])):
        p = chance[j]
        if over[j]:
            for k in range(n_seats):
                found[0, k] += p * payoff[j, k]
        else:
            t = index(outcome_state[begin + j - first])
            shift = n_seats - np.int64(passes[j])
            for k in range(n_seats):
                there = k + shift
                if there >= n_seats:
                    there -= n_seats
                found[0, k] += p * values[t, there]
                found[1, k] += p * gains[t, there]
                found[2, k] += p * errors[t, there]


@inner_kernel
def need_of(s, action_indptr, outcome_indptr, outcome_state, tables, probability, arrays, rooms):
    """The lower bounds of E and L in a state: (2, n_seats), the first of `rooms`.

    Parameters
    ----------
    arrays : (values, gains, errors), each (n_states, n_seats)
    rooms : three arrays to write in: (2, n_seats), (3, n_seats), (3, n_seats)
    """
    values, gains, errors = arrays
    need, found, mixed = rooms
    n_seats = values.shape[1]
    indptr = tables[1]
    need[:] = 0.0
    mixed[:] = 0.0
    steps = 12.0 + float(action_indptr[s + ONE] - action_indptr[s])
    most = 0.0
    for a in range(index(action_indptr[s]), index(action_indptr[s + ONE])):
        look(a, tables, outcome_indptr, outcome_state, values, gains, errors, found)
        i = index(tables[0][a])
        outcomes = float(indptr[i + ONE] - indptr[i])
        most = max(most, outcomes)
        rounding = (steps + outcomes) * UNIT * (found[0, 0] + values[s, 0]) + TINY
        larger = LARGER + 8.0 * outcomes * UNIT
        need[0, 0] = max(need[0, 0], (found[0, 0] - values[s, 0] + rounding + found[1, 0]) * larger)
        p = probability[a]
        if p > 0.0:
            for j in range(3):
                for k in range(n_seats):
                    mixed[j, k] += p * found[j, k]
    larger = LARGER + 8.0 * (steps + most) * UNIT
    for k in range(n_seats):
        rounding = (steps + most) * UNIT * (mixed[0, k] + values[s, k]) + TINY
        off = mixed[0, k] - values[s, k]
        need[1, k] = (abs(off) + rounding + mixed[2, k]) * larger
        if k > 0:
            need[0, k] = max(0.0, (off + rounding + mixed[1, k]) * larger)


@kernel
def bound_components(
    component,
    stop,
    order,
    component_indptr,
    action_indptr,
    outcome_indptr,
    outcome_state,
    tables,
    probability,
    values,
    gains,
    errors,
    room,
    most_sweeps,
):
    """Find candidates for the bounds of every state, component by component.

    Parameters
    ----------
    component, stop : int
        The first component, and the end of the range.
    order, component_indptr : as in `rollwise.graph.lotteries.Components`
    tables : as in `rollwise.kernels.many.look_at`
    probability : (n_actions,) float64
        The profile.
    values : (n_states, n_seats) float64
        From 0 to 1.
    gains, errors : (n_states, n_seats) float64, 0 at first; they grow as far as is needed
    room : float
        Their relative excess over the required bounds.

    Returns
    -------
    int
        The first component in which they would grow further, or `stop`.
    """
    n_seats = values.shape[1]
    arrays = (values, gains, errors)
    rooms = (np.empty((2, n_seats)), np.empty((3, n_seats)), np.empty((3, n_seats)))
    need = rooms[0]
    for c in range(component, stop):
        first, last = component_indptr[c], component_indptr[c + 1]
        grows, sweep = True, 0
        while grows and sweep < most_sweeps:
            sweep += 1
            grows = False
            for place in range(first, last):
                s = index(order[place])
                need_of(
                    s, action_indptr, outcome_indptr, outcome_state, tables, probability, arrays,
                    rooms,
                )  # fmt: skip
                for k in range(n_seats):
                    grows = grows or need[0, k] > gains[s, k] or need[1, k] > errors[s, k]
                    gains[s, k] = max(gains[s, k], need[0, k] * (1.0 + room))
                    errors[s, k] = max(errors[s, k], need[1, k] * (1.0 + room))
        if grows:
            return c
    return stop


@kernel
def check_bounds(
    ranks,
    action_indptr,
    outcome_indptr,
    outcome_state,
    tables,
    probability,
    values,
    gains,
    errors,
):
    """The proof: the number of states whose bounds don't follow from those of the next states.

    Parameters
    ----------
    ranks : (n_states,) int32
        Every action of a state must be able to end the game, or to lead to a lower rank: then
        all play ends.
    """
    n_seats = values.shape[1]
    arrays = (values, gains, errors)
    rooms = (np.empty((2, n_seats)), np.empty((3, n_seats)), np.empty((3, n_seats)))
    need = rooms[0]
    over, indptr, lottery = tables[3], tables[1], tables[0]
    unproved = 0
    for place in range(values.shape[0]):
        s = index(place)
        need_of(s, action_indptr, outcome_indptr, outcome_state, tables, probability, arrays, rooms)
        holds, total = True, 0.0
        for k in range(n_seats):
            holds = holds and need[0, k] <= gains[s, k] and need[1, k] <= errors[s, k]
            holds = holds and 0.0 <= values[s, k] <= 1.0 + 1e-9
        for a in range(index(action_indptr[s]), index(action_indptr[s + ONE])):
            total += probability[a]
            holds = holds and probability[a] >= 0.0
            begin, i = index(outcome_indptr[a]), index(lottery[a])
            ends = False
            for k in range(index(outcome_indptr[a + ONE]) - begin):
                ends = ends or over[indptr[i] + k]
                if not ends:
                    ends = ranks[outcome_state[begin + k]] < ranks[s]
            holds = holds and ends
        if not (holds and abs(total - 1.0) <= 4.0 * UNIT):
            unproved += 1
    return unproved
