"""Loops over the layers of a game whose rules measure its progress."""

from __future__ import annotations

from rollwise.kernels.jit import kernel


@kernel
def sort_by_layer(states, layer, indptr, in_layers):
    """Put states in the order of their layers, each in the order in which it stands.

    Parameters
    ----------
    states : (n_states, n_fields) int32
    layer : (n_states,) int64
        From 0.
    indptr : (n_layers + 1,) int64, filled
        Layer i is ``in_layers[indptr[i]:indptr[i + 1]]``.
    in_layers : (at least n_states, n_fields) int32, filled
    """
    indptr[:] = 0
    for s in range(states.shape[0]):
        indptr[layer[s] + 1] += 1
    for i in range(indptr.shape[0] - 1):
        indptr[i + 1] += indptr[i]
    free = indptr[:-1].copy()
    for s in range(states.shape[0]):
        place = free[layer[s]]
        free[layer[s]] += 1
        for k in range(states.shape[1]):
            in_layers[place, k] = states[s, k]


@kernel
def number_in_layer(outcome_state, least, begin, end, number, border):
    """Number what a layer leads to from its own first state.

    Parameters
    ----------
    outcome_state : (n_outcomes,) int32, changed
        Numbers in the whole game; on return, those within the layer, and behind
        them those of the border.
    least : int
        The first state of the layer; lower ones are of earlier layers.
    begin, end : int
        Its states that are numbered: all, or those behind some that are known.
    number : (n_states,) int32
        Scratch, -1 everywhere, and left so.
    border : (n_outcomes,) int32, filled
        The states on the border.

    Returns
    -------
    n_border : int
    back : int
        The first outcome that leads to an earlier layer, or -1.
    """
    n_border = 0
    back = -1
    for k in range(outcome_state.shape[0]):
        t = outcome_state[k]
        if t < 0:
            continue
        if t < least:
            back = k
            break
        if begin <= t < end:
            outcome_state[k] = t - begin
            continue
        if number[t] < 0:
            number[t] = n_border
            border[n_border] = t
            n_border += 1
        outcome_state[k] = end - begin + number[t]
    for i in range(n_border):
        number[border[i]] = -1
    return n_border, back
