"""How long the fractions of an exact solution get, without computing them."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel


@kernel
def fraction_bits(component_indptr, chosen, outcome_indptr, target, action_bits, bits):
    """Bound the bits of the denominator of each value under one action a state.

    A value is a sum of others over the total weight of its action, so along a path
    denominators multiply by the totals; the linear system of the c states in the
    feedback vertex set of a component, whose coefficients have denominators of L bits, has a
    determinant of about c L bits, which divides the values of the component and of
    all that lead to it.

    Parameters
    ----------
    component_indptr : (n_components + 1,) int64
        Positions of each component, those that end every play first.
    chosen : (n_states,) int64
        The action of each position.
    outcome_indptr, target : CSR of positions
    action_bits : (n_actions,) float64
        Bits of the total weight of each action.
    bits : (n_states,) float64, filled

    Returns
    -------
    most : float
        The largest of them.
    n_feedback : int
        The size of the largest feedback vertex set of a component.
    """
    n = chosen.shape[0]
    path = np.zeros(n)
    inside = np.zeros(n)
    is_feedback = np.zeros(n, np.bool_)
    systems = 0.0
    most = 0.0
    most_feedback = 0
    for c in range(component_indptr.shape[0] - 1):
        low, high = component_indptr[c], component_indptr[c + 1]
        longest = 0.0
        n_feedback = 0
        for i in range(low, high):
            a = chosen[i]
            before = 0.0
            here = 0.0
            for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                t = target[k]
                if t >= n:
                    continue
                if t < low:
                    before = max(before, path[t])
                elif t < i:
                    before = max(before, path[t])
                    here = max(here, inside[t])
                elif not is_feedback[t]:
                    is_feedback[t] = True
                    n_feedback += 1
            path[i] = before + action_bits[a]
            inside[i] = here + action_bits[a]
            longest = max(longest, inside[i])
        systems += n_feedback * longest
        for i in range(low, high):
            bits[i] = systems + path[i]
            most = max(most, bits[i])
        most_feedback = max(most_feedback, n_feedback)
    return most, most_feedback
