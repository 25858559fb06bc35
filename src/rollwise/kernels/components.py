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

from rollwise.kernels.jit import kernel
from rollwise.kernels.prefetch import prefetch

SIBLINGS = 6  # outcomes beside the one followed whose memory is asked for


@kernel
def strong_components(action_indptr, outcome_indptr, outcome_state):
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
    n = action_indptr.shape[0] - 1
    # 0 for a state not met; while it is open, from 1, the number of the first state met
    # that it is known to lead back to; then n + 1 + its position.
    number = np.zeros(n, np.int32)
    order = np.empty(n, np.int32)
    indptr = np.empty(n + 1, np.int64)
    indptr[0] = 0
    waiting = np.empty(n, np.int32)
    path = np.empty(n, np.int32)
    path_edge = np.empty(n, np.int64)
    path_number = np.empty(n, np.int32)
    # so that the outcomes of a state are one look-up away
    first_edge = np.empty(n + 1, np.int64)
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
    return order, indptr[: n_components + 1].copy(), number
