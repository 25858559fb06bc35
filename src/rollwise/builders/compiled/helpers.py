"""What rules call as plain Python, as it is compiled with them."""

from __future__ import annotations

import numpy as np

from rollwise.game import (
    DRAW,
    LEAST_PAYOFF,
    LOSE,
    MOST_PAYOFF,
    WIN,
    interpreted_as,
    payoff,
    payoffs,
    replaced,
)
from rollwise.numbers.shares import BITS, SCALE


def compiled_payoff(points):  # type: ignore[no-untyped-def]
    """The same code; an exception where the plain function says what is wrong."""
    amount = np.float64(points)
    if amount == 0.0:
        return DRAW
    if amount == 1.0:
        return WIN
    if amount == -1.0:
        return LOSE
    if not LEAST_PAYOFF <= abs(amount) <= MOST_PAYOFF:
        raise ValueError("no payoff")
    return amount.view(np.int64)


def compiled_payoffs(*numbers):  # type: ignore[no-untyped-def]
    """The same code; an exception where the plain function says what is wrong."""
    players = len(numbers)
    bits = BITS // players
    half = 1 << (bits - 1)
    code = players << BITS
    for k in range(players):
        if not -half < numbers[k] < half:
            raise ValueError("no payoffs")
        code += (numbers[k] + half) << (k * bits)
    return np.float64(code).view(np.int64) - (SCALE << 52)  # times 2^-SCALE


def put(numbers, place, number):  # type: ignore[no-untyped-def]
    """A tuple with another number at a place that it has; the adapter compiles it."""
    raise NotImplementedError


def compiled_replaced(numbers, place, number):  # type: ignore[no-untyped-def]
    """The same; Numba can't put a tuple together whose parts it doesn't know."""
    if not 0 <= place < len(numbers):
        raise IndexError("no such place")
    return put(numbers, place, number)


interpreted_as(compiled_payoff, payoff)
interpreted_as(compiled_payoffs, payoffs)
interpreted_as(compiled_replaced, replaced)
