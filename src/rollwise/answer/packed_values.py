"""Estimates of the values of a packed layer, by modified policy iteration."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.packed_sweeps import PackedSweeps

if TYPE_CHECKING:
    from rollwise.builders.by_layer import PackedLayer
    from rollwise.kernels.intervals import Weights

MOST_SWEEPS = 1000  # of a layer: one that takes more is solved sooner as a graph
TRIED = 100  # sweeps, after which it is estimated how many more are needed
COARSE = 0.01  # changes that are larger may well change what is chosen
LEFT = {True: 0.3, False: 0.01}  # of a change by a choice, coarse or not, when the next one is made
SETTLED = 2e-15  # change of a sweep that is rounding, for each point that is played for


class PackedValues:
    """The values of a layer in the making, and how far off they may be.

    Parameters
    ----------
    layer : PackedLayer
    lists, lotteries : Weights
    later : (n_later,) float64
        The values of the border.
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
        later: NDArray[np.float64],
        most: float,
        on_two_cores: Callable[[], bool],
    ) -> None:
        self._most, self.change = most, np.inf
        self._sweeps = PackedSweeps(layer, lists, lotteries, later, 0.0, on_two_cores)

    @property
    def can_be_found(self) -> bool:
        """Whether there are few enough coefficients."""
        return self._sweeps.can_be_swept

    def find(self) -> bool:
        """Find the values; whether they have settled. It ends as soon as they hardly will."""
        settled = SETTLED * self._most
        swept, first = 0, 0.0
        while swept < MOST_SWEEPS:
            before, self.change = self.change, self._sweeps.choose().change
            swept += 1
            if self.change <= settled:
                return True
            if self.change >= before and before <= 100 * settled:  # rounding, in long sums
                return True
            first = max(first, self.change)
            share = math.log(first / self.change) / math.log(first / settled)  # of the way
            if swept > TRIED and share * MOST_SWEEPS < swept:
                return False
            left = LEFT[self.change > COARSE * self._most]
            aim = max(left * self.change, settled / 2)
            for _ in range(TRIED):
                swept += 1
                if self._sweeps.evaluate() <= aim:
                    break
        return False

    def likely_errors(
        self, rounding: float, later: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The values, and by how much each is likely to be off. It ends the search.

        Parameters
        ----------
        rounding : float
            By which a bound is moved outward in a sweep.
        later : (n_later,) float64
            By how much the values of the border can be off.

        Returns
        -------
        values, off : (n,) float64
        """
        sweeps, n = self._sweeps, self._sweeps.n
        need = rounding + 2 * self.change
        middle, off = sweeps.values[0][:n].copy(), sweeps.values[0][:n]
        table, step = np.abs(sweeps.chances.coefficient), 1.5 * need
        for values in sweeps.values:
            values[:n] = later.mean() if len(later) else 0.0
            values[n : sweeps.n_known] = later
            values[sweeps.n_known :] = 0.0
        for _ in range(MOST_SWEEPS):
            if sweeps.evaluate(more=step, coefficient=table) <= 0.45 * need:
                break
        return middle, off
