"""Solving order: the strongly connected components of a layer, the first to be solved last.

A layer is swept from its last position to its first. In solving order a sweep meets the targets of
a position before the position, wherever cycles allow. (Tarjan, "Depth-first search and linear graph
algorithms", SIAM Journal on Computing 1, 1972.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import TooManyStates
from rollwise.graph import lotteries as graphs
from rollwise.kernels.indices import prefetch
from rollwise.kernels.jit import ONE, index, kernel
from rollwise.layers.layer import MOST_FEEDBACK, Block, Components, Layer, block_of

MOST_OUTCOMES = 2**32  # of a layer in one block: positions count them in 32 bits
OVER = index(2**31)  # in a graph, the least target of an outcome to an ending
NEAR, FAR = index(8), index(16)  # prefetch distances, in positions
NO_ENDING = np.empty(0, np.uint32)


def in_solving_order(layer: Layer) -> Layer:
    """The same layer in solving order, as one block, with its components."""
    layer = joined(layer)
    (_, block) = layer.blocks[0]
    found = graphs.Components.of(block.first[:, 2], block.target.view(np.int32))
    return Ordering(layer, found).run()


class Ordering:
    """Puts a layer in solving order, component by component.

    Parameters
    ----------
    layer : Layer
        Of one block.
    found : rollwise.graph.lotteries.Components
        Its components.
    ending : (n_lottery_outcomes,) uint32, optional
        The target of each outcome that ends the game, if the block has 2^31 outcomes or more.

    Attributes
    ----------
    layer : Layer
        In solving order, from the first position of the last finished component.

    Raises
    ------
    TooManyStates
        There are too many outcomes for 32 bits.
    """

    def __init__(
        self, layer: Layer, found: graphs.Components, ending: NDArray[np.uint32] = NO_ENDING
    ) -> None:
        (_, block), n = layer.blocks[0], layer.n
        if len(block.target) >= MOST_OUTCOMES:
            raise TooManyStates(f"{len(block.target):,} outcomes are too many for one layer")
        feedback, reader = np.empty(n, np.uint32), np.empty(n, np.uint32)
        parts = Components(found.indptr, np.zeros(len(found), np.uint8), feedback, reader)
        moved = Block(*(np.empty_like(part) for part in block))
        moved.first[n] = block.first[n]
        self.layer = replace(layer, blocks=[(0, moved)], parts=parts, position=found.position)
        self._known = found.order, found.position, block, layer.tables.indptr, ending, moved, parts
        self._done = 0

    def advance(self, stop: int) -> None:
        """Process the components up to `stop`."""
        move(self._done, stop, *self._known)
        self._done = stop

    def run(self) -> Layer:
        """The whole layer in solving order."""
        assert self.layer.parts is not None
        self.advance(len(self.layer.parts.n_feedback))
        return self.layer


@kernel
def move(begin, stop, order, position, block, indptr, ending, moved, parts):
    """Write components in solving order, and find their feedback sets.

    Parameters
    ----------
    begin, stop : int
        From the component `begin` to below `stop`.
    order, position : (n,) int32
        The position at each distance from the last place, and its inverse.
    indptr : (n_lotteries + 1,) uint32
    ending : (n_lottery_outcomes,) uint32
        See `Ordering`.
    moved : Block, filled
        Backwards: the end of `first` and all earlier components are filled.
    parts : Components, filled
    """
    n, most = index(order.shape[0]), index(MOST_FEEDBACK)
    from_first, from_throws, from_count, from_lottery, from_target = block
    to_first, to_throws, to_count, to_lottery, to_target = moved
    ends, n_feedback_of = parts.ends, parts.n_feedback
    feedback, reader, flat = parts.feedback, parts.reader, from_first.reshape(-1)
    for component in range(begin, stop):
        low, high = n - index(ends[component + 1]), n - index(ends[component])
        n_feedback, i = index(0), high
        while i > low:
            j = n - i
            i -= ONE
            if j + FAR < n:  # prefetch soon needed data, with the help of earlier prefetches
                prefetch(flat, index(3) * index(order[j + FAR]))
                p = index(order[j + NEAR])
                prefetch(from_throws, p)
                prefetch(from_count, from_first[p, 0])
                prefetch(from_lottery, index(from_first[p, 1]))
                prefetch(from_target, index(from_first[p, 2]))
            leads_out, known = False, most
            p = index(order[j])
            for column in range(3):
                size = from_first[p + ONE, column] - from_first[p, column]
                to_first[i, column] = to_first[i + ONE, column] - size
            s, a, o = index(to_first[i, 0]), index(to_first[i, 1]), index(to_first[i, 2])
            to_throws[i] = from_throws[p]
            for k in range(index(from_first[p, 0]), index(from_first[p + ONE, 0])):
                to_count[s] = from_count[k]
                s += ONE
            k = index(from_first[p, 2])
            for b in range(index(from_first[p, 1]), index(from_first[p + ONE, 1])):
                number = index(from_lottery[b])
                to_lottery[a] = number
                a += ONE
                for e in range(index(indptr[number]), index(indptr[number + ONE])):
                    t = index(from_target[k])
                    k += ONE
                    if t < n:
                        t = n - ONE - index(position[t])
                    elif t >= OVER:
                        t = index(ending[e])
                    to_target[o] = t
                    o += ONE
                    if t < low or t >= high:
                        leads_out = True
                    elif t <= i and n_feedback <= most:
                        known = index(0)
                        while known < n_feedback and feedback[low + known] != t:
                            known += ONE
                        if known == n_feedback:
                            if known < most:
                                feedback[low + known] = t
                                reader[low + known] = i
                            n_feedback += ONE
            if leads_out and known < most:
                reader[low + known] = i  # of the readers that lead out, the last one solved
        n_feedback_of[component] = n_feedback


def joined(layer: Layer) -> Layer:
    """The same layer in one block."""
    if len(layer.blocks) == 1:
        return layer
    found, blocks = [], [block for _, block in layer.blocks]
    begins = np.zeros(3, np.uint32)
    for block in blocks:  # each block counts its situations, actions and outcomes from 0
        found.append(block.first[:-1] + begins)
        begins = begins + block.first[-1]
    first = np.concatenate([*found, begins[None]])
    parts = (np.concatenate(part) for part in list(zip(*blocks, strict=True))[1:])
    throws, count, lottery, target = parts
    return replace(layer, blocks=[(0, block_of(first, throws, count, lottery, target))])


def has_no_cycle(layer: Layer) -> bool:
    """Whether a sweep meets all targets of a position before the position."""
    return all(leads_on(place, layer.n, block) for place, block in layer.blocks)


@kernel
def leads_on(place, n, block):
    """Whether no position of a block leads to itself or to a position at a lower place.

    Parameters
    ----------
    place : int
        The place of the first position of the block.
    n : int
        Positions of the layer.
    """
    first, target = block.first, block.target
    for i in range(index(block.throws.shape[0])):
        for o in range(index(first[i, 2]), index(first[i + ONE, 2])):
            to = index(target[o])
            if to < index(n) and to <= index(place) + i:
                return False
    return True
