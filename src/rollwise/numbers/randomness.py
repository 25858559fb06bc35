"""Seeds and independent streams of random numbers.

Stream i of a seed starts xoshiro256++ (`rollwise.kernels.sampling`) from the four
words of ``numpy.random.SeedSequence(seed, spawn_key=(i,))``. This is
NumPy's own way to make streams that are independent for all practical purposes,
and its output is fixed for ever by NumPy's compatibility policy.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError


def check_seed(seed: int) -> int:
    """The seed, if it is a whole number from 0.

    Raises
    ------
    UsageError
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise UsageError(f"a seed is a whole number from 0, not {seed!r}")
    return int(seed)


def seed_of(seed: int | None) -> int:
    """The seed, checked; for None one of the operating system, small enough to be typed again."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
    return check_seed(seed)


def derived_seed(seed: int, number: int) -> int:
    """A seed of its own for part `number` of a larger whole."""
    sequence = np.random.SeedSequence(seed, spawn_key=(number, number))
    return int(sequence.generate_state(1, np.uint64)[0])


def stream(seed: int, number: int) -> NDArray[np.uint64]:
    """The initial state of stream `number` of a seed: (4,) uint64."""
    sequence = np.random.SeedSequence(seed, spawn_key=(number,))
    return np.asarray(sequence.generate_state(4, np.uint64), np.uint64)


def draw_one(weights: Sequence[float], random: np.random.Generator) -> int:
    """The place of one of some weights, drawn with one number, as likely as its weight."""
    sums = list(accumulate(weights))
    return min(bisect_right(sums, random.random() * sums[-1]), len(sums) - 1)
