"""The steps of BiCGSTAB between its products, each of which reads its vectors once.

(van der Vorst, Bi-CGSTAB, SIAM Journal on Scientific and Statistical Computing 13, 1992. The names
are those of its algorithm: residual r, shadow r̂, direction p, image of a vector A p or A s.)
Sums are made in one order, so the numbers don't depend on the cores.
"""

from __future__ import annotations

from rollwise.kernels.jit import index, kernel


@kernel
def turned(residual, direction, image, beta, omega):
    """The next direction: p = r + β (p - ω A p), in its place."""
    for i_ in range(residual.shape[0]):
        i = index(i_)
        direction[i] = residual[i] + beta * (direction[i] - omega * image[i])


@kernel
def imaged(vector, swept, image, other):
    """What I minus a sweep makes of a vector.

    Parameters
    ----------
    vector, swept : (n,) float64
        It and what a sweep makes of it; of the second there may be more.
    image : (n,) float64, filled
    other : (n,) float64

    Returns
    -------
    with_other, with_itself : float
        Inner products of the image.
    """
    with_other, with_itself = 0.0, 0.0
    for i_ in range(vector.shape[0]):
        i = index(i_)
        x = vector[i] - swept[i]
        image[i] = x
        with_other += x * other[i]
        with_itself += x * x
    return with_other, with_itself


@kernel
def lessened(residual, image, alpha):
    """The residual half a step on: r - α A p, in its place."""
    for i_ in range(residual.shape[0]):
        i = index(i_)
        residual[i] -= alpha * image[i]


@kernel
def advanced(solution, direction, residual, image, shadow, alpha, omega):
    """Take a step: x + α p + ω s and s - ω A s, in their places, where s is the residual.

    Returns
    -------
    with_shadow, squared : float
        Inner products of the new residual: with the shadow, and with itself.
    """
    with_shadow, squared = 0.0, 0.0
    for i_ in range(solution.shape[0]):
        i = index(i_)
        s = residual[i]
        solution[i] += alpha * direction[i] + omega * s
        x = s - omega * image[i]
        residual[i] = x
        with_shadow += x * shadow[i]
        squared += x * x
    return with_shadow, squared
