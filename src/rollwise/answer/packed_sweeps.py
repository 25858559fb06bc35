"""Sweeps over a packed layer, on both cores: see `rollwise.kernels.chosen`.

A large layer is swept in two halves, each by a core of its own. A half sees the values of the
other one as they were before the sweep. So the numbers don't depend on how fast a core is, or on
whether there are two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rollwise.kernels.chances import UNIT
from rollwise.kernels.chosen import Chances, Rows, choose, evaluate, largest_change, room_for_rows
from rollwise.kernels.intervals import Block, Weights
from rollwise.machine.pipeline import on_both_cores

if TYPE_CHECKING:
    from rollwise.builders.by_layer import PackedLayer

WORTH_HALVING = 200_000  # outcomes of a layer
MOST_CODES = 1 << 16
Found = TypeVar("Found")


class Moved(NamedTuple):
    """By how much a sweep lets values fall and rise at most: of the values it came to, a step more
    would let none fall or rise by more either."""

    fall: float
    rise: float

    @property
    def change(self) -> float:
        """By how much a value changes at most."""
        return max(self)


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


class PackedSweeps:
    """A layer that is swept: by its best actions, or by those that were chosen last.

    Parameters
    ----------
    layer : PackedLayer
    lists, lotteries : Weights
    later : (n_later,) float64
        The values of the border.
    more : float
        What a turn brings, besides what it leads to.
    on_two_cores : callable
        Whether a core is free, besides this one.

    Attributes
    ----------
    pieces : list of Piece
    n : int
        Positions of the layer.
    n_known : int
        With those of the border: so many values stand before the payoffs.
    chances : Chances
    values : list of (n_known + number of payoffs,) float64
        One for each half; they differ only during a sweep.
    """

    def __init__(
        self,
        layer: PackedLayer,
        lists: Weights,
        lotteries: Weights,
        later: NDArray[np.float64],
        more: float,
        on_two_cores: Callable[[], bool],
    ) -> None:
        self._on_two_cores, self._more = on_two_cores, more
        self.n = layer.end - layer.begin
        self.n_known = self.n + len(later)
        self.chances = _chances(lists, lotteries)
        n_outcomes = sum(len(block.next_state) for _, block in layer.blocks)
        values = np.zeros(self.n_known + len(lotteries.payoff))
        values[self.n : self.n_known] = later
        values[self.n_known :] = np.where(lotteries.passes, 0.0, lotteries.payoff)
        self.pieces = self._pieces(layer.blocks)
        self._parts = _halves(self.pieces) if n_outcomes > WORTH_HALVING else [self.pieces]
        self.values = [values, *(values.copy() for _ in self._parts[1:])]

    def _pieces(self, blocks: Sequence[tuple[int, Block]]) -> list[Piece]:
        """The blocks with their rows: parts of one array, since small ones waste large pages."""
        chances = self.chances
        indptrs = [room_for_rows(block, chances.list_indptr, chances.indptr) for _, block in blocks]
        ends = np.cumsum([0, *(int(indptr[-1]) for indptr in indptrs)]).tolist()
        few = len(chances.coefficient) <= 1 << 8
        code = np.empty(ends[-1], np.uint8 if few else np.uint16)
        place = np.empty(ends[-1], np.int32)
        return [
            Piece(first, block, Rows(indptr, code[begin:end], place[begin:end]))
            for (first, block), indptr, begin, end in zip(
                blocks, indptrs, ends[:-1], ends[1:], strict=True
            )
        ]

    @property
    def can_be_swept(self) -> bool:
        """Whether there are few enough coefficients."""
        return len(self.chances.coefficient) <= MOST_CODES

    def choose(self) -> Moved:
        """Sweep by the best actions, which are chosen; by how much values change at most."""
        chances, more = self.chances, self._more

        def work(piece: Piece, values: NDArray[np.float64]) -> Moved:
            first, block, rows = piece
            return Moved(*choose(first, self.n_known, block, chances, rows, more, values))

        moved = self._sweep(work, self.values)
        return Moved(max(part.fall for part in moved), max(part.rise for part in moved))

    def evaluate(
        self,
        values: Sequence[NDArray[np.float64]] | None = None,
        more: float | NDArray[np.float64] | None = None,
        coefficient: NDArray[np.float64] | None = None,
    ) -> float:
        """Sweep by the chosen actions; by how much a value changes at most.

        Parameters
        ----------
        values, more, coefficient : optional
            In the place of those of the layer. What a turn brings may be (n,) float64.
        """
        table = self.chances.coefficient if coefficient is None else coefficient
        each = self._each(self._more if more is None else more)

        def work(piece: Piece, known: NDArray[np.float64]) -> float:
            return float(evaluate(piece.first, piece.rows, table, each, known))

        return max(self._sweep(work, self.values if values is None else values))

    def residual(self, values: NDArray[np.float64], more: float | NDArray[np.float64]) -> float:
        """By how much one step of the chosen actions changes a value at most, with no rounding."""
        each, table = self._each(more), self.chances.coefficient
        changes = [largest_change(p.first, p.rows, table, each, values) for p in self.pieces]
        return float(max(changes)) + self.rounding(values, each)

    def all_rows(self) -> Rows:
        """What the chosen actions of all positions lead to, as one piece."""
        sizes = np.cumsum([0, *(len(piece.rows.place) for piece in self.pieces)])
        begins = [
            piece.rows.indptr[:-1] + size
            for piece, size in zip(self.pieces, sizes[:-1], strict=True)
        ]
        return Rows(
            np.concatenate([*begins, sizes[-1:]]),
            np.concatenate([piece.rows.code for piece in self.pieces]),
            np.concatenate([piece.rows.place for piece in self.pieces]),
        )

    def rounding(self, values: NDArray[np.float64], more: NDArray[np.float64]) -> float:
        """By how much the roundings of a sweep can change a value at most."""
        longest = max(int(np.diff(piece.rows.indptr).max()) for piece in self.pieces)
        largest = float(np.abs(values).max()) + float(np.abs(more).max())
        return (longest + 8) * UNIT * largest

    def _each(self, more: float | NDArray[np.float64]) -> NDArray[np.float64]:
        return np.broadcast_to(np.asarray(more, np.float64), self.n)

    def _sweep(
        self,
        work: Callable[[Piece, NDArray[np.float64]], Found],
        values: Sequence[NDArray[np.float64]],
    ) -> list[Found]:
        """Sweep all parts at once; what the work gave for each piece."""

        def part(number: int) -> list[Found]:
            return [work(piece, values[number]) for piece in reversed(self._parts[number])]

        spread = on_both_cores if self._on_two_cores() else map
        found = [one for of_part in spread(part, range(len(self._parts))) for one in of_part]
        if len(self._parts) > 1:
            middle = self._parts[1][0].first
            one, other = values
            one[middle : self.n] = other[middle : self.n]
            other[:middle] = one[:middle]
        return found


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
