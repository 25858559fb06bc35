"""Walking a graph with its seats taken, and writing down what the walk comes to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.jit import kernel


class Seated(NamedTuple):
    """Arrays of a StateGraph that a walk fills, long enough for whatever it comes to."""

    states: Any  # (n_keys, n_fields) int32; one field more is the seat
    action_indptr: Any  # (n_keys + 1,) int64
    action_label: Any  # int32
    action_lottery: Any  # int32
    outcome_indptr: Any  # int64
    outcome_state: Any  # int32


@kernel
def take_seats(
    begin,
    n_seats,
    first,
    second,
    states,
    action_indptr,
    action_label,
    action_lottery,
    outcome_indptr,
    outcome_state,
    lottery_indptr,
    passes,
    number,
    keys,
    taken,
    seated,
):
    """Number what play comes to, breadth first, and write its actions and outcomes.

    The key of state s with the seat to move is ``seat * n_states + s``. Where there are
    two seats, a pass leads to the other one.

    Parameters
    ----------
    begin : (n_begin,) int64
        Different keys, from which the walk begins; they get the first numbers.
    n_seats : 1 or 2
    first, second : (n_actions,) float64
        How likely each seat takes each action; empty where it may take any.
    states, action_indptr, ..., outcome_state : as in a StateGraph
    lottery_indptr, passes : of its Lotteries
    number : (n_keys,) int32
        All -1; filled with the number of each key that the walk comes to.
    keys : (n_keys,) int32, filled
        The other way round: the key of each number.
    taken : int32, filled
        The action that each written one was.
    seated : Seated
        Filled.

    Returns
    -------
    n_states, n_actions, n_outcomes : int
        How much was written.
    """
    n = action_indptr.shape[0] - 1
    n_fields = states.shape[1]
    first_free = first.shape[0] == 0
    second_free = second.shape[0] == 0
    # taken out of the tuple once: the loop would count its references
    new_indptr, new_label, new_lottery = (
        seated.action_indptr,
        seated.action_label,
        seated.action_lottery,
    )
    new_states, new_outcome_indptr, new_outcome_state = (
        seated.states,
        seated.outcome_indptr,
        seated.outcome_state,
    )
    found = 0
    for key in begin:
        number[key] = found
        keys[found] = key
        found += 1
    done = 0
    n_actions = 0
    n_outcomes = 0
    new_indptr[0] = 0
    new_outcome_indptr[0] = 0
    while done < found:
        s = np.int64(keys[done])
        seat = 0
        if s >= n:
            s -= n
            seat = 1
        stay = seat * n
        cross = n - stay if n_seats == 2 else 0
        for f in range(n_fields):
            new_states[done, f] = states[s, f]
        if n_seats == 2:
            new_states[done, n_fields] = seat
        for a in range(action_indptr[s], action_indptr[s + 1]):
            if seat == 0:
                if not (first_free or first[a] > 0.0):
                    continue
            elif not (second_free or second[a] > 0.0):
                continue
            lottery = action_lottery[a]
            outcome = lottery_indptr[lottery]
            for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                t = outcome_state[k]
                if t >= 0:
                    ahead = t + (cross if passes[outcome] else stay)
                    t = number[ahead]
                    if t < 0:
                        t = found
                        number[ahead] = t
                        keys[found] = ahead
                        found += 1
                new_outcome_state[n_outcomes] = t
                n_outcomes += 1
                outcome += 1
            new_label[n_actions] = action_label[a]
            new_lottery[n_actions] = lottery
            taken[n_actions] = a
            n_actions += 1
            new_outcome_indptr[n_actions] = n_outcomes
        done += 1
        new_indptr[done] = n_actions
    return found, n_actions, n_outcomes


@kernel
def take_actions(key, action_indptr, action, chosen, n, probability):
    """Have the first seat take an action wherever it moves.

    Parameters
    ----------
    key, action_indptr, action : of a Seated
        In which the first seat may take any action.
    chosen : (n_seated_states,) int64
        The action, numbered as those of `action`.
    n : int
        Number of states before the seats were taken.
    probability : (n_actions,) float64
        Of the graph before that; changed where the first seat moves.
    """
    for s in range(key.shape[0]):
        if key[s] < n:
            for a in range(action_indptr[s], action_indptr[s + 1]):
                probability[action[a]] = 0.0
            probability[action[chosen[s]]] = 1.0
