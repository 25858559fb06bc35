"""Values of rounds that can return to each other, with bounds that the rounds prove.

The value of a round depends on those of the rounds after it. A *step* computes all of them from
given values; the values of the game are a fixed point (Shapley 1953). Newton's method solves the
linear equations in which all players go on as in this step (Pollatschek and Avi-Itzhak 1969). It
leaps only where the last step changed the values less than all before it.

A fixed point is no proof where play can go on for ever: a player may wait at any value. Bounds are
widened until `check.unproved` accepts them.

A step has other fixed points too. The right one is the limit of games in which each round may be
the last one, with ever smaller chances (Mertens and Neyman, "Stochastic games", 1981).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import NotConverged
from rollwise.hidden.check import UNIT, unproved

STOP = 4e-15  # change of a step, as a part of the largest payoff, in which values count as settled
ENOUGH = 1e-6  # the same, where steps bring no smaller one; and of bounds that are narrow
STEPS, PATIENCE = 2_000, 20  # steps at most, and after the smallest change
STOPS = tuple(10.0**-k for k in range(1, 10))  # chances that a round is the last one
TRIALS = 60  # of a wider bound

# From values, all for one player, and a side: the changes of the values, and a sparse matrix with
# the chance that each round is the next one after each round. Side -1 gives lower bounds on the
# changes, and 1 upper ones.
Step = Callable[[NDArray[np.float64], int], tuple[NDArray[np.float64], Any]]


def settle(
    step: Step, n: int, scale: float, title: str, *, slowly: bool = False, enough: float = ENOUGH
) -> NDArray[np.float64]:
    """Values that a step leaves as they are, nearly.

    Parameters
    ----------
    n : int
        Number of values.
    scale : float
        The largest payoff.
    slowly : bool
        Whether to come from games in which each round may be the last one, by ever smaller chances.
        Where players can wait for ever, a step has wrong fixed points too.
    enough : float
        The largest change of a step that is accepted, as a part of the largest payoff.

    Raises
    ------
    NotConverged
    """
    values = np.zeros(n)
    for stop in STOPS if slowly else ():
        values, _ = _iterated(partial(_stopping, step, stop), values, scale)
    values, change = _iterated(step, values, scale)
    if change <= enough * scale:
        return values
    if not slowly:
        return settle(step, n, scale, title, slowly=True, enough=enough)
    raise NotConverged(f"{title}: the values of rounds still change by {change:.1e}")


def _stopping(
    step: Step, stop: float, values: NDArray[np.float64], side: int
) -> tuple[NDArray[np.float64], Any]:
    """A step of the game that ends in a draw before each round with a chance."""
    changes, chances = step(values, side)
    return (1 - stop) * (values + changes) - values, (1 - stop) * chances


def _iterated(
    step: Step, values: NDArray[np.float64], scale: float
) -> tuple[NDArray[np.float64], float]:
    """The values that a step changes least, from given ones on, and this change."""
    best, least, found_at = values, math.inf, 0
    for turn in range(STEPS):
        changes, chances = step(values, 0)
        change = float(abs(changes).max())
        if change < least:
            least, best, found_at = change, values, turn
        if change <= STOP * scale or turn - found_at >= PATIENCE:
            break
        leap = solved(chances, changes) if least == change else None
        values = values + (changes if leap is None else leap)
    return best, least


def matrix(links: list[tuple[int, int, float]], n: int) -> Any:
    """A sparse (n, n) matrix from rows, columns and numbers, of which equal places add up."""
    from scipy.sparse import csr_array

    rows, columns, numbers = zip(*links, strict=True) if links else ((), (), ())
    return csr_array((np.array(numbers, float), (rows, columns)), shape=(n, n))


def solved(chances: Any, constant: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The x with x = constant + chances x; None if there isn't one, or not in double precision.

    Parameters
    ----------
    chances : sparse array, (n, n)
    constant : (n,) float64
    """
    if not len(constant):
        return constant
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    try:
        found = splu((eye_array(len(constant)) - chances).tocsc()).solve(constant)
    except RuntimeError:  # a singular matrix
        return None
    return found if np.isfinite(found).all() else None


def enclosed(
    step: Step, n: int, scale: float, title: str, may_go_on: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Values that a step leaves as they are, nearly, and their bounds.

    Parameters
    ----------
    n, scale, title
        As in `settle`.
    may_go_on : bool
        Whether play can go on for ever, for 0.

    Returns
    -------
    values : (n,) float64
    bounds : (n,) float64, or None if none are found
        The exact values differ by at most so much; the step proves it.

    Raises
    ------
    NotConverged
    """
    for slowly in (False, True):
        values = settle(step, n, scale, title, slowly=slowly)
        lower, upper = (_room(step, values, side, scale, may_go_on) for side in (-1, 1))
        bounds = None if lower is None or upper is None else np.maximum(lower, upper)
        # wide bounds around a wrong fixed point are right, but of no use
        if not may_go_on or (bounds is not None and bounds.max() <= ENOUGH * scale):
            break
    return values, bounds


def _room(
    step: Step, values: NDArray[np.float64], side: int, scale: float, may_go_on: bool
) -> NDArray[np.float64] | None:
    """The bound on one side, below (-1) or above (1), widened in trials; None if none is found."""
    room, least = np.zeros(len(values)), 8 * UNIT * scale
    for _ in range(TRIALS):
        ends = values + side * room
        changes, chances = step(ends, side)
        fails, excess = unproved(ends, changes, side, may_go_on), side * changes
        if not fails.any():
            return room
        # more room for those that fail, and for the rounds before them as far as play leads there
        more = np.where(fails, 1.1 * np.maximum(excess, 0) + least, 0.0)
        spread = solved(chances, more)
        if spread is None or not ((more <= spread) & (spread <= scale)).all():
            # ends must be equal where play stays, or differ from 0 by enough
            spread = np.where(fails, np.where(excess > 0, excess, least), 0.0)
        room, least = room + spread, 2 * least
        if not (room <= 4 * scale).all():
            return None
    return None
