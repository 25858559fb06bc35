"""Strongly connected components of a graph of states.

Tarjan (1972), "Depth-first search and linear graph algorithms", SIAM J. Comput.
1(2), made iterative, with the stack of Pearce (2016), "A space-efficient algorithm
for finding strongly connected components", Inf. Process. Lett. 116(1): it holds the
finished states before the first state of their component. So components come out
in reverse order of play, and the states of a component in the order in which the search
finished them: a state comes after all its successors outside its cycles.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.indices import prefetch
from rollwise.kernels.jit import ONE, index, kernel

SIBLINGS = 6  # prefetched outcomes beside the followed one
NOT_MET = -(2**31)


ROOT, DEPTH, DISCOVERED, WAITING, ORDERED, FOUND = range(6)  # the counters of a walk
N_COUNTERS = 6


class Walk(NamedTuple):
    """A depth-first search that can be continued."""

    first_edge: Any  # (n_states + 1,) uint32 or uint64: the first outcome of each state
    # (n_outcomes,) int32: next states; as unsigned numbers those outside are at least ``n_states``
    outcome_state: Any
    waiting: Any  # (n_states,) uint32: finished, but not the component
    path: Any  # (n_states,) uint32: states on the way from the root
    path_number: Any  # (n_states,) int32: their first numbers
    path_edge: Any  # (n_states,) like `first_edge`: the next of their outcomes
    counters: Any  # (N_COUNTERS,) int64, initially 0


@kernel
def find_components(stop, walk, order, indptr, position):
    """Continue until at least `stop` states have their component; return their components' number.

    Parameters
    ----------
    walk : Walk, changed
    order, indptr : filled
    position : (n_states,) int32, initially NOT_MET
        While a state is open, from ``-n_states``, the number of the earliest state known to be
        reachable from it; then its index in `order`.
    """
    n = order.shape[0]
    # Arrays are unpacked once: the loop would count their references.
    first_edge, outcome_state, waiting, path, path_number, path_edge, counters = walk
    root, depth = index(counters[ROOT]), index(counters[DEPTH])
    discovered, n_waiting = counters[DISCOVERED], index(counters[WAITING])
    n_ordered, n_components = index(counters[ORDERED]), counters[FOUND]
    while n_ordered < index(stop):
        if depth == 0:
            while position[root] != NOT_MET:
                root += ONE
            # Numbers of discovery are negative, so that they differ from indices in `order`.
            position[root] = discovered - n
            path[0] = root
            path_number[0] = discovered - n
            path_edge[0] = first_edge[root]
            depth = ONE
            discovered += 1
        while depth > 0 and n_ordered < index(stop):
            top = depth - ONE
            s = path[top]
            low = position[s]
            edge = index(path_edge[top])
            end = index(first_edge[s + ONE])
            deeper = False
            while edge < end:
                t = np.uint32(outcome_state[edge])
                edge += ONE
                if t >= n:
                    continue
                there = position[t]
                if there == NOT_MET:
                    position[s] = low
                    path_edge[top] = edge
                    position[t] = discovered - n
                    path[depth] = t
                    path_number[depth] = discovered - n
                    path_edge[depth] = first_edge[t]
                    depth += ONE
                    discovered += 1
                    deeper = True
                    # the search will come to these soon, and wait for their memory
                    for e in range(edge, min(edge + index(SIBLINGS), end)):
                        sibling = np.uint32(outcome_state[e])
                        if sibling < n:
                            prefetch(outcome_state, first_edge[sibling])
                    break
                # A state of a complete component has an index in `order`, which is never less.
                if there < low:
                    low = there
            if deeper:
                continue
            position[s] = low
            # An earlier state of the path is reachable from s: the component of s isn't complete.
            if low < path_number[top]:
                waiting[n_waiting] = s
                n_waiting += ONE
            else:
                # s is the first state of its component. The others are the states that wait and
                # reach no state before s; they are the last ones in `waiting`.
                first = n_waiting
                while first > 0 and position[waiting[first - ONE]] >= low:
                    first -= ONE
                for k in range(first, n_waiting):
                    order[n_ordered] = waiting[k]
                    position[waiting[k]] = n_ordered
                    n_ordered += ONE
                order[n_ordered] = s
                position[s] = n_ordered
                n_ordered += ONE
                n_waiting = first
                n_components += 1
                indptr[n_components] = n_ordered
            depth = top
            # The predecessor reaches each state that s reaches.
            if depth > 0 and low < position[path[depth - ONE]]:
                position[path[depth - ONE]] = low
    counters[ROOT], counters[DEPTH], counters[DISCOVERED] = root, depth, discovered
    counters[WAITING], counters[ORDERED], counters[FOUND] = n_waiting, n_ordered, n_components
    return n_components
