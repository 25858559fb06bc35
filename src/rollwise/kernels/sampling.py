"""Drawing outcomes: alias tables, one for each action of a graph.

Walker (1977), "An efficient method for generating discrete random variables with
general distributions", ACM Trans. Math. Softw. 3(3); built as by Vose (1991). An
action with n outcomes has n cells, at the places of its outcomes. A cell is a row
of int32: a threshold out of 2**31 and two codes. One product of 32 random bits
and n gives the cell (its high half) and the number to compare with the threshold (its
low half). So each probability is exact to about 2**-31.

A code gives the result of a move in one number:

- ``next << bits | seats`` where the game goes on, with the seats moved: with two
  players ``2 * next + 1`` if the turn passes, ``2 * next`` if the mover goes on,
- where the game is over, -1 minus the index of the mover's payoff among all payoffs,
  ascending: -1 for a loss, -2 for a draw or the end of a solitaire game and -3 for a
  win, in games without other payoffs.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import inner_kernel, kernel

_17 = np.uint64(17)
_19 = np.uint64(19)
_23 = np.uint64(23)
_41 = np.uint64(41)
_45 = np.uint64(45)


@kernel
def draw(s0, s1, s2, s3):
    """64 random bits and the words of the next state, all uint64."""
    # A step of xoshiro256++.
    total = s0 + s3
    bits = ((total << _23) | (total >> _41)) + s0
    shifted = s1 << _17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << _45) | (s3 >> _19)
    return bits, s0, s1, s2, s3


LOST, DRAWN, WON = -1, -2, -3
HALF = 2.0**31


@inner_kernel
def fill_alias(weight, codes, cells, left, small, large):
    """Write the alias table of one distribution.

    Parameters
    ----------
    weight : (n,) int64 or float64
        Not negative, with a positive sum.
    codes : (n,) int32
    cells : (n, 4) int32
        To fill. The fourth column is padding: a row is a quarter of a cache line.
    left : (m,) float64
    small, large : (m,) int64
        Room to work in, m >= n.
    """
    n = weight.shape[0]
    total = 0.0
    for i in range(n):
        total += weight[i]
    n_small = 0
    n_large = 0
    for i in range(n):
        left[i] = weight[i] * n / total
        if left[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    # A cell holds 1. A small outcome i leaves room in its cell, which a large one j fills. The rest
    # of j is small or large in turn.
    while n_small > 0 and n_large > 0:
        n_small -= 1
        i = small[n_small]
        j = large[n_large - 1]
        cells[i, 0] = min(int(left[i] * HALF + 0.5), 2147483647)
        cells[i, 1] = codes[i]
        cells[i, 2] = codes[j]
        cells[i, 3] = 0
        left[j] -= 1.0 - left[i]
        if left[j] < 1.0:
            n_large -= 1
            small[n_small] = j
            n_small += 1
    while n_small > 0:  # the rest is full, up to rounding
        n_small -= 1
        large[n_large] = small[n_small]
        n_large += 1
    # A full cell has one outcome on both sides of its threshold.
    for m in range(n_large):
        i = large[m]
        cells[i, 0] = 0
        cells[i, 1] = codes[i]
        cells[i, 2] = codes[i]
        cells[i, 3] = 0


@kernel
def alias_tables(outcome_indptr, weight, codes, cells):
    """Write the alias tables of all actions: cells is (n_outcomes, 4) int32."""
    longest = 0
    for a in range(outcome_indptr.shape[0] - 1):
        longest = max(longest, outcome_indptr[a + 1] - outcome_indptr[a])
    left = np.empty(longest)
    small = np.empty(longest, np.int64)
    large = np.empty(longest, np.int64)
    for a in range(outcome_indptr.shape[0] - 1):
        begin, end = outcome_indptr[a], outcome_indptr[a + 1]
        fill_alias(weight[begin:end], codes[begin:end], cells[begin:end], left, small, large)


@kernel
def pick(cells, begin, count, bits):
    """The code of an outcome drawn with 32 random bits (an int64 below 2**32)."""
    spread = bits * count
    cell = np.uint64(begin + (spread >> 32))
    first = np.int64(cells[cell, 1])
    other = np.int64(cells[cell, 2])
    # Without a branch, unpredictable by its nature.
    is_first = np.int64(((spread & 0xFFFFFFFF) >> 1) < cells[cell, 0])
    return other ^ ((first ^ other) & -is_first)
