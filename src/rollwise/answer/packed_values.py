"""Estimates of the values of a packed layer, on both cores: see `rollwise.kernels.chosen`.

A large layer is swept in two halves, each by a core of its own. A half sees the values of the
other one as they were before the sweep. So the numbers don't depend on how fast a core is, or on
whether there are two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.kernels.chosen import Chances, Rows, choose, evaluate, room_for_rows
from rollwise.kernels.intervals import Block, Weights
from rollwise.machine import large_pages
from rollwise.machine.pipeline import on_both_cores

if TYPE_CHECKING:
    from rollwise.builders.by_layer import PackedLayer

WORTH_HALVING = 200_000  # outcomes of a layer
MOST_CODES = 1 << 16
ROUNDS = 60  # choices that are followed by sweeps of what was chosen, and as many without
MOST_SWEEPS = 100  # of what was chosen
COARSE = 0.01  # changes that are larger may well change what is chosen
LEFT = {True: 0.3, False: 0.01}  # of a change by a choice, coarse or not, when the next one is made
SETTLED = 2e-15  # change of a sweep that is rounding, for each point that is played for


class Piece(NamedTuple):
    """A block of a layer.

    Attributes
    ----------
    first : int
        The place of its first position.
    block : Block
    rows : Rows
    """

    first: int
    block: Block
    rows: Rows


class PackedValues:
    """The values of a layer in the making, and how far off they may be.

    Parameters
    ----------
    layer : PackedLayer
    lists, lotteries : Weights
    bounds : (at least n, 2) float64
        Of the positions of the layer, and of later ones as far as it leads to them, which are
        known.
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
        self._on_two_cores = on_two_cores
        self._n, self._most = layer.end - layer.begin, most
        self._chances, self.change = _chances(lists, lotteries), np.inf
        n_outcomes = sum(len(block.next_state) for _, block in layer.blocks)
        later = bounds[self._n :]
        self._later = 0.5 * (later[:, 1] - later[:, 0])
        self._n_known = self._n + len(later)
        values = large_pages.zeros(self._n_known + len(lotteries.payoff))
        values[self._n : self._n_known] = 0.5 * (later[:, 0] + later[:, 1])
        values[self._n_known :] = np.where(lotteries.passes, 0.0, lotteries.payoff)
        pieces = [self._piece(first, block) for first, block in layer.blocks]
        self._parts = _halves(pieces) if n_outcomes > WORTH_HALVING else [pieces]
        self._values = [values, *(values.copy() for _ in self._parts[1:])]

    def _piece(self, first: int, block: Block) -> Piece:
        chances = self._chances
        indptr = room_for_rows(block, chances.list_indptr, chances.indptr)
        few = len(chances.coefficient) <= 1 << 8
        code = large_pages.empty(int(indptr[-1]), np.uint8 if few else np.uint16)
        place = large_pages.empty(int(indptr[-1]), np.int32)
        return Piece(first, block, Rows(indptr, code, place))

    @property
    def can_be_found(self) -> bool:
        """Whether there are few enough coefficients."""
        return len(self._chances.coefficient) <= MOST_CODES

    def find(self) -> bool:
        """Find the values; whether they have settled."""
        settled = SETTLED * self._most
        for number in range(2 * ROUNDS):
            before, self.change = self.change, self._sweep(self._choose)
            if self.change <= settled:
                return True
            if self.change >= before and before <= 100 * settled:  # rounding, in long sums
                return True
            if number >= ROUNDS:
                continue
            left = LEFT[self.change > COARSE * self._most]
            aim = max(left * self.change, settled / 2)
            for _ in range(MOST_SWEEPS):
                if self._sweep(self._evaluate) <= aim:
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
        need = rounding + 2 * self.change
        middle, off = self._values[0][: self._n].copy(), self._values[0][: self._n]
        table, step = np.abs(self._chances.coefficient), 1.5 * need
        for values in self._values:
            values[: self._n] = self._later.mean() if len(self._later) else 0.0
            values[self._n : self._n_known] = self._later
            values[self._n_known :] = 0.0

        def widen(piece: Piece, values: NDArray[np.float64]) -> float:
            return float(evaluate(piece.first, piece.rows, table, step, values))

        for _ in range(100 * MOST_SWEEPS):
            if self._sweep(widen) <= 0.45 * need:
                break
        np.subtract(middle, off, out=claimed[:, 0])
        np.add(middle, off, out=claimed[:, 1])

    def _choose(self, piece: Piece, values: NDArray[np.float64]) -> float:
        first, block, rows = piece
        return float(choose(first, self._n_known, block, self._chances, rows, values))

    def _evaluate(self, piece: Piece, values: NDArray[np.float64]) -> float:
        return float(evaluate(piece.first, piece.rows, self._chances.coefficient, 0.0, values))

    def _sweep(self, work: Callable[[Piece, NDArray[np.float64]], float]) -> float:
        """Sweep all parts at once; by how much a value changes at most."""

        def part(number: int) -> float:
            values = self._values[number]
            return max(work(piece, values) for piece in reversed(self._parts[number]))

        spread = on_both_cores if self._on_two_cores() else map
        most = max(spread(part, range(len(self._parts))))
        if len(self._parts) > 1:
            middle = self._parts[1][0].first
            one, other = self._values
            one[middle : self._n] = other[middle : self._n]
            other[:middle] = one[:middle]
        return most


def _halves(pieces: Sequence[Piece]) -> list[Sequence[Piece]]:
    """The pieces in two parts of about as many outcomes."""
    sizes = np.cumsum([len(piece.block.next_state) for piece in pieces])
    middle = int(np.searchsorted(sizes, sizes[-1] / 2)) + 1
    middle = min(middle, len(pieces) - 1)
    return [pieces[:middle], pieces[middle:]]


def _chances(lists: Weights, lotteries: Weights) -> Chances:
    throw = lists.weight / np.repeat(lists.total, np.diff(lists.indptr))
    outcome = lotteries.weight / np.repeat(lotteries.total, np.diff(lotteries.indptr))
    outcome = np.where(lotteries.passes, -outcome, outcome)
    throws, throw_code = np.unique(throw, return_inverse=True)
    outcomes, outcome_code = np.unique(outcome, return_inverse=True)
    coefficient = np.append(np.outer(throws, outcomes), 0.0)
    codes = throw_code * len(outcomes), outcome_code
    return Chances(lists.indptr, throw, codes[0], lotteries.indptr, outcome, codes[1], coefficient)
