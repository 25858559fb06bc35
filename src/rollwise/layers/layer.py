"""A layer: positions with their rules, in few bytes.

A *position* begins with a throw; a game without throws has one throw. After a throw the position is
a *situation*, and the mover chooses one of its actions. An action has a lottery, and each outcome
of the lottery leads to a *target*: a place in one array of values. The places are:

- the positions of the layer, from 0;
- then the border: positions of other layers, with known values;
- then the endings: the payoffs of the game.

A sweep therefore needs no test for the end of the game. A position stores its first situation,
action and outcome. The positions are in consecutive blocks, and are swept from the last to the
first.

The equation of a layer is, for each position,

    value = sum over throws of  chance * max over actions of
            (reward + sum over outcomes of  coefficient * value of the target)

where the coefficient of an outcome is its chance, negative if the turn passes. With a pool
of dice the mover keeps some dice and throws the others between the first throw and the choice. This
is a fold over the values of the throws (see `Pool`) and needs no positions of its own. If a game
is for few points, the signs of all points are changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.machine.pipeline import on_both_cores

Floats = NDArray[np.float64]


class Pool(NamedTuple):
    """A pool of n dice as tables of the sets of kept dice, 0 to n of them.

    Each set of kept dice has a number: first the empty set, then the sets by size. The sets of n
    dice are the throws, in their order.

    The situations of a position are one or more *rounds*: one situation for each throw. Without
    the number of the roll in its rules there is one round, and its dice may be thrown
    again `rerolls` times before it. With it there is a round for each number of rolls left, from 0
    on, and `rerolls` is 0.
    """

    with_face: Any  # (n_partial, sides) int32: the set with one more die
    without: Any  # (n_kept, n) int32: the sets with one die fewer; -1 behind the last of them
    rerolls: Any  # int


NO_POOL = Pool(np.empty((0, 1), np.int32), np.empty((0, 1), np.int32), 0)


class Tables(NamedTuple):
    """Lists of throws and lotteries, shared by many positions.

    ``weight`` and ``total`` are the weights for the proof. ``error`` is the rounding error
    of a mean with them, relative to the mean of the absolute terms.
    """

    lists: Any  # (n_lists + 1,) uint32
    throw: Any  # float64: the chance of each throw
    throw_weight: Any  # float64
    throw_total: Any  # (n_lists,) float64
    throw_error: Any  # (n_lists,) float64
    indptr: Any  # (n_lotteries + 1,) uint32
    coefficient: Any  # float64: the chance of each outcome, negative if the turn passes
    weight: Any  # float64, negative if the turn passes
    total: Any  # (n_lotteries,) float64
    error: Any  # (n_lotteries,) float64
    reward: Any  # (n_lotteries,) float64
    pool: Any  # Pool


class Block(NamedTuple):
    """Consecutive positions of a layer."""

    first: Any  # (n + 1, 3) uint32: situation, action, outcome
    throws: Any  # (n,) uint8, uint16 or uint32: the list of throws
    count: Any  # (n_situations,) the same type: actions
    lottery: Any  # (n_actions,) the same type
    target: Any  # (n_outcomes,) uint32

    def part(self, begin: int, end: int) -> Block:
        """The positions from `begin` to below `end`, as views."""
        return self._replace(first=self.first[begin : end + 1], throws=self.throws[begin:end])


class Components(NamedTuple):
    """The strongly connected components of a layer, the first to be solved last.

    The component c has the places from ``n - ends[c + 1]`` to below ``n - ends[c]``. Its *feedback
    set* contains the positions read before they are written in a sweep. Every cycle passes through
    it.
    """

    ends: Any  # (n_components + 1,) int64
    n_feedback: Any  # (n_components,) uint8: `MOST_FEEDBACK` + 1 if there are more
    feedback: Any  # (n,) uint32: places, relative to the component's first position


MOST_FEEDBACK = 16  # positions of a listed feedback set
WORTH_HALVING = 50_000  # positions of a layer that make a second core worthwhile


@dataclass(eq=False)
class Layer:
    """Positions that play leaves and never enters again, their border and the endings of the game.

    Attributes
    ----------
    blocks : list of (int, Block)
        Each with the place of its first position.
    tables : Tables
    n : int
        Positions.
    n_border : int
    endings : (n_endings,) float64
        Payoffs for the mover, with the sign of the objective.
    parts : Components, optional
        The strongly connected components, in solving order; None if they were not computed.
    position : (n,) int32, optional
        The distance of each position from the last place, in reading order: the order in which the
        rules were read. None: the places are in reading order.
    """

    blocks: list[tuple[int, Block]]
    tables: Tables
    n: int
    n_border: int
    endings: Floats
    parts: Components | None = None
    position: NDArray[np.int32] | None = None

    @property
    def n_outcomes(self) -> int:
        return sum(len(block.target) for _, block in self.blocks)

    @property
    def n_actions(self) -> int:
        return sum(len(block.lottery) for _, block in self.blocks)

    @property
    def n_places(self) -> int:
        """The number of values: positions, border and endings."""
        return self.n + self.n_border + len(self.endings)

    @property
    def nbytes(self) -> int:
        """Bytes of the blocks."""
        return sum(array.nbytes for _, block in self.blocks for array in block)

    @property
    def is_left_at_once(self) -> bool:
        """Whether every outcome ends the game or leads to the border."""
        return all(int(block.target.min(initial=self.n)) >= self.n for _, block in self.blocks)

    def first_outcomes(self) -> NDArray[np.uint32]:
        """The place of the first outcome of each action of a layer of one block: (n_actions,)."""
        (_, block), sizes = self.blocks[0], np.diff(self.tables.indptr.astype(np.int64))
        of_action = sizes[block.lottery]
        first: NDArray[np.uint32] = (np.cumsum(of_action) - of_action).astype(np.uint32)
        return first

    def in_reading_order(self, found: NDArray[Any]) -> NDArray[Any]:
        """Numbers by place, rearranged into reading order: (n,)."""
        found = found[: self.n]
        if self.position is None:
            return found
        # `position` counts from the last place, so it is an index of the numbers backwards.
        position, backwards, out = self.position, found[::-1].copy(), np.empty_like(found)

        def read(part: slice) -> None:  # other modes than "clip" look at each index first
            backwards.take(position[part], out=out[part], mode="clip")

        on_both_cores(read, [slice(*part) for part in self.halves()])
        return out

    def halves(self) -> list[tuple[int, int]]:
        """The ends of two halves of the positions, for two cores; of all if they are few."""
        ends = (0, self.n // 2, self.n) if self.n > WORTH_HALVING else (0, self.n)
        return list(pairwise(ends))

    def cut(self) -> Layer:
        """The same layer, with a single block of many positions in two halves, as views."""
        if len(self.blocks) > 1:
            return self
        place, block = self.blocks[0]
        halves = [(place + begin, block.part(begin, end)) for begin, end in self.halves()]
        return replace(self, blocks=halves)

    def positions_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions at some places, as indices in reading order: ascending."""
        return np.flatnonzero(self.in_reading_order(np.isin(np.arange(self.n), places)))

    def by_place(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The inverse of `in_reading_order`: numbers in reading order, rearranged by place."""
        if self.position is None:
            return numbers
        placed = np.empty_like(numbers)
        placed[::-1][self.position] = numbers
        return placed

    @property
    def order(self) -> NDArray[np.int32]:
        """The position at each place, as an index in reading order: (n,) int32."""
        return self.by_place(np.arange(self.n, dtype=np.int32))

    @property
    def place(self) -> NDArray[np.int64]:
        """The place of each position, in reading order: (n,) int64."""
        return self.in_reading_order(np.arange(self.n))


def block_of(
    first: NDArray[Any],
    throws: NDArray[Any],
    count: NDArray[Any],
    lottery: NDArray[Any],
    target: NDArray[Any],
) -> Block:
    """A block with its small numbers in the smallest common type.

    Parameters
    ----------
    first : (n + 1, 3) integers
    throws, count, lottery, target : integers, see `Block`
    """
    most = max(int(part.max(initial=0)) for part in (throws, count, lottery))
    kind = smallest_kind(most)
    return Block(
        first.astype(np.uint32, copy=False),
        throws.astype(kind),
        count.astype(kind),
        lottery.astype(kind),
        target.astype(np.uint32, copy=False),
    )


def smallest_kind(most: int) -> type[np.unsignedinteger[Any]]:
    """The smallest unsigned type that holds numbers up to `most`."""
    return np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.uint32
