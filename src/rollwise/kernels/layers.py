"""Loops over the layers of a game whose rules measure its progress."""

from __future__ import annotations

import numpy as np

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
def pack_rows(states, layer, low, shift, keys):
    """The fields of each state in one number, its layer above all: (n_states,) uint64, filled.

    Parameters
    ----------
    states : (n_states, n_fields) int32
    layer : (n_states,) int64
        From 0.
    low : (n_fields,) int64
        The smallest value of each field.
    shift : (n_fields + 1,) uint64
        How far each field is shifted to the left, and the layer.
    keys : (n_states,) uint64, filled
    """
    n_fields = states.shape[1]
    for s in range(states.shape[0]):
        key = np.uint64(layer[s]) << shift[n_fields]
        for k in range(n_fields):
            key |= np.uint64(states[s, k] - low[k]) << shift[k]
        keys[s] = key


@kernel
def unpack_rows(keys, low, shift, mask, indptr, states):
    """The states of keys in their order, and where each layer begins: see `pack_rows`.

    Parameters
    ----------
    mask : (n_fields,) uint64
        The bits of each field.
    indptr : (n_layers + 1,) int64, filled
    states : (at least n_states, n_fields) int32, filled
    """
    n_fields = states.shape[1]
    indptr[:] = 0
    for s in range(keys.shape[0]):
        indptr[np.int64(keys[s] >> shift[n_fields]) + 1] += 1
        for k in range(n_fields):
            states[s, k] = np.int64((keys[s] >> shift[k]) & mask[k]) + low[k]
    for i in range(indptr.shape[0] - 1):
        indptr[i + 1] += indptr[i]


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
