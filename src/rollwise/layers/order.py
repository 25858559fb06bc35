"""Solving order: the strongly connected components of a layer, the first to be solved last.

A layer is swept from its last position to its first. In solving order a sweep meets the targets of
a position before the position, wherever cycles allow. (Tarjan, "Depth-first search and linear graph
algorithms", SIAM Journal on Computing 1, 1972.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import TooManyStates
from rollwise.graph import lotteries as graphs
from rollwise.kernels.indices import prefetch
from rollwise.kernels.jit import ONE, index, kernel
from rollwise.layers.layer import MOST_FEEDBACK, Block, Components, Layer, block_of

MOST_OUTCOMES = 2**32  # of a layer in one block, whose positions count them in 32 bits
OVER = index(2**31)  # the least target of an outcome that ends the game, in a graph
NEAR, NEARER, FAR = index(8), index(16), index(24)  # positions ahead
NO_ENDING = np.empty(0, np.uint32)


def in_solving_order(layer: Layer) -> Layer:
    """The same layer in solving order, as one block, with its components."""
    layer = joined(layer)
    (_, block) = layer.blocks[0]
    found = graphs.Components.of(block.first[:, 2], block.target.view(np.int32))
    moved = Block(*(np.empty_like(part) for part in block))
    return replace(layer, **in_order(block, moved, found, layer.tables.indptr))


def in_order(
    block: Block,
    moved: Block,
    found: graphs.Components,
    indptr: NDArray[np.uint32],
    ending: NDArray[np.uint32] = NO_ENDING,
) -> dict[str, Any]:
    """Put a block in solving order: the `blocks`, `parts` and `order` of a `Layer`.

    Parameters
    ----------
    moved : Block
        As long as `block`; filled.
    indptr, ending : as `move` takes them

    Raises
    ------
    TooManyStates
        There are too many outcomes for 32 bits.
    """
    places = np.empty(len(found.order), np.uint32), np.empty(len(found.order), np.uint32)
    parts = Components(found.indptr, np.zeros(len(found), np.uint8), *places)
    if len(block.target) >= MOST_OUTCOMES:
        raise TooManyStates(f"{len(block.target):,} outcomes are too many for one layer")
    order = found.order[::-1].copy()
    move(order, found.position, block, indptr, ending, moved, parts)
    return {"blocks": [(0, moved)], "parts": parts, "order": order}


@kernel
def move(order, position, block, indptr, ending, moved, parts):
    """Write the positions of a block in solving order, and find the feedback sets.

    Parameters
    ----------
    order : (n,) int32
        The position at each new place.
    position : (n,) int32
        How many places from the last one each position gets.
    indptr : (n_lotteries + 1,) uint32
    ending : (n_lottery_outcomes,) uint32
        The target of each outcome that ends the game, whose target in `block` is 2^31 or more.
    moved : Block, filled
    parts : Components, filled
    """
    n = index(order.shape[0])
    feedback, reader, most = parts.feedback, parts.reader, index(MOST_FEEDBACK)
    component = index(parts.n_feedback.shape[0])
    has_way_out = np.zeros(most, np.bool_)  # the readers that lead out
    begin, end, n_feedback = index(0), index(0), index(0)
    s, a, o = index(0), index(0), index(0)
    from_first, from_throws, from_count, from_lottery, from_target = block
    to_first, to_throws, to_count, to_lottery, to_target = moved
    n_feedback_of, ends, flat = parts.n_feedback, parts.ends, from_first.reshape(-1)
    for i in range(n):
        if i == end:  # the first position of another component
            if end > 0:
                n_feedback_of[component] = n_feedback
            component -= ONE
            begin, end = end, n - index(ends[component])
            n_feedback = index(0)
        if i + FAR < n:  # ask for what comes soon, each with the help of what was asked for before
            prefetch(flat, index(3) * index(order[i + FAR]))
            p = index(order[i + NEARER])
            prefetch(from_lottery, index(from_first[p, 1]))
            prefetch(from_target, index(from_first[p, 2]))
            p = index(order[i + NEAR])
            for k in range(index(from_first[p, 2]), index(from_first[p + ONE, 2])):
                t = index(from_target[k])
                if t < n:
                    prefetch(position, t)
        leads_out, known = False, most
        p = index(order[i])
        to_first[i, 0], to_first[i, 1], to_first[i, 2] = s, a, o
        to_throws[i] = from_throws[p]
        for k in range(index(from_first[p, 0]), index(from_first[p + ONE, 0])):
            to_count[s] = from_count[k]
            s += ONE
        k = index(from_first[p, 2])
        for b in range(index(from_first[p, 1]), index(from_first[p + ONE, 1])):
            number = index(from_lottery[b])
            to_lottery[a] = number
            a += ONE
            for j in range(index(indptr[number]), index(indptr[number + ONE])):
                t = index(from_target[k])
                k += ONE
                if t < n:
                    t = n - ONE - index(position[t])
                elif t >= OVER:
                    t = index(ending[j])
                to_target[o] = t
                o += ONE
                if t < begin or t >= end:
                    leads_out = True
                elif t <= i and n_feedback <= most:
                    known = index(0)
                    while known < n_feedback and feedback[begin + known] != t:
                        known += ONE
                    if known == n_feedback:
                        if known < most:
                            feedback[begin + known] = t
                            reader[begin + known] = i
                            has_way_out[known] = False
                        n_feedback += ONE
        if leads_out and known < most and not has_way_out[known]:
            reader[begin + known] = i
            has_way_out[known] = True  # of those, the one that is solved last
    n_feedback_of[component] = n_feedback
    to_first[n, 0], to_first[n, 1], to_first[n, 2] = s, a, o


def joined(layer: Layer) -> Layer:
    """The same layer in one block."""
    if len(layer.blocks) == 1:
        return layer
    found, blocks = [], [block for _, block in layer.blocks]
    begins = np.zeros(3, np.uint32)
    for block in blocks:  # each counts its situations, actions and outcomes from 0
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
    """Whether no position of a block leads to itself, or to a position of a lower place.

    Parameters
    ----------
    place : int
        That of the first position of the block.
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
