"""Random numbers inside kernels: xoshiro256++.

Blackman and Vigna (2021), "Scrambled linear pseudorandom number generators", ACM
Trans. Math. Softw. 47(4). The state is four 64-bit words that a loop keeps in its
own variables, so that they stay in registers; `rollwise.numbers.randomness` seeds them.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel

_17 = np.uint64(17)
_19 = np.uint64(19)
_23 = np.uint64(23)
_41 = np.uint64(41)
_45 = np.uint64(45)


@kernel
def draw(s0, s1, s2, s3):
    """64 random bits and the words of the next state, all uint64."""
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
