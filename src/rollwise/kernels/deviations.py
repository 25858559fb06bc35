"""The value of a profile of several players, and the gain of a deviation: bounds by sweeps.

Values V are given, ``V[s, k]`` of the seat k places after the mover. Two arrays bound the truth:

- L: the value of the profile is within ``V[s, k] - L[s, k]`` and ``V[s, k] + L[s, k]``. It
  is proved where each L is at least the distance of V from its average over the next states, plus
  the average of the next L.
  Where actions are tied, it holds for each of them too: the value is so near, whatever any mover
  takes among ties.
- E: with the others at the profile, no policy of seat k has more than ``V[s, k] + E[s, k]``.
  It is proved where V + E is a supersolution: where seat k moves (k = 0) for each of its actions,
  and elsewhere for the profile's action.

Both need that play ends with probability 1. `rollwise.many.proving` finds candidates, and they
aren't trusted. `check_bounds` is the proof; together with `look`, `need_of` and
`rollwise.proofs.layers.staying` it is the trusted code. Every rounding is counted:
probabilities are right to 4 units (2^-53), an average of m outcomes to m + 2 more, a mixture of n
actions to n + 4 more, and the difference from V to one more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.jit import ONE, index, inlined, inner_kernel, kernel

UNIT = 2.0**-53
LARGER = 1.0 + 1e-12  # for the roundings of sums of bounds, which are positive, and some more
TINY = 1e-300


class Table(NamedTuple):
    """The arrays of a graph for three or more seats."""

    order: Any  # states and ends of the components: `rollwise.graph.lotteries.Components`
    ends: Any
    action_indptr: Any
    outcome_indptr: Any
    outcome_state: Any
    lottery: Any  # (n_actions,): the lottery of each action
    indptr: Any  # the following are those of the lotteries
    chance: Any
    over: Any
    passes: Any
    payoff: Any  # (n_lottery_outcomes, n_seats) float64
    feedback: Any  # (n_components,) int64: see `find_feedback`


ACYCLIC, SEVERAL = -1, -2


@kernel
def find_feedback(order, ends, position, action_indptr, outcome_indptr, outcome_state, feedback):
    """Find the state of each component that a sweep in solving order reads before it writes it.

    Parameters
    ----------
    feedback : (n_components,) int64, filled
        The state; ACYCLIC if there is none, SEVERAL if there are several.
    """
    for c in range(feedback.shape[0]):
        feedback[c] = ACYCLIC
        for place in range(ends[c], ends[c + 1]):
            s = index(order[place])
            begin = index(outcome_indptr[action_indptr[s]])
            for o in range(begin, index(outcome_indptr[action_indptr[s + ONE]])):
                t = outcome_state[o]
                # A state at this place or behind it: the sweep hasn't written its value yet.
                if t >= 0 and position[t] >= place and position[t] < ends[c + 1]:
                    is_only = feedback[c] == ACYCLIC or feedback[c] == t
                    feedback[c] = t if is_only else SEVERAL


@inlined
def look(a, table, numbers, seats, found):
    """Averages of numbers of the first seats over an action's outcomes.

    ``numbers[i, s, k]`` belongs to the seat k places after the mover. Where the turn moves on by i
    seats, the mover of state s is the seat n - i of the next state.

    Parameters
    ----------
    a : int
    table : Table
    numbers : (m, n_states, n_seats) float64
        First the values, then others, 0 at the end of the game.
    seats : int
        Number of the seats; those of the others become 0.
    found : (m, n_seats) float64, filled
    """
    indptr, chance, over, passes = table.indptr, table.chance, table.over, table.passes
    outcome_state, payoff = table.outcome_state, table.payoff
    m, n_seats = found.shape
    i = index(table.lottery[a])
    found[:] = 0.0
    first, begin = index(indptr[i]), index(table.outcome_indptr[a])
    for j in range(first, index(indptr[i + ONE])):
        p = chance[j]
        if over[j]:
            for k in range(seats):
                found[0, k] += p * payoff[j, k]
            continue
        t, on = index(outcome_state[begin + j - first]), index(np.int64(passes[j]))
        for row in range(m):
            # The mover of t is the seat `on` of s: seat k of s is seat k - on of t, counted round.
            for k in range(min(on, index(seats))):
                found[row, k] += p * numbers[row, t, index(n_seats) - on + k]
            for k in range(on, index(seats)):
                found[row, k] += p * numbers[row, t, k - on]


@inner_kernel
def need_of(s, table, probability, tied, numbers, rooms):
    """The lower bounds of E and L in a state: (2, n_seats), the first of `rooms`.

    Parameters
    ----------
    probability : (n_actions,) float64
        The profile.
    tied : (n_actions,) bool
    numbers : (3, n_states, n_seats) float64
        Values, gains and errors.
    rooms : three arrays to write in: (2, n_seats), (3, n_seats), (3, n_seats)
    """
    values = numbers[0]
    need, found, mixed = rooms
    n_seats = values.shape[1]
    action_indptr, indptr = table.action_indptr, table.indptr
    need[:] = 0.0
    mixed[:] = 0.0
    steps = 12.0 + float(action_indptr[s + ONE] - action_indptr[s])
    most = 0.0
    for a in range(index(action_indptr[s]), index(action_indptr[s + ONE])):
        p = probability[a]
        if p > 0.0 or tied[a]:
            look(a, table, numbers, n_seats, found)
        else:  # only the mover can deviate
            look(a, table, numbers, 1, found)
        # E of the mover: V + E is at least the value of every action.
        i = index(table.lottery[a])
        outcomes = float(indptr[i + ONE] - indptr[i])
        most = max(most, outcomes)
        rounding = (steps + outcomes) * UNIT * (found[0, 0] + values[s, 0]) + TINY
        larger = LARGER + 8.0 * outcomes * UNIT
        need[0, 0] = max(need[0, 0], (found[0, 0] - values[s, 0] + rounding + found[1, 0]) * larger)
        if p > 0.0:
            for j in range(3):
                for k in range(n_seats):
                    mixed[j, k] += p * found[j, k]
        # L of every seat holds for a tied action alone.
        if tied[a]:
            for k in range(n_seats):
                rounding = (steps + outcomes) * UNIT * (found[0, k] + values[s, k]) + TINY
                off = abs(found[0, k] - values[s, k])
                need[1, k] = max(need[1, k], (off + rounding + found[2, k]) * larger)
    # L of every seat holds for the mixture, and E of the seats that don't move.
    larger = LARGER + 8.0 * (steps + most) * UNIT
    for k in range(n_seats):
        rounding = (steps + most) * UNIT * (mixed[0, k] + values[s, k]) + TINY
        off = mixed[0, k] - values[s, k]
        need[1, k] = max(need[1, k], (abs(off) + rounding + mixed[2, k]) * larger)
        if k > 0:
            need[0, k] = max(0.0, (off + rounding + mixed[1, k]) * larger)


@inner_kernel
def rooms_of(n_seats):
    """Room for `need_of` to write in."""
    return np.empty((2, n_seats)), np.empty((3, n_seats)), np.empty((3, n_seats))


@kernel
def check_bounds(table, probability, tied, numbers):
    """The proof: the number of states whose bounds don't follow from those of the next states.

    All play must end: `rollwise.proofs.endless_play`.
    """
    n_seats = numbers.shape[2]
    rooms = rooms_of(n_seats)
    need, action_indptr = rooms[0], table.action_indptr
    unproved = 0
    for place in range(numbers.shape[1]):
        s = index(place)
        need_of(s, table, probability, tied, numbers, rooms)
        holds, total = True, 0.0
        for k in range(n_seats):
            holds = holds and need[0, k] <= numbers[1, s, k] and need[1, k] <= numbers[2, s, k]
            # `need_of` takes values as their own sizes in roundings, so none is negative.
            holds = holds and 0.0 <= numbers[0, s, k] <= 1.0 + 1e-9
        for a in range(index(action_indptr[s]), index(action_indptr[s + ONE])):
            total += probability[a]
            holds = holds and probability[a] >= 0.0
        if not (holds and abs(total - 1.0) <= 4.0 * UNIT):
            unproved += 1
    return unproved
