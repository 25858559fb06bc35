"""Strongly connected components of a graph of states.

Tarjan (1972), "Depth-first search and linear graph algorithms", SIAM J. Comput.
1(2), made iterative. Components come out with the last ones of any play first,
and the states of a component in the order in which the search finished them: a
state comes after everything it leads to, unless the two lie on a cycle.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel

CLOSED = np.int32(2**31 - 1)


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
    """
    n = action_indptr.shape[0] - 1
    number = np.zeros(n, np.int32)  # order of discovery from 1, CLOSED when done
    component = np.empty(n, np.int32)
    finished = np.empty(n, np.int32)
    size = np.empty(n, np.int64)
    open_states = np.empty(n, np.int32)
    path = np.empty(n, np.int32)
    path_edge = np.empty(n, np.int64)
    path_low = np.empty(n, np.int32)
    n_finished = 0
    n_open = 0
    n_components = 0
    discovered = 0
    for root in range(n):
        if number[root] != 0:
            continue
        depth = 0
        discovered += 1
        number[root] = discovered
        path[0] = root
        path_low[0] = discovered
        path_edge[0] = outcome_indptr[action_indptr[root]]
        open_states[n_open] = root
        n_open += 1
        while depth >= 0:
            s = path[depth]
            low = path_low[depth]
            edge = path_edge[depth]
            end = outcome_indptr[action_indptr[s + 1]]
            deeper = False
            while edge < end:
                t = outcome_state[edge]
                edge += 1
                if t < 0 or t >= n:
                    continue
                if number[t] == 0:
                    path_low[depth] = low
                    path_edge[depth] = edge
                    depth += 1
                    discovered += 1
                    number[t] = discovered
                    path[depth] = t
                    path_low[depth] = discovered
                    path_edge[depth] = outcome_indptr[action_indptr[t]]
                    open_states[n_open] = t
                    n_open += 1
                    deeper = True
                    break
                if number[t] < low:
                    low = number[t]
            if deeper:
                continue
            finished[n_finished] = s
            n_finished += 1
            if low == number[s]:
                members = 0
                while True:
                    n_open -= 1
                    t = open_states[n_open]
                    number[t] = CLOSED
                    component[t] = n_components
                    members += 1
                    if t == s:
                        break
                size[n_components] = members
                n_components += 1
            depth -= 1
            if depth >= 0 and low < path_low[depth]:
                path_low[depth] = low
    indptr = np.zeros(n_components + 1, np.int64)
    fill = np.empty(n_components, np.int64)
    for c in range(n_components):
        fill[c] = indptr[c]
        indptr[c + 1] = indptr[c] + size[c]
    order = np.empty(n, np.int32)
    for i in range(n):
        s = finished[i]
        c = component[s]
        order[fill[c]] = s
        fill[c] += 1
    return order, indptr
