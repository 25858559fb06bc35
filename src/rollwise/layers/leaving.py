"""The order in which positions leave a layer. It saves most sweeps of the proof.

A position leaves if, after one of its throws, each action may lead out of the layer or to a
position that leaves. A situation waits for one action at a time, until any target of this
action leaves. Each outcome is therefore read twice at most. (Dowling and Gallier,
"Linear-time algorithms for testing the satisfiability of propositional Horn formulae", Journal of
Logic Programming 1, 1984.) The order is not trusted: `rollwise.proofs.layers` checks it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise.kernels.jit import ONE, index, kernel
from rollwise.layers.layer import Layer

NONE = np.uint32(2**32 - 1)


def leaving_order(layer: Layer) -> NDArray[np.int64]:
    """The places of the positions of a one-block layer that leave it, in this order."""
    ((_, block),) = layer.blocks
    order = np.empty(layer.n, np.int64)
    found: int = find_leaving(layer.n, block, layer.tables, order)
    return order[:found]


@kernel
def find_leaving(n, block, tables, order):
    """Find the positions that leave a layer; returns their number.

    Parameters
    ----------
    n : int
        Positions of the layer.
    order : (n,) int64, filled
    """
    first, throws, count, lottery, target = block
    lists, indptr = tables.lists, tables.indptr
    has_pool = tables.pool.with_face.shape[0] > 0
    n_situations, n_outcomes = count.shape[0], target.shape[0]
    position = np.empty(n_situations, np.uint32)
    action = np.empty(n_situations, np.uint32)  # the first action not known to leave
    outcome = np.empty(n_situations, np.uint32)  # its first outcome
    left = np.empty(n_situations, np.uint32)  # number of actions from this one on
    missing = np.empty(n, np.uint32)  # number of its situations still waiting
    waiting = np.full(n, NONE, np.uint32)  # for each position, the last outcome waiting for it
    before = np.empty(n_outcomes, np.uint32)  # the previous outcome waiting for the same position
    owner = np.empty(n_outcomes, np.uint32)  # of a waiting outcome: its situation
    leaves = np.zeros(n, np.bool_)
    stack = np.empty(n_situations, np.uint32)
    for i in range(n):
        s, a, o = index(first[i, 0]), index(first[i, 1]), index(first[i, 2])
        size = index(lists[throws[i] + ONE]) - index(lists[throws[i]])
        # One throw with a situation that leaves is enough. With a pool the mover chooses among
        # throws, so all situations have to leave.
        missing[i] = size if has_pool else ONE
        for _ in range(size):
            position[s], action[s], outcome[s], left[s] = i, a, o, count[s]
            for _ in range(index(count[s])):
                o += index(indptr[lottery[a] + ONE]) - index(indptr[lottery[a]])
                a += ONE
            s += ONE
    found = 0
    for begin in range(n_situations - 1, -1, -1):
        # The stack has the situations whose first remaining action is to be looked at.
        stack[0] = begin
        height = ONE
        while height > 0:
            height -= ONE
            s = index(stack[height])
            if leaves[position[s]] and not has_pool:
                continue
            waits = False
            while left[s] > 0 and not waits:
                number, o = index(lottery[action[s]]), index(outcome[s])
                size = index(indptr[number + ONE]) - index(indptr[number])
                waits = True
                for k in range(o, o + size):
                    waits = waits and target[k] < n and not leaves[target[k]]
                # No outcome of the action leads out yet. Each one joins the list of its target.
                if waits:
                    for k in range(o, o + size):
                        owner[k], before[k] = s, waiting[target[k]]
                        waiting[target[k]] = k
                else:
                    action[s] += np.uint32(1)
                    outcome[s] += np.uint32(size)
                    left[s] -= np.uint32(1)
            if waits:
                continue
            # Each action of the situation may lead out.
            p = index(position[s])
            missing[p] -= np.uint32(1)
            if missing[p] > 0:
                continue
            leaves[p] = True
            order[found] = p
            found += 1
            k = waiting[p]
            while k != NONE:
                w = index(owner[k])
                if left[w] > 0:  # otherwise its situation has left already
                    number = index(lottery[action[w]])
                    size = index(indptr[number + ONE]) - index(indptr[number])
                    # Outcomes of earlier actions are still in the list, and are passed over.
                    if outcome[w] <= k and k < outcome[w] + size:
                        action[w] += np.uint32(1)
                        outcome[w] += np.uint32(size)
                        left[w] -= np.uint32(1)
                        stack[height] = w
                        height += ONE
                k = before[k]
    return found
