"""How long the fractions of an exact solution get, without computing them."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel


@kernel
def fraction_bits(ends, indptr, lottery_bits, lottery, outcome, target, bits):
    """Bound the bits of the denominator of each value under one action a position.

    A value is a sum of others over the total weight of its action, so along a path
    denominators multiply by the totals; the linear system of the c positions in the
    feedback vertex set of a component, whose coefficients have denominators of L bits, has a
    determinant of about c L bits, which divides the values of the component and of
    all that lead to it.

    Parameters
    ----------
    ends : (n_components + 1,) int64
        See `rollwise.layers.layer.Components`.
    indptr : (n_lotteries + 1,) uint32
    lottery_bits : (n_lotteries,) float64
        Bits of the total weight of each lottery.
    lottery, outcome : (n,) integers
        The lottery of each position's action, and its first outcome.
    target : (n_outcomes,) uint32
        Of a layer in solving order.
    bits : (n,) float64, filled
        By place.

    Returns
    -------
    most : float
        The largest of them.
    n_feedback : int
        The size of the largest feedback vertex set of a component.
    """
    n = bits.shape[0]
    path = np.zeros(n)
    inside = np.zeros(n)
    is_feedback = np.zeros(n, np.bool_)
    systems = 0.0
    most = 0.0
    most_feedback = 0
    for c in range(ends.shape[0] - 1):
        low, high = n - ends[c + 1], n - ends[c]
        longest = 0.0
        n_feedback = 0
        for i in range(high - 1, low - 1, -1):
            number, first = np.int64(lottery[i]), np.int64(outcome[i])
            before = 0.0
            here = 0.0
            for k in range(np.int64(indptr[number + 1]) - np.int64(indptr[number])):
                t = np.int64(target[first + k])
                if t >= n:
                    continue
                if t >= high:
                    before = max(before, path[t])
                elif t > i:
                    before = max(before, path[t])
                    here = max(here, inside[t])
                elif not is_feedback[t]:
                    is_feedback[t] = True
                    n_feedback += 1
            path[i] = before + lottery_bits[number]
            inside[i] = here + lottery_bits[number]
            longest = max(longest, inside[i])
        systems += n_feedback * longest
        for i in range(low, high):
            bits[i] = systems + path[i]
            most = max(most, bits[i])
        most_feedback = max(most_feedback, n_feedback)
    return most, most_feedback
