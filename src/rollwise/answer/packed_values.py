"""Estimates of the values of a packed layer, by modified policy iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.packed_sweeps import PackedSweeps

if TYPE_CHECKING:
    from rollwise.builders.by_layer import PackedLayer
    from rollwise.kernels.intervals import Weights

ROUNDS = 60  # choices that are followed by sweeps of what was chosen, and as many without
MOST_SWEEPS = 100  # of what was chosen
COARSE = 0.01  # changes that are larger may well change what is chosen
LEFT = {True: 0.3, False: 0.01}  # of a change by a choice, coarse or not, when the next one is made
SETTLED = 2e-15  # change of a sweep that is rounding, for each point that is played for


class PackedValues:
    """The values of a layer in the making, and how far off they may be.

    Parameters
    ----------
    layer : PackedLayer
    lists, lotteries : Weights
    bounds : (at least n, 2) float64
        Of the positions of the layer, and of those of its border, which are known.
    most : float
        No value is further from 0.
    on_two_cores : callable
        Whether a core is free, besides this one.

    Attributes
    ----------
    change : float
        Of the last sweep.
    """

    def __init__(
        self,
        layer: PackedLayer,
        lists: Weights,
        lotteries: Weights,
        bounds: NDArray[np.float64],
        most: float,
        on_two_cores: Callable[[], bool],
    ) -> None:
        self._most, self.change = most, np.inf
        low, high = bounds[layer.end - layer.begin :].T
        self._later = 0.5 * (high - low)
        middle = 0.5 * (low + high)
        self._sweeps = PackedSweeps(layer, lists, lotteries, middle, 0.0, on_two_cores)

    @property
    def can_be_found(self) -> bool:
        """Whether there are few enough coefficients."""
        return self._sweeps.can_be_swept

    def find(self) -> bool:
        """Find the values; whether they have settled."""
        settled = SETTLED * self._most
        for number in range(2 * ROUNDS):
            before, self.change = self.change, self._sweeps.choose()
            if self.change <= settled:
                return True
            if self.change >= before and before <= 100 * settled:  # rounding, in long sums
                return True
            if number >= ROUNDS:
                continue
            left = LEFT[self.change > COARSE * self._most]
            aim = max(left * self.change, settled / 2)
            for _ in range(MOST_SWEEPS):
                if self._sweeps.evaluate() <= aim:
                    break
        return False

    def bounds(self, rounding: float, claimed: NDArray[np.float64]) -> None:
        """Find bounds that are likely to hold.

        Parameters
        ----------
        rounding : float
            By which a bound is moved outward in a sweep.
        claimed : (n, 2) float64, filled
        """
        sweeps, n = self._sweeps, self._sweeps.n
        need = rounding + 2 * self.change
        middle, off = sweeps.values[0][:n].copy(), sweeps.values[0][:n]
        table, step = np.abs(sweeps.chances.coefficient), 1.5 * need
        for values in sweeps.values:
            values[:n] = self._later.mean() if len(self._later) else 0.0
            values[n : sweeps.n_known] = self._later
            values[sweeps.n_known :] = 0.0
        for _ in range(100 * MOST_SWEEPS):
            if sweeps.evaluate(more=step, coefficient=table) <= 0.45 * need:
                break
        np.subtract(middle, off, out=claimed[:, 0])
        np.add(middle, off, out=claimed[:, 1])
