"""Newton's steps for packed layers: BiCGSTAB on sweeps of what was chosen.

A sweep of what was chosen, with nothing brought and nothing known, is the slope J of a sweep. So
``(1 - J) step = moved`` leads from values, and what a sweep moved them by, to the values of the
chosen actions. Gauss and Seidel's sweeps are what the system is preconditioned by.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.packed_sweeps import PackedSweeps
from rollwise.kernels.krylov import advanced, imaged, lessened, turned

MOST_ITERATIONS = 1000  # of two sweeps; a residual may rise for hundreds of them, and fall then
DIVERGED = 1e6  # times the residual at first: it won't come closer

Floats = NDArray[np.float64]


def stepped(
    sweeps: PackedSweeps, moved: Floats, left: float, is_over: Callable[[], bool]
) -> Floats:
    """Newton's step.

    Parameters
    ----------
    sweeps : PackedSweeps
        Its chosen actions are followed.
    moved : (n,) float64
        By how much a sweep moved each value. It is used up.
    left : float
        The share of it, in the Euclidean norm, that may be left.
    is_over : callable
        Whether the time is over. Then the step ends where it is.

    Returns
    -------
    (n,) float64
    """
    n, residual, shadow = sweeps.n, moved, moved.copy()
    solution, direction, image, image_s = (np.zeros(n) for _ in range(4))
    slopes = [np.zeros(len(values)) for values in sweeps.values]

    def product(vector: Floats, into: Floats, other: Floats) -> tuple[float, float]:
        for slope in slopes:
            slope[:n] = vector
        sweeps.evaluate(slopes, 0.0)
        return imaged(vector, slopes[0], into, other)  # type: ignore[no-any-return]

    rho = float(np.square(residual).sum())
    first, beta, omega = math.sqrt(rho), 0.0, 0.0
    for _ in range(MOST_ITERATIONS):
        if is_over() or not math.isfinite(rho) or rho == 0.0:
            break
        turned(residual, direction, image, beta, omega)
        along, _ = product(direction, image, shadow)
        if along == 0.0:
            break
        alpha = rho / along
        lessened(residual, image, alpha)
        along, squared = product(residual, image_s, residual)
        if squared == 0.0:
            solution += alpha * direction
            break
        omega = along / squared
        before = rho
        rho, squared = advanced(solution, direction, residual, image_s, shadow, alpha, omega)
        norm = math.sqrt(squared)
        if norm <= left * first or norm > DIVERGED * first or omega == 0.0:
            break
        beta = rho / before * (alpha / omega)
    return solution
