"""Taking some actions of a graph, and leading passes to the other player's copy."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel


@kernel
def take_actions(
    actions,
    action_lottery,
    outcome_indptr,
    outcome_state,
    lottery_indptr,
    passes,
    stay,
    cross,
    taken_indptr,
    taken_state,
):
    """Copy the outcomes of some actions.

    Parameters
    ----------
    actions : (n_taken,) int64
    action_lottery, outcome_indptr, outcome_state : as in a StateGraph
    lottery_indptr, passes : of its Lotteries
    stay, cross : int
        What is added to the number of a state, without a pass and after one.
    taken_indptr : (n_taken + 1,) int64, filled
    taken_state : (n_outcomes of those actions,) int32, filled
    """
    n = np.int64(0)
    taken_indptr[0] = 0
    for i in range(actions.shape[0]):
        a = actions[i]
        k = lottery_indptr[action_lottery[a]]
        for j in range(outcome_indptr[a], outcome_indptr[a + 1]):
            t = outcome_state[j]
            if t >= 0:
                t += cross if passes[k] else stay
            taken_state[n] = t
            n += 1
            k += 1
        taken_indptr[i + 1] = n
