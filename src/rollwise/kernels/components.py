"""Strongly connected components of a graph of states.

Tarjan (1972), "Depth-first search and linear graph algorithms", SIAM J. Comput.
1(2), made iterative, with the stack of Pearce (2016), "A space-efficient algorithm
for finding strongly connected components", Inf. Process. Lett. 116(1): it holds the
states that are finished and wait for the first state of their component. So
components come out with the last ones of any play first, and the states of a
component in the order in which the search finished them: a state comes after
everything it leads to, unless the two lie on a cycle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise import large_pages
from rollwise.kernels.jit import kernel
from rollwise.kernels.prefetch import prefetch

SIBLINGS = 6  # outcomes beside the one followed whose memory is asked for


def strong_components(
    action_indptr: NDArray[np.int64],
    outcome_indptr: NDArray[np.int64],
    outcome_state: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """Find the components of a graph given as two stacked CSR levels.

    Parameters
    ----------
    action_indptr : (n_states + 1,) int64
    outcome_indptr : (n_actions + 1,) int64
    outcome_state : (n_outcomes,) int32
        Next states; what is negative or at least ``n_states`` is outside.

    Returns
    -------
    order : (n_states,) int32
        States, component by component.
    indptr : (n_components + 1,) int64
        Component c is ``order[indptr[c]:indptr[c + 1]]``.
    position : (n_states,) int32
        Where each state stands in `order`.
    """
    n = len(action_indptr) - 1
    order, number = large_pages.empty(n, np.int32), large_pages.zeros(n, np.int32)
    indptr = large_pages.empty(n + 1, np.int64)
    n_components = _search(
        action_indptr,
        outcome_indptr,
        outcome_state,
        order,
        indptr,
        number,
        large_pages.empty(n + 1, np.int64),
        large_pages.empty((3, n), np.int32),
        large_pages.empty(n, np.int64),
    )
    return order, indptr[: n_components + 1].copy(), number


@kernel
def _search(
    action_indptr,
    outcome_indptr,
    outcome_state,
    order,
    indptr,
    number,
    first_edge,
    stacks,
    path_edge,
):
    """Depth first; the number of components.

    Parameters
    ----------
    order, indptr : filled
    number : (n_states,) int32
        0 for a state not met; while it is open, from 1, the number of the first state met
        that it is known to lead back to; then ``n_states + 1`` plus its position, and at
        the end the position.
    first_edge : (n_states + 1,) int64, filled
        Where the outcomes of a state begin, so that they are one look-up away.
    stacks : (3, n_states) int32
    path_edge : (n_states,) int64
    """
    n = action_indptr.shape[0] - 1
    indptr[0] = 0
    waiting, path, path_number = stacks[0], stacks[1], stacks[2]
    for s in range(n + 1):
        first_edge[s] = outcome_indptr[action_indptr[s]]
    n_ordered = 0
    n_waiting = 0
    n_components = 0
    discovered = 0
    for root in range(n):
        if number[root] != 0:
            continue
        depth = 0
        discovered += 1
        number[root] = discovered
        path[0] = root
        path_number[0] = discovered
        path_edge[0] = first_edge[root]
        while depth >= 0:
            s = path[depth]
            low = number[s]
            edge = path_edge[depth]
            end = first_edge[s + 1]
            deeper = False
            while edge < end:
                t = outcome_state[edge]
                edge += 1
                if t < 0 or t >= n:
                    continue
                if number[t] == 0:
                    number[s] = low
                    path_edge[depth] = edge
                    depth += 1
                    discovered += 1
                    number[t] = discovered
                    path[depth] = t
                    path_number[depth] = discovered
                    path_edge[depth] = first_edge[t]
                    deeper = True
                    # the search will come to these soon, and wait for their memory
                    for e in range(edge, min(edge + SIBLINGS, end)):
                        sibling = outcome_state[e]
                        if sibling >= 0 and sibling < n:
                            prefetch(outcome_state, first_edge[sibling])
                    break
                if number[t] < low:
                    low = number[t]
            if deeper:
                continue
            number[s] = low
            if low < path_number[depth]:
                waiting[n_waiting] = s
                n_waiting += 1
            else:
                first = n_waiting
                while first > 0 and number[waiting[first - 1]] >= low:
                    first -= 1
                for k in range(first, n_waiting):
                    order[n_ordered] = waiting[k]
                    number[waiting[k]] = n + 1 + n_ordered
                    n_ordered += 1
                order[n_ordered] = s
                number[s] = n + 1 + n_ordered
                n_ordered += 1
                n_waiting = first
                n_components += 1
                indptr[n_components] = n_ordered
            depth -= 1
            if depth >= 0 and low < number[path[depth]]:
                number[path[depth]] = low
    number -= np.int32(n + 1)
    return n_components
