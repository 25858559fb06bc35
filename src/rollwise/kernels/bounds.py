"""The recursion of the errors, for `rollwise.proofs.bounds`. Nothing here is trusted."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.chances import gap_of
from rollwise.kernels.jit import ONE, index, kernel


@kernel
def error_terms(low, high, arranged, chances, values, sign, slack, least, terms, chosen):
    """What each action of the positions `low` to `high` adds to the error (see `gap_of`).

    That is what it can be worth beyond the value, and for the best one also what
    it can fall short. Each gets a little more, `slack` times that of the best or its own,
    and `least`, for the check to have room.

    Parameters
    ----------
    values : (n_states + n_border,) float64
        By position.
    terms : (n_actions,) float64, filled
    chosen : (n_states,) uint32, filled
        The action that is best at these values.
    """
    action_indptr, outcome_indptr = arranged.action_indptr, arranged.outcome_indptr
    lottery, target = arranged.lottery, arranged.target
    indptr, signed = chances.indptr, chances.signed
    k = index(outcome_indptr[action_indptr[low]])
    for i in range(index(low), index(high)):
        first, last = index(action_indptr[i]), index(action_indptr[i + ONE])
        best = first
        best_gap = -np.inf
        best_rounding = 0.0
        value = values[i]
        for a in range(first, last):
            which = np.uint32(lottery[a])
            total, size = chances.over_total[which], chances.over_size[which]
            c = index(indptr[which])
            while k < index(outcome_indptr[a + ONE]):
                part = signed[c] * values[target[k]]
                total += part
                size += abs(part)
                c += ONE
                k += ONE
            gap, rounding = gap_of(chances, which, total, size, value, sign)
            terms[a] = gap + rounding
            if gap > best_gap:
                best, best_gap, best_rounding = index(a), gap, rounding
        off = abs(best_gap) + best_rounding
        terms[best] = off
        chosen[i] = best
        for a in range(first, last):
            terms[a] += slack * max(off, terms[a]) + least
