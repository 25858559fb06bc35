"""Loops of simulated backward induction: draws counted, and errors carried back."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel
from rollwise.kernels.sampling import draw, pick

_32 = np.uint64(32)


@kernel(never_interpreted=True)
def count_draws(
    first, stop, lottery, lottery_indptr, cells, outcome_indptr, samples, words, counts
):
    """Draw every action so many times, and count how often each outcome comes.

    Parameters
    ----------
    first, stop : int
        Which actions: from `first` to below `stop`.
    lottery : (n_actions,) int32
    lottery_indptr : (n_lotteries + 1,) int64
    cells : (n_lottery_outcomes, 4) int32
        The alias tables of the lotteries; an outcome's code is its place in its lottery.
    outcome_indptr : (n_actions + 1,) int64
    samples : int
    words : (4,) uint64
        State of the random numbers, in place.
    counts : (n_outcomes,) int64, filled for these actions
    """
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    for a in range(first, stop):
        begin, size = outcome_indptr[a], outcome_indptr[a + 1] - outcome_indptr[a]
        if size == 1:  # nothing is left to chance
            counts[begin] = samples
            continue
        for k in range(begin, begin + size):
            counts[k] = 0
        row = lottery_indptr[lottery[a]]
        for _ in range(samples):
            bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            counts[begin + pick(cells, row, size, np.int64(bits >> _32))] += 1
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3


@kernel
def carry_back(
    order, chosen, outcome_indptr, outcome_state, outcome_passes, share, own, directions, errors
):
    """What errors of single states make of the values of all that lead to them.

    Parameters
    ----------
    order : (n_states,) int64
        Each state comes after those that it leads to.
    chosen : (n_states,) int64
        The action of each state.
    share : (n_outcomes,) float64
        How often each outcome came, of 1.
    own : (n_states,) float64
        The error of each state if the values that it leads to were right.
    directions : (n_states, n) float64
        The number of these errors that a state makes, in each of n cases.
    errors : (n_states + n_border, n) float64, filled for the states
        The error of each value in each case; 0 on the border.
    """
    n = errors.shape[1]
    for i in range(order.shape[0]):
        s = order[i]
        for j in range(n):
            errors[s, j] = own[s] * directions[s, j]
        a = chosen[s]
        for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
            t = outcome_state[k]
            if t >= 0 and share[k] > 0:
                part = -share[k] if outcome_passes[k] else share[k]
                for j in range(n):
                    errors[s, j] += part * errors[t, j]
