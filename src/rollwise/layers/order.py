"""Solving order: the strongly connected components of a layer, the first to be solved last.

A layer is swept from its last position to its first. In solving order a sweep meets the targets of
a position before the position, wherever cycles allow. (Tarjan, "Depth-first search and linear graph
algorithms", SIAM Journal on Computing 1, 1972.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rollwise.kernels import components as kernels
from rollwise.kernels.jit import ONE, index, kernel
from rollwise.layers.layer import MOST_FEEDBACK, Block, Components, Layer, block_of


def in_solving_order(layer: Layer) -> Layer:
    """The same layer in solving order, as one block, with its components."""
    layer = joined(layer)
    (_, block), n = layer.blocks[0], layer.n
    order = np.empty(n, np.int32)
    indptr = np.zeros(n + 1, np.int64)
    position = np.full(n, kernels.NOT_MET, np.int32)
    walk = kernels.Walk(
        outcome_state=block.target.view(np.int32),
        first_edge=np.ascontiguousarray(block.first[:, 2]),
        waiting=np.empty(n, np.uint32),
        path=np.empty(n, np.uint32),
        path_number=np.empty(n, np.int32),
        path_edge=np.empty(n, np.uint32),
        counters=np.zeros(kernels.COUNTERS, np.int64),
    )
    found = kernels.find_components(n, walk, order, indptr, position)
    del walk
    place = n - 1 - position
    order = order[::-1].copy()
    moved = Block(
        np.empty_like(block.first),
        *(np.empty(len(part), part.dtype) for part in block[1:]),
    )
    parts = Components(
        indptr[: found + 1].copy(),
        np.zeros(found, np.uint8),
        np.empty(n, np.uint32),
        np.empty(n, np.uint32),
    )
    move(order, place, block, moved, parts)
    return replace(layer, blocks=[(0, moved)], parts=parts, order=order)


@kernel
def move(order, place, block, moved, parts):
    """Write the positions of a block in solving order, and find the feedback sets.

    Parameters
    ----------
    order : (n,) int32
        The position at each new place.
    place : (n,) int32
        The new place of each position.
    moved : Block, filled
    parts : Components, filled
    """
    n = index(order.shape[0])
    feedback, reader, most = parts.feedback, parts.reader, index(MOST_FEEDBACK)
    component = index(parts.n_feedback.shape[0])
    begin, end, n_feedback = index(0), index(0), index(0)
    s, a, o = index(0), index(0), index(0)
    to_first, to_throws, to_count, to_lottery, to_target = moved
    for i in range(n):
        if i == end:  # the first position of another component
            if end > 0:
                parts.n_feedback[component] = n_feedback
            component -= ONE
            begin, end = end, n - index(parts.ends[component])
            n_feedback = index(0)
        leads_out, known = False, most
        p = index(order[i])
        to_first[i, 0], to_first[i, 1], to_first[i, 2] = s, a, o
        to_throws[i] = block.throws[p]
        for k in range(index(block.first[p, 0]), index(block.first[p + ONE, 0])):
            to_count[s] = block.count[k]
            s += ONE
        for k in range(index(block.first[p, 1]), index(block.first[p + ONE, 1])):
            to_lottery[a] = block.lottery[k]
            a += ONE
        for k in range(index(block.first[p, 2]), index(block.first[p + ONE, 2])):
            t = index(block.target[k])
            t = index(place[t]) if t < n else t
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
                    n_feedback += ONE
        if leads_out and known < most:
            reader[begin + known] = i
    parts.n_feedback[component] = n_feedback
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
