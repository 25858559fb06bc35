"""`rollwise.payoff` as it is compiled with the rules that call it."""

from __future__ import annotations

import numpy as np

from rollwise.game import DRAW, LEAST_PAYOFF, LOSE, MOST_PAYOFF, WIN, interpreted_as, payoff


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


interpreted_as(compiled_payoff, payoff)
